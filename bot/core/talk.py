"""What people say in the thread of a session, and the change they may ask for while tasks run."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from bot.core.facts import Fact, MutableModel
from bot.core.intent import Question
from bot.core.llm import Usage
from bot.core.people import Person, Verbosity
from bot.core.plan import Analysis, Document
from bot.core.spec_kit.drafts import TaskDraft

# What users write while a session is under way: messages that wait for the model's judgement, and the change they may
# ask for.


class Words(Fact):
    """A message that only the model can judge."""

    id: str
    by: Person
    at: AwareDatetime
    text: str
    mention: bool = False
    """The bot was mentioned: such messages are judged first."""
    may_stop: bool = True
    """Whether its author may end agents."""


class WordKind(StrEnum):
    TALK = "talk"
    """Nothing is asked of the bot."""
    QUESTION = "question"
    CHANGE = "change"


class Affected(Fact):
    """A task that a change touches."""

    task_id: str
    why: str


class ChangeStage(StrEnum):
    JUDGING = "judging"
    """The model judges which tasks it touches."""
    DRAFTING = "drafting"
    ANALYSING = "analysing"
    AWAITING = "awaiting"
    """Its difference is shown; a person has to confirm it."""


class Change(Fact):
    """A change of the plan while tasks run. The phase stays: tasks that the change does not touch go on."""

    id: str
    text: str
    by: Person
    at: AwareDatetime
    may_stop: bool = True
    """Whether the affected tasks are held at once. If not, they are held only when an approver confirms the change."""
    stage: ChangeStage = ChangeStage.JUDGING
    revision: int
    """The revision it leads to."""
    reason: str = ""
    affected: tuple[Affected, ...] = ()
    decision: Question | None = None
    """The decision it changes, with the new answer. The old answer holds until the change is confirmed."""
    held: tuple[str, ...] = ()
    """Ids of the tasks that are on hold for it."""
    documents: tuple[Document, ...] = ()
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 2
    score: int | None = None
    """The quality of its tasks, 0 to 100."""
    analysis: Analysis | None = None
    repairs: int = 0
    """How often it was rewritten because of critical findings."""
    shown_at: AwareDatetime | None = None


# The people in a thread: when each wrote last, and their feedback on the result.


class Spoken(Fact):
    """When somebody wrote last, and the usage up to then."""

    at: AwareDatetime
    usage: Usage = Usage()


class Feedback(Fact):
    """Whether somebody found the result helpful."""

    by: str
    """The person's full id."""
    helpful: bool
    at: AwareDatetime


class SessionTalk(MutableModel):
    """What people say in the thread while the session works."""

    waiting: tuple[Words, ...] = ()
    """What the model has not judged yet, in the order in which it came."""
    overheard: tuple[Words, ...] = ()
    """The last of what others said in the thread: context for the model."""
    last_spoken: dict[str, Spoken] = Field(default_factory=dict[str, Spoken])
    """By full id: when each person said or pressed something last."""
    feedback: tuple[Feedback, ...] = ()
    verbosity: Verbosity = Verbosity.NORMAL
    """How much the bot says in the thread."""
    summaries: int = 0
    """How often old messages of the conversation were summarised."""

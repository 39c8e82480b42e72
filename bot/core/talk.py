"""What people say in the thread of a session, and the change they may ask for while tasks run."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime, Field

from bot.core.facts import Fact, Living
from bot.core.intent import Question
from bot.core.llm import Usage
from bot.core.people import Person, Verbosity
from bot.core.plan import Analysis, Document
from bot.core.spec_kit.drafts import TaskDraft

# What people say while a session is under way: words that wait to be judged by the model, and the
# change they may ask for.


class Words(Fact):
    """Something a person said that only the model can judge."""

    id: str
    by: Person
    at: AwareDatetime
    text: str
    mention: bool = False
    """The bot was named: it is looked at before what others merely wrote."""
    may_stop: bool = True
    """Whether this one may end agents."""


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
    """Which tasks does it touch?"""
    DRAFTING = "drafting"
    ANALYSING = "analysing"
    AWAITING = "awaiting"
    """Its difference is shown; a person has to confirm it."""


class Change(Fact):
    """A change of mind while tasks run. It stands beside the phase: what it does not touch goes on."""

    id: str
    text: str
    by: Person
    at: AwareDatetime
    may_stop: bool = True
    """Whether what it touches is held at once; else only when somebody who may approve confirms it."""
    stage: ChangeStage = ChangeStage.JUDGING
    revision: int
    """The one it leads to."""
    reason: str = ""
    affected: tuple[Affected, ...] = ()
    decision: Question | None = None
    """The decision it takes anew, as it will be. Until the change is confirmed the old one holds."""
    held: tuple[str, ...] = ()
    """Ids of the tasks that were held for it."""
    documents: tuple[Document, ...] = ()
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 2
    score: int | None = None
    """Of its tasks, of 100."""
    analysis: Analysis | None = None
    repairs: int = 0
    """How often it was written anew because of critical findings."""
    shown_at: AwareDatetime | None = None


# People who read along in a thread: when they spoke last, and what they thought of the result.


class Spoken(Fact):
    """When somebody spoke last, and what had been used up by then."""

    at: AwareDatetime
    usage: Usage = Usage()


class Feedback(Fact):
    """Whether somebody found the result helpful."""

    by: str
    """The full id."""
    helpful: bool
    at: AwareDatetime


class SessionTalk(Living):
    """What people say in the thread besides."""

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

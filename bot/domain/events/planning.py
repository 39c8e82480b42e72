"""What came of understanding a request, planning it, and judging what people say."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.domain.documents import Document
from bot.domain.events.happening import Result
from bot.domain.evidence import TaskLimits
from bot.domain.facts import Fact
from bot.domain.hosting import Hosted
from bot.domain.intent import Question, Risk, Vague
from bot.domain.parts import Earlier
from bot.domain.people import Thread
from bot.domain.planned import Analysis, Forecast, Policy
from bot.domain.spec_kit import TaskDraft
from bot.domain.tasks import PullText, Workspace
from bot.domain.words import Affected, WordKind
from bot.domain.world import AgentReady, Base, Scan


class Surveyed(Result):
    kind: Literal["surveyed"] = "surveyed"
    base: Base
    agent: AgentReady
    agent_flags: str = ""
    context_window: int = 0
    most_at_once: int = 10
    limits: TaskLimits = TaskLimits()
    hosted: Hosted | None = None
    unattended: bool = False
    brought: tuple[str, ...] = ()
    """What the repository has agents do."""
    sandboxed: bool = False
    user: str = ""
    """As whom agents run."""
    other_agents: dict[str, str] = Field(default_factory=dict[str, str])
    """Those that are ready besides, with their flags."""


class Scanned(Result):
    kind: Literal["scanned"] = "scanned"
    scan: Scan


class WishPart(Fact):
    """A part of a wish that is too large for one plan."""

    title: str
    body: str


class QuestionsFound(Result):
    """The request was read: what it is, and what must be settled before it is planned."""

    kind: Literal["questions_found"] = "questions_found"
    title: str
    type: str
    risk: Risk | None = None
    risk_reasons: tuple[str, ...] = ()
    questions: tuple[Question, ...]
    vague: Vague | None = None
    dry_run: bool = False
    parts: tuple[WishPart, ...] = ()
    """It is too large for one plan; these are not."""
    earlier: Earlier | None = None


class AnswersRead(Result):
    """What somebody's words answer."""

    kind: Literal["answers_read"] = "answers_read"
    words_id: str
    found: dict[int, str]
    """By the number of the question."""
    defaults: bool = False
    """The rest takes its defaults."""
    unclear: tuple[int, ...] = ()


class DocumentWritten(Result):
    kind: Literal["document_written"] = "document_written"
    document: Document
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 2
    score: int | None = None
    """How good the tasks are, of 100; none: nobody could judge it."""


class PlanAnalysed(Result):
    kind: Literal["plan_analysed"] = "plan_analysed"
    revision: int
    analysis: Analysis
    forecast: Forecast = Forecast()
    policy: Policy = Policy()
    test_problem: str = ""
    """Why the command that runs the tests will not work here, as far as is seen without running it."""


class BaseSeen(Result):
    """Where the base branch stands now."""

    kind: Literal["base_seen"] = "base_seen"
    base: Base
    brought: tuple[str, ...] = ()
    commits: int = 0
    """How many came since the commit the plan was made for."""
    files: tuple[str, ...] = ()
    """What they changed."""
    scan: Scan | None = None
    """Of the new commit, where it is another one."""


class WordsJudged(Result):
    kind: Literal["words_judged"] = "words_judged"
    words_id: str
    what: WordKind
    reply: str = ""
    """The answer to a question."""
    reason: str = ""


class ImpactJudged(Result):
    """Which tasks a change touches; the others never notice."""

    kind: Literal["impact_judged"] = "impact_judged"
    change_id: str
    affected: tuple[Affected, ...]
    reason: str = ""


class ContinuationJudged(Result):
    """Is what was said after the end more of the same, something new, or nothing to be done?"""

    kind: Literal["continuation_judged"] = "continuation_judged"
    words_id: str
    what: Literal["continue", "new", "talk"]
    reason: str = ""
    reply: str = ""


class StepChosen(Result):
    kind: Literal["step_chosen"] = "step_chosen"
    step_id: str
    option: str
    """Empty: the model gave no usable answer."""
    reason: str = ""


class SessionOpened(Result):
    """A part of this session's wish has a session of its own."""

    kind: Literal["session_opened"] = "session_opened"
    session: str
    thread: Thread


class PassedOn(Result):
    """The request was given to an earlier session."""

    kind: Literal["passed_on"] = "passed_on"
    session: str


class TalkSummarised(Result):
    kind: Literal["talk_summarised"] = "talk_summarised"
    summary: str
    messages: int
    """How many of the oldest it stands for."""


class WorkDescribed(Result):
    """Title and body for a pull request, from the diff."""

    kind: Literal["work_described"] = "work_described"
    task_id: str
    text: PullText


class DocumentsCommitted(Result):
    kind: Literal["documents_committed"] = "documents_committed"
    workspace: Workspace
    commit: str

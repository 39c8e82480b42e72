"""Every card that can be shown: what a message means, not how it looks (that is in `bot.core.layout`).

A card's key identifies it in the thread: showing a card with the same key again edits the message.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from bot.core.choices import Choice
from bot.core.evidence import ExecutionResult, Verdict
from bot.core.facts import Fact
from bot.core.intent import Question
from bot.core.llm import Usage
from bot.core.people import Thread
from bot.core.plan import Analysis, Difference, DocumentKind, Forecast
from bot.core.runs import AgentUsage
from bot.core.sheets import Element, Entry, Tone

# What every card has.


class CardBase(Fact):
    key: str


class CardDecision(Fact):
    """The outcome of a card's buttons: what was chosen."""

    what: str
    by: str
    at: AwareDatetime


# Cards that wait for a person.


class QuestionsCard(CardBase):
    kind: Literal["questions"] = "questions"
    questions: tuple[Question, ...]
    while_planning: bool = False
    """They were found while the plan was written; the earlier ones are answered."""
    decided: CardDecision | None = None


class PlannedTask(Fact):
    key: str
    name: str
    after: tuple[str, ...] = ()
    agent: str = ""
    done: bool = False
    """Done in an earlier round; it stays as it is."""


class ApprovalCard(CardBase):
    kind: Literal["approval"] = "approval"
    spec_id: str
    revision: int
    digest: str
    offer: str = ""
    """What its buttons refer to: the offer, see bot.core.approval."""
    base: str
    tasks: tuple[PlannedTask, ...]
    parallelism: int
    agent_flags: str = ""
    test_command: str = ""
    test_source: str = ""
    test_problem: str = ""
    """Why the test command will not work here."""
    set_up: str = ""
    """The command that is run first in each new worktree."""
    test_unseen: str = ""
    """A warning that only the exit code of the tests can be seen."""
    usage: Usage
    read: int = 0
    """How many files of the repository the model has read."""
    risk: str = ""
    risk_reasons: tuple[str, ...] = ()
    brought: tuple[str, ...] = ()
    """What the repository's own configuration makes agents do, before anybody has reviewed it."""
    analysis: Analysis | None = None
    forecast: Forecast | None = None
    difference: Difference | None = None
    """What this revision changes; `None` for the first revision."""
    dry_run: bool = False
    """Only the plan was asked for: its button says «Run it»."""
    kept: str = ""
    """Where the spec lies if only a spec was asked for; then the card waits for nobody."""
    approvers: int = 1
    asker: str = ""
    """The requester, if their own approval does not count."""
    approved_by: tuple[str, ...] = ()
    """Those who have approved already, if more approvals are needed."""
    change: str = ""
    """For a change while tasks run: what was asked for."""
    stops: tuple[str, ...] = ()
    """The tasks that the change stops, and why, one line each."""
    held: bool = True
    """Whether those tasks are on hold already; otherwise they go on until the change is confirmed."""
    goes_on: tuple[str, ...] = ()
    """The tasks that the change does not affect."""
    edits_only: bool = False
    """The change only edits existing tasks: one button confirms it."""
    expires: AwareDatetime | None = None
    decided: CardDecision | None = None


class WherePart(Fact):
    title: str
    body: str
    thread: Thread | None = None
    """The thread of this part; `None` if it is not opened yet."""


class PartsCard(CardBase):
    """The request is too large for one plan; this card lists its parts."""

    kind: Literal["parts"] = "parts"
    parts: tuple[WherePart, ...]
    decided: CardDecision | None = None


class EarlierCard(CardBase):
    """The request seems to continue a finished session."""

    kind: Literal["earlier"] = "earlier"
    session: str
    title: str
    reason: str
    decided: CardDecision | None = None


class NeedsYouCard(CardBase):
    """A problem that only a person can decide."""

    kind: Literal["needs_you"] = "needs_you"
    title: str
    reason: str
    output: str = ""
    affected: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    decided: CardDecision | None = None


class OfferCard(CardBase):
    """All tasks are done and no GitHub is configured: asks what to do with the branches."""

    kind: Literal["offer"] = "offer"
    base: str
    branches: tuple[str, ...]
    problem: str = ""
    """Why the last attempt failed."""
    decided: CardDecision | None = None


class PullLine(Fact):
    task: str
    number: int
    url: str = ""
    title: str
    state: str
    problem: str = ""
    """Why the last attempt to merge failed."""


class PullsCard(CardBase):
    """The pull requests of a session: one message, edited in place."""

    kind: Literal["pulls"] = "pulls"
    base: str
    repository: str
    pulls: tuple[PullLine, ...]
    choices: tuple[Choice, ...] = ()
    decided: CardDecision | None = None


class StoppedCard(CardBase):
    kind: Literal["stopped"] = "stopped"
    by: str
    reason: str = ""
    """Why the bot stopped by itself."""
    stopped_runs: int
    survivors: tuple[int, ...] = ()
    session: str
    decided: CardDecision | None = None


# Cards that report the state.


class ReceivedCard(CardBase):
    """The request was received; says where the work will happen."""

    kind: Literal["received"] = "received"
    session: str
    request: str
    repository: str = ""
    branch: str = ""
    commit: str = ""
    uncommitted: int = 0
    agent: str = ""
    sandboxed: bool = False
    user: str = ""
    """The user account that agents run as."""
    notes: tuple[str, ...] = ()


class RootCard(CardBase):
    """The root message of a session that the bot opened itself."""

    kind: Literal["root"] = "root"
    session: str
    title: str
    request: str
    by: str
    origin: Thread | None = None
    """The thread in which the session was asked for."""
    origin_title: str = ""


class DocumentCard(CardBase):
    """One of the three documents, a task's report, or a long request, in full."""

    kind: Literal["document"] = "document"
    document: DocumentKind | None = None
    """`None` for a report or a request."""
    spec_id: str = ""
    revision: int = 0
    title: str = ""
    """The title of a report."""
    name: str = ""
    """The file name of a report."""
    text: str

    @property
    def file(self) -> str:
        return self.document.file if self.document else self.name

    @property
    def heading(self) -> str:
        return f"{self.file} · revision {self.revision}" if self.document else self.title


class TaskLine(Fact):
    key: str
    name: str
    state: str
    note: str = ""
    seconds: int | None = None
    tail: str = ""


class StatusCard(CardBase):
    """The current state. One live message, edited in place."""

    kind: Literal["status"] = "status"
    anew: bool = False
    """Post it anew at the end of the thread, even if nobody has written since."""
    title: str
    session: str
    status: str
    phase: str
    queue_position: int | None = None
    waiting: int = 0
    tasks: tuple[TaskLine, ...] = ()
    usage: Usage
    agent_usage: AgentUsage = AgentUsage()
    """The usage that the agents report themselves."""
    trouble: str = ""
    at: AwareDatetime
    choices: tuple[Choice, ...] = ()


class NewsCard(CardBase):
    """News that people want to know but need not act on."""

    kind: Literal["news"] = "news"
    title: str
    tone: Tone = Tone.PROGRESS
    lines: tuple[str, ...] = ()
    output: str = ""


class CheckLine(Fact):
    task: str
    command: str
    commit: str
    result: str
    tries: int


class SummaryCard(CardBase):
    """How the session ended, with evidence."""

    kind: Literal["summary"] = "summary"
    title: str
    result: ExecutionResult
    tasks: tuple[TaskLine, ...]
    checks: tuple[CheckLine, ...]
    evidence: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()
    """Limits that tasks have exceeded."""
    guesses: tuple[str, ...] = ()
    """Words in agents' reports that hint at guessing."""
    merged: str = ""
    kept: tuple[str, ...] = ()
    """What is left, and why."""
    usage: Usage
    agent_runs: int
    agent_usage: AgentUsage = AgentUsage()
    seconds: int
    pulls: tuple[str, ...] = ()
    """The pull requests, each with its outcome."""
    verdict: Verdict | None = None
    """The verdict on the whole session."""
    proposed: tuple[str, ...] = ()
    """Proposed tasks for what is missing."""
    choices: tuple[Choice, ...] = ()
    decided: CardDecision | None = None


class ProblemCard(CardBase):
    """A problem outside the bot, and what to do about it."""

    kind: Literal["problem"] = "problem"
    title: str
    reason: str
    remedy: str = ""
    retrying: bool = False
    """The bot keeps retrying by itself."""
    over: bool = False
    choices: tuple[Choice, ...] = ()


class AnswerCard(CardBase):
    """The answer to a command, or a private message."""

    kind: Literal["answer"] = "answer"
    title: str
    tone: Tone = Tone.PLAIN
    body: tuple[Element, ...] = ()
    choices: tuple[Choice, ...] = ()


# The home page: an overview of everything, starting with what waits for the person.


class HomeCard(CardBase):
    """The bot's home page for one person. The platform decides where it is shown."""

    kind: Literal["home"] = "home"
    health: tuple[tuple[str, str], ...] = ()
    """What works and what does not, each with a remedy."""
    waiting: tuple[Entry, ...] = ()
    """What waits for a person."""
    running: tuple[Entry, ...] = ()
    recent: tuple[Entry, ...] = ()
    branches: tuple[str, ...] = ()
    """Branches that the bot made and that still exist."""
    settings: tuple[tuple[str, str], ...] = ()
    choices: tuple[Choice, ...] = ()
    at: AwareDatetime


# The union of all cards, distinguished by `kind`.

Card = Annotated[
    ReceivedCard
    | QuestionsCard
    | DocumentCard
    | ApprovalCard
    | PartsCard
    | EarlierCard
    | RootCard
    | StatusCard
    | NewsCard
    | NeedsYouCard
    | OfferCard
    | PullsCard
    | StoppedCard
    | SummaryCard
    | ProblemCard
    | AnswerCard
    | HomeCard,
    Field(discriminator="kind"),
]

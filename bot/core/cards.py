"""Everything that can be shown: what a message means, not how it looks. `bot.core.layout` says what stands on it.

A card's key is its identity in the thread: shown again under the same key it is edited where it stands.
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


class Shown(Fact):
    key: str


class Decided(Fact):
    """What became of a card's buttons."""

    what: str
    by: str
    at: AwareDatetime


# Cards that wait for a person.


class QuestionsCard(Shown):
    kind: Literal["questions"] = "questions"
    questions: tuple[Question, ...]
    decided: Decided | None = None


class PlannedTask(Fact):
    key: str
    name: str
    after: tuple[str, ...] = ()
    agent: str = ""
    done: bool = False
    """In an earlier round; it stays as it is."""


class ApprovalCard(Shown):
    kind: Literal["approval"] = "approval"
    spec_id: str
    revision: int
    digest: str
    offer: str = ""
    """What its buttons are about."""
    base: str
    tasks: tuple[PlannedTask, ...]
    parallelism: int
    agent_flags: str = ""
    test_command: str = ""
    test_source: str = ""
    test_problem: str = ""
    """Why that will not work here."""
    set_up: str = ""
    """What is run in each new worktree first."""
    test_unseen: str = ""
    """That only its exit code can be seen."""
    usage: Usage
    risk: str = ""
    risk_reasons: tuple[str, ...] = ()
    brought: tuple[str, ...] = ()
    """What the repository has its agents do, before anybody has looked at it."""
    analysis: Analysis | None = None
    forecast: Forecast | None = None
    difference: Difference | None = None
    """What this revision changes; none: it is the first."""
    dry_run: bool = False
    """Only the plan was asked for: its button says «Run it»."""
    kept: str = ""
    """Only a spec was wanted, and this is where it lies: nobody is waited for."""
    approvers: int = 1
    asker: str = ""
    """Who asked for it, where their own yes does not count."""
    approved_by: tuple[str, ...] = ()
    """Who has approved already, while more people must."""
    change: str = ""
    """It is a change while tasks run: what was asked for."""
    stops: tuple[str, ...] = ()
    """Of such a change: the tasks it holds, and why, a line each."""
    held: bool = True
    """Whether those are held already; else they go on until it is confirmed."""
    goes_on: tuple[str, ...] = ()
    """And those that never notice."""
    edits_only: bool = False
    """It edits existing tasks and nothing else: one button confirms it."""
    expires: AwareDatetime | None = None
    decided: Decided | None = None


class WherePart(Fact):
    title: str
    body: str
    thread: Thread | None = None
    """Where it is; none: it is not opened yet."""


class PartsCard(Shown):
    """The wish is too large for one plan: these are its parts."""

    kind: Literal["parts"] = "parts"
    parts: tuple[WherePart, ...]
    decided: Decided | None = None


class EarlierCard(Shown):
    """The request seems to go on with a finished session."""

    kind: Literal["earlier"] = "earlier"
    session: str
    title: str
    reason: str
    decided: Decided | None = None


class NeedsYouCard(Shown):
    """Only a person can decide this."""

    kind: Literal["needs_you"] = "needs_you"
    title: str
    reason: str
    output: str = ""
    affected: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    decided: Decided | None = None


class OfferCard(Shown):
    """All tasks are done and no GitHub is configured: what shall become of the work?"""

    kind: Literal["offer"] = "offer"
    base: str
    branches: tuple[str, ...]
    problem: str = ""
    """Why the last try did not work."""
    decided: Decided | None = None


class PullLine(Fact):
    task: str
    number: int
    url: str = ""
    title: str
    state: str
    problem: str = ""
    """Why the last try to merge it did not work."""


class PullsCard(Shown):
    """The pull requests of a session: one message, edited in place."""

    kind: Literal["pulls"] = "pulls"
    base: str
    repository: str
    pulls: tuple[PullLine, ...]
    choices: tuple[Choice, ...] = ()
    decided: Decided | None = None


class StoppedCard(Shown):
    kind: Literal["stopped"] = "stopped"
    by: str
    reason: str = ""
    """Why the bot has stopped by itself."""
    stopped_runs: int
    survivors: tuple[int, ...] = ()
    session: str
    decided: Decided | None = None


# Cards that tell how things stand.


class ReceivedCard(Shown):
    """It was heard; this is where the work will happen."""

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
    """As whom agents run."""
    notes: tuple[str, ...] = ()


class RootCard(Shown):
    """The root message of a session that the bot opened itself."""

    kind: Literal["root"] = "root"
    session: str
    title: str
    request: str
    by: str
    origin: Thread | None = None
    """Where it comes from."""
    origin_title: str = ""


class DocumentCard(Shown):
    """One of the three documents, the report of a task, or a long request, in full."""

    kind: Literal["document"] = "document"
    document: DocumentKind | None = None
    """None: it is a report."""
    spec_id: str = ""
    revision: int = 0
    title: str = ""
    """Of a report."""
    name: str = ""
    """The file that a report comes as."""
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


class StatusCard(Shown):
    """How things stand. One live message, edited in place."""

    kind: Literal["status"] = "status"
    anew: bool = False
    """It is to come to the end of its thread, also where nobody has talked since."""
    title: str
    session: str
    status: str
    phase: str
    queue_position: int | None = None
    waiting: int = 0
    tasks: tuple[TaskLine, ...] = ()
    usage: Usage
    agent_usage: AgentUsage = AgentUsage()
    """What the agents say they have used themselves."""
    trouble: str = ""
    at: AwareDatetime
    choices: tuple[Choice, ...] = ()


class NewsCard(Shown):
    """Something happened that people want to know, but need not act upon."""

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


class SummaryCard(Shown):
    """How it ended, with evidence."""

    kind: Literal["summary"] = "summary"
    title: str
    result: ExecutionResult
    tasks: tuple[TaskLine, ...]
    checks: tuple[CheckLine, ...]
    evidence: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()
    """Limits that tasks have gone beyond."""
    guesses: tuple[str, ...] = ()
    """Guessing words in what agents report."""
    merged: str = ""
    kept: tuple[str, ...] = ()
    """What is left, and why."""
    usage: Usage
    agent_runs: int
    agent_usage: AgentUsage = AgentUsage()
    seconds: int
    pulls: tuple[str, ...] = ()
    """Each with what became of it."""
    verdict: Verdict | None = None
    """On the whole."""
    proposed: tuple[str, ...] = ()
    """Tasks for what is missing."""
    choices: tuple[Choice, ...] = ()
    decided: Decided | None = None


class ProblemCard(Shown):
    """Something is wrong outside; what it is and what to do about it."""

    kind: Literal["problem"] = "problem"
    title: str
    reason: str
    remedy: str = ""
    retrying: bool = False
    """The bot goes on trying by itself."""
    over: bool = False
    choices: tuple[Choice, ...] = ()


class AnswerCard(Shown):
    """The answer to a command, or a word in private."""

    kind: Literal["answer"] = "answer"
    title: str
    tone: Tone = Tone.PLAIN
    body: tuple[Element, ...] = ()
    choices: tuple[Choice, ...] = ()


# The home page: everything at once, what waits for the person first.


class HomeCard(Shown):
    """The bot's own page, for one person. Only its platform decides where it stands."""

    kind: Literal["home"] = "home"
    health: tuple[tuple[str, str], ...] = ()
    """What works and what does not, each with its remedy."""
    waiting: tuple[Entry, ...] = ()
    """What waits for a person."""
    running: tuple[Entry, ...] = ()
    recent: tuple[Entry, ...] = ()
    branches: tuple[str, ...] = ()
    """That the bot has made and that are still there."""
    settings: tuple[tuple[str, str], ...] = ()
    choices: tuple[Choice, ...] = ()
    at: AwareDatetime


# Every card, told apart by its `kind`.

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

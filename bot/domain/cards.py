"""Everything that can be shown: what a message means, not how it looks. `layout` says what stands on it.

A card's key is its identity in the thread: shown again under the same key it is edited where it stands.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from bot.domain.choices import Choice
from bot.domain.evidence import ExecutionResult
from bot.domain.facts import Fact
from bot.domain.intent import Question
from bot.domain.session import DocumentKind
from bot.domain.sheets import Element, Tone
from bot.domain.world import Usage


class Shown(Fact):
    key: str


class Decided(Fact):
    """What became of a card's buttons."""

    what: str
    by: str
    at: AwareDatetime


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
    notes: tuple[str, ...] = ()


class QuestionsCard(Shown):
    kind: Literal["questions"] = "questions"
    questions: tuple[Question, ...]
    decided: Decided | None = None


class DocumentCard(Shown):
    """One of the three documents, in full."""

    kind: Literal["document"] = "document"
    document: DocumentKind
    spec_id: str
    revision: int
    text: str


class PlannedTask(Fact):
    key: str
    name: str
    after: tuple[str, ...] = ()
    agent: str = ""


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
    usage: Usage
    expires: AwareDatetime | None = None
    decided: Decided | None = None


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
    title: str
    session: str
    status: str
    phase: str
    queue_position: int | None = None
    waiting: int = 0
    tasks: tuple[TaskLine, ...] = ()
    usage: Usage
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


class StoppedCard(Shown):
    kind: Literal["stopped"] = "stopped"
    by: str
    stopped_runs: int
    survivors: tuple[int, ...] = ()
    session: str
    decided: Decided | None = None


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
    merged: str = ""
    kept: tuple[str, ...] = ()
    """What is left, and why."""
    usage: Usage
    agent_runs: int
    seconds: int


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


Card = Annotated[
    ReceivedCard
    | QuestionsCard
    | DocumentCard
    | ApprovalCard
    | StatusCard
    | NewsCard
    | NeedsYouCard
    | OfferCard
    | StoppedCard
    | SummaryCard
    | ProblemCard
    | AnswerCard,
    Field(discriminator="kind"),
]

"""Cards that tell how things stand."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from bot.domain.cards.shown import Decided, Shown
from bot.domain.choices import Choice
from bot.domain.documents import DocumentKind
from bot.domain.evidence import ExecutionResult, Verdict
from bot.domain.facts import Fact
from bot.domain.people import Thread
from bot.domain.sheets import Element, Tone
from bot.domain.world import AgentUsage, Usage


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

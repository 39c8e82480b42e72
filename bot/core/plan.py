"""The documents of a plan (spec.md, plan.md, tasks.md), and what is known of it before anybody approves it."""

from __future__ import annotations

from enum import StrEnum

from bot.core.facts import Fact


class DocumentKind(StrEnum):
    SPEC = "spec"
    PLAN = "plan"
    TASKS = "tasks"

    @property
    def file(self) -> str:
        return f"{self}.md"


class Document(Fact):
    """One of spec.md, plan.md and tasks.md at one revision."""

    kind: DocumentKind
    revision: int
    text: str
    sha256: str


# What is known of a plan: its flaws, what it covers, what a revision changed, what it may cost.


class Severity(StrEnum):
    CRITICAL = "CRITICAL"
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Finding(Fact):
    """A flaw that the analysis found in spec, plan or tasks."""

    id: str
    """The category's letter and a number: C1, U2 …"""
    severity: Severity
    category: str
    where: str = ""
    summary: str
    recommendation: str = ""


class RequirementCoverage(Fact):
    """A requirement and the tasks that fulfil it."""

    requirement: str
    tasks: tuple[str, ...] = ()
    """Keys of tasks. Empty if nothing in the plan fulfils it."""


class Analysis(Fact):
    """The comparison of spec, plan and tasks, made before anybody is asked to approve them."""

    findings: tuple[Finding, ...] = ()
    coverage: tuple[RequirementCoverage, ...] = ()
    score: int | None = None
    """The quality of the breakdown into tasks, 0 to 100; `None` if nothing could judge it."""

    @property
    def critical(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity is Severity.CRITICAL)

    @property
    def percent(self) -> int | None:
        """The percentage of requirements that a task fulfils; `None` without requirements."""
        if not self.coverage:
            return None
        served = sum(1 for covered in self.coverage if covered.tasks)
        return served * 100 // len(self.coverage)


class Spread(Fact):
    """Median and range of a figure in earlier sessions."""

    median: float
    low: float
    high: float


class Forecast(Fact):
    """What finished sessions of this repository took."""

    sessions: int = 0
    """0 if there is no history yet."""
    tasks: Spread | None = None
    parallelism: Spread | None = None
    minutes: Spread | None = None
    tokens: Spread | None = None


class Altered(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Alteration(Fact):
    """One changed section of a document, or one changed task."""

    what: Altered
    where: str
    """"spec.md" or "plan.md"; for a task its key."""
    name: str
    details: tuple[str, ...] = ()
    """The details, one line each."""


class Difference(Fact):
    """What a new revision changes."""

    since: int
    """The revision it is compared with."""
    sections: tuple[Alteration, ...] = ()
    tasks: tuple[Alteration, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.sections or self.tasks)


class Policy(Fact):
    """What the operator's rules require for a plan of this risk."""

    alone: bool = False
    """Whether it may start without approval."""
    approvers: int = 1
    """How many different people must approve."""
    others: bool = False
    """Whether the requester's own approval does not count."""

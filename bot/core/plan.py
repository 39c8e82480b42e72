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
    """One of spec.md, plan.md, tasks.md at one revision."""

    kind: DocumentKind
    revision: int
    text: str
    sha256: str


# What is known of a plan: what is wrong with it, what it covers, what a revision changed, what it
# may cost.


class Severity(StrEnum):
    CRITICAL = "CRITICAL"
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Finding(Fact):
    """Something the analysis found in spec, plan or tasks."""

    id: str
    """The category's letter and a number: C1, U2 …"""
    severity: Severity
    category: str
    where: str = ""
    summary: str
    recommendation: str = ""


class Covered(Fact):
    """A requirement, and the tasks that serve it."""

    requirement: str
    tasks: tuple[str, ...] = ()
    """Keys. Empty: nothing in the plan serves it."""


class Analysis(Fact):
    """Spec, plan and tasks held against each other, before anybody is asked to approve them."""

    findings: tuple[Finding, ...] = ()
    coverage: tuple[Covered, ...] = ()
    score: int | None = None
    """How good the breakdown into tasks is, of 100; none: nobody could judge it."""

    @property
    def critical(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity is Severity.CRITICAL)

    @property
    def percent(self) -> int | None:
        """Of the requirements, how many a task serves; none: there are no requirements."""
        if not self.coverage:
            return None
        served = sum(1 for covered in self.coverage if covered.tasks)
        return served * 100 // len(self.coverage)


class Spread(Fact):
    """A figure as it was in earlier sessions."""

    median: float
    low: float
    high: float


class Forecast(Fact):
    """What sessions of this repository took that are over."""

    sessions: int = 0
    """0: there is no history yet."""
    tasks: Spread | None = None
    parallelism: Spread | None = None
    minutes: Spread | None = None
    tokens: Spread | None = None


class Altered(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Alteration(Fact):
    """One section of a document, or one task, that is not what it was."""

    what: Altered
    where: str
    """spec.md, plan.md; of a task its key."""
    name: str
    details: tuple[str, ...] = ()
    """What exactly, a line each."""


class Difference(Fact):
    """What a new revision changes."""

    since: int
    """The revision it is compared with."""
    sections: tuple[Alteration, ...] = ()
    tasks: tuple[Alteration, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.sections or self.tasks)


class Policy(Fact):
    """What the operator's rules say of a plan of this risk."""

    alone: bool = False
    """It may start without a person."""
    approvers: int = 1
    """How many different people must approve."""
    others: bool = False
    """Who asked for it is none of them."""

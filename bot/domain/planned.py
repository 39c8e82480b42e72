"""What is known of a plan before anybody approves it: what is wrong with it, what it covers, what changed, what it may cost."""

from __future__ import annotations

from enum import StrEnum

from bot.domain.facts import Fact


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

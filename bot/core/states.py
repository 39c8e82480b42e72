"""All states and all legal moves.

Nothing else in the program may decide what is legal: docs/states.md is drawn from these tables, and a test keeps it up
to date.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from bot.core.errors import IllegalMoveError


class Status(StrEnum):
    """Whether a session is being worked on."""

    ACTIVE = "Active"
    QUEUED = "Queued"
    PAUSED = "Paused"
    COMPLETED = "Completed"
    FAILED = "Failed"
    DISCARDED = "Discarded"


class Phase(StrEnum):
    """How far a session has come. Pausing keeps the phase, so that resuming knows where to continue."""

    INTAKE = "intake"
    CLARIFYING = "clarifying"
    SPECIFYING = "specifying"
    APPROVING = "approving"
    EXECUTING = "executing"
    FINISHING = "finishing"
    DONE = "done"


class TaskState(StrEnum):
    PENDING = "Pending"
    READY = "Ready"
    RUNNING = "Running"
    VERIFYING = "Verifying"
    NEEDS_CONTINUATION = "NeedsContinuation"
    INTEGRATING = "Integrating"
    COMPLETED = "Completed"
    FAILED = "Failed"
    BLOCKED = "Blocked"
    CANCELLED = "Cancelled"
    REPLACED = "Replaced"


class RunState(StrEnum):
    STARTING = "Starting"
    RUNNING = "Running"
    WAITING_INPUT = "WaitingInput"
    ENDED = "Ended"


class Outcome(StrEnum):
    """How a run ended."""

    FINISHED = "finished"
    FAILED = "failed"
    BLOCKED = "blocked"
    TIMED_OUT = "timed_out"
    KILLED = "killed"
    VANISHED = "vanished"


class IntentStatus(StrEnum):
    PROPOSED = "proposed"
    APPROVED = "approved"
    EXECUTING = "executing"
    DONE = "done"
    BLOCKED = "blocked"
    ERROR = "error"
    REJECTED = "rejected"


class OverallStatus(StrEnum):
    """The overall result; the members are ordered from best to worst."""

    COMPLETE = "COMPLETE"
    INCOMPLETE = "INCOMPLETE"
    NO_EVIDENCE = "NO_EVIDENCE"
    ERROR = "ERROR"
    INVALID = "INVALID"

    @classmethod
    def worst(cls, parts: list[OverallStatus]) -> OverallStatus:
        """Return the worst of the parts; NO_EVIDENCE if there are none."""
        order = list(cls)
        return max(parts, key=order.index, default=cls.NO_EVIDENCE)


S = TypeVar("S", bound=StrEnum)


def _table(rows: str, kind: type[S]) -> Mapping[S, frozenset[S]]:
    """Parse `old → new new`, one row per line. A state without a row is final."""
    table: dict[S, frozenset[S]] = {state: frozenset() for state in kind}
    for row in rows.strip().splitlines():
        old, _, news = row.partition("→")
        table[kind(old.strip())] = frozenset(kind(new) for new in news.split())
    return table


STATUSES = _table(
    """
    Active    → Queued Paused Completed Failed Discarded
    Queued    → Active Paused Failed Discarded
    Paused    → Active Queued Failed Discarded
    Completed → Active
    Failed    → Active Discarded
    """,
    Status,
)

PHASES = _table(
    """
    intake     → clarifying specifying finishing
    clarifying → specifying
    specifying → approving executing clarifying
    approving  → executing specifying
    executing  → finishing
    finishing  → done executing specifying
    done       → clarifying specifying
    """,
    Phase,
)

TASKS = _table(
    """
    Pending           → Ready Blocked Cancelled Replaced
    Ready             → Running Pending Blocked Cancelled Replaced
    Running           → Verifying NeedsContinuation Blocked Failed Cancelled Replaced
    Verifying         → Integrating NeedsContinuation Blocked Failed Cancelled Replaced
    NeedsContinuation → Running Ready Verifying Integrating Blocked Failed Cancelled Replaced
    Integrating       → Completed NeedsContinuation Blocked Failed Cancelled Replaced
    Completed         → NeedsContinuation Cancelled
    Failed            → Ready NeedsContinuation Integrating Replaced Cancelled
    Blocked           → Ready Pending NeedsContinuation Verifying Integrating Failed Cancelled Replaced
    Cancelled         → Pending
    """,
    TaskState,
)

RUNS = _table(
    """
    Starting     → Running WaitingInput Ended
    Running      → WaitingInput Ended
    WaitingInput → Running Ended
    """,
    RunState,
)

INTENTS = _table(
    """
    proposed  → approved rejected
    approved  → executing rejected
    executing → done blocked error rejected
    blocked   → approved rejected
    error     → approved rejected
    done      → approved
    """,
    IntentStatus,
)


def move(table: Mapping[S, frozenset[S]], old: S, new: S) -> S:
    """Return the new state. Raises IllegalMoveError if the table does not allow the move."""
    if new not in table[old]:
        raise IllegalMoveError(f"{type(old).__name__}: {old} cannot become {new}")
    return new

"""What a plan may take, by what finished sessions took: figures that were recorded, no guess of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bot.domain.planned import Forecast, Spread
from bot.domain.session import Session
from bot.domain.states import Status, TaskState

ENOUGH = 5
"""From so many sessions on, the outermost tenth at either end is left out; before, there is nothing to leave out."""


def forecast(sessions: Sequence[Session]) -> Forecast:
    """The completed sessions among these that completed a task; which sessions may be compared is the caller's choice."""
    done = [
        session
        for session in sessions
        if session.status is Status.COMPLETED and session.in_state(TaskState.COMPLETED)
    ]
    return Forecast(
        sessions=len(done),
        tasks=_spread(done, lambda one: float(len(one.in_state(TaskState.COMPLETED)))),
        parallelism=_spread(done, lambda one: float(one.parallelism)),
        minutes=_spread(done, _minutes),
        tokens=_spread(done, lambda one: float(one.usage.tokens) or None),
    )


def _minutes(session: Session) -> float | None:
    """From the approval to the end of the last task; where nobody had to approve, from the first start."""
    completed = session.in_state(TaskState.COMPLETED)
    starts = [task.started_at for task in session.tasks if task.started_at]
    start = session.approval.at if session.approval else min(starts, default=None)
    end = max((task.completed_at for task in completed if task.completed_at), default=None)
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds() / 60


def _spread(
    sessions: Iterable[Session], figure: Callable[[Session], float | None]
) -> Spread | None:
    """None where no session has the figure."""
    values = sorted(found for one in sessions if (found := figure(one)) is not None)
    if not values:
        return None
    edge = 0.1 if len(values) >= ENOUGH else 0.0
    return Spread(median=_at(values, 0.5), low=_at(values, edge), high=_at(values, 1 - edge))


def _at(values: Sequence[float], share: float) -> float:
    """The value below which this share of them lies; between two of them, in proportion."""
    place = share * (len(values) - 1)
    below = int(place)
    if below + 1 == len(values):
        return values[below]
    return values[below] + (values[below + 1] - values[below]) * (place - below)

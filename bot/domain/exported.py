"""A session as it is handed to somebody else: how it began, everything it heard, and where each of that led. Facts only."""

from __future__ import annotations

from bot.domain.events import Event
from bot.domain.facts import Fact
from bot.domain.record import Record
from bot.domain.session import Session

FORMAT = 1


class Stand(Fact):
    """Where a session stands, in states alone."""

    status: str
    phase: str
    tasks: dict[str, str]
    """By key."""
    runs: dict[str, str]
    """By id: state, and outcome."""


class Step(Fact):
    """One event that was decided on."""

    event: Event
    stand: Stand
    orders: tuple[str, ...] = ()
    """Keys of what had to be under way then."""
    answered: tuple[str, ...] = ()
    """Keys of orders whose answers waited to be heard."""


class History(Fact):
    start: Record
    """As far back as is known: of a long session the journal was written anew, and its beginning is gone."""
    steps: tuple[Step, ...] = ()


class FileMark(Fact):
    name: str
    bytes: int
    sha256: str


class Manifest(Fact):
    """What an archive holds."""

    format: int = FORMAT
    program: str
    session: str
    title: str = ""
    files: tuple[FileMark, ...] = ()


def stand_of(session: Session) -> Stand:
    runs = [run for task in session.tasks for run in task.runs]
    return Stand(
        status=session.status,
        phase=session.phase,
        tasks={task.key: task.state.value for task in session.tasks},
        runs={run.id: f"{run.state} {run.outcome or ''}".strip() for run in runs},
    )

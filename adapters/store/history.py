"""What a session has heard, read from its journal: each event it decided on, and where that led."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from adapters.store.disk import Disk
from adapters.store.journal import Row, passed
from adapters.store.kept import TABLE
from adapters.store.parts import Parts, described
from bot.domain.actions import Order
from bot.domain.events import Event, Result
from bot.domain.exported import History, Step, stand_of
from bot.domain.record import Record
from bot.domain.session import Session
from bot.errors import BrokenStateError

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)
_INBOX = "/inbox/"


def read(journal: Path, disk: Disk | None = None) -> tuple[History, Session]:
    """And how the session stands now. Raises FileNotFoundError, BrokenStateError, NewerSchemaError."""
    start = last = None
    steps: list[Step] = []
    for gone, tables in passed((disk or Disk()).read(journal)):
        events = [row for key, row in gone.get(TABLE, {}).items() if key.startswith(_INBOX)]
        if start is None or events:
            record = Parts.restored(tables.get(TABLE, {}))[1]
            start, last = start or record, record
            steps += _steps(events, record)
    if start is None or last is None:
        raise BrokenStateError(f"{journal} says nothing of a session")
    return History(start=start, steps=tuple(steps)), last.session


def _steps(events: list[Row], after: Record) -> Iterator[Step]:
    for row in events:
        yield Step(
            event=_event(row),
            stand=stand_of(after.session),
            orders=tuple(sorted(a.key for a in after.outbox if isinstance(a, Order))),
            answered=tuple(e.answers for e in after.inbox if isinstance(e, Result)),
        )


def _event(row: Mapping[str, object]) -> Event:
    try:
        return _EVENT.validate_python(row)
    except ValidationError as error:
        raise described(error) from error

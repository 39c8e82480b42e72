"""A store in memory: it keeps JSON text, so what is loaded is a true copy of what was saved."""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel

from bot.core.errors import Unavailable
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.ports import IndexedSession


class StoredLine(BaseModel):
    """A line of the list of sessions."""

    id: str
    thread: Thread
    title: str
    status: str
    phase: str
    repository: str
    updated_at: AwareDatetime


class MemoryStore:
    """`full` makes the disk full; `saves` counts what was saved."""

    def __init__(self) -> None:
        self.records: dict[str, str] = {}
        self.broken: tuple[str, ...] = ()
        self.full = False
        self.saves = 0

    def load(self) -> list[Record]:
        records = [Record.model_validate_json(text) for text in self.records.values()]
        return [record for record in records if not _done(record)]

    def find(self, session_id: str) -> Record | None:
        if session_id in self.records:
            return Record.model_validate_json(self.records[session_id])
        found = [
            text
            for name, text in self.records.items()
            if session_id and name.startswith(session_id)
        ]
        return Record.model_validate_json(found[0]) if len(found) == 1 else None

    def save(self, record: Record) -> None:
        if self.full:
            raise Unavailable("the disk is full, so nothing can be kept", "Free some space.")
        self.records[record.session.id] = record.model_dump_json()
        self.saves += 1

    def sessions(self) -> list[IndexedSession]:
        sessions = [Record.model_validate_json(text).session for text in self.records.values()]
        lines = [
            StoredLine(
                id=session.id,
                thread=session.thread,
                title=session.title,
                status=session.status.value,
                phase=session.phase.value,
                repository=session.repository.path,
                updated_at=session.updated_at,
            )
            for session in sessions
        ]
        return [*sorted(lines, key=lambda line: line.updated_at, reverse=True)]


def _done(record: Record) -> bool:
    return record.session.over and not record.inbox and not record.outbox

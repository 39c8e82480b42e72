"""A record in memory, and the journal that holds it: both say the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from adapters.store.disk import Disk
from adapters.store.journal import JournalDatabase
from adapters.store.parts import Parts
from bot.domain.record import Record

TABLE = "record"


@dataclass
class Kept:
    path: Path
    database: JournalDatabase
    parts: Parts
    done: bool = False
    """Over, with nothing left to hear or to do."""
    saves: int = 0

    @classmethod
    def fresh(cls, path: Path, disk: Disk) -> Kept:
        """Of a record that was never saved."""
        return cls(path, JournalDatabase(path, disk), Parts())

    @classmethod
    def read(cls, path: Path, disk: Disk) -> tuple[Kept, Record]:
        """From its journal, with the record. Raises OSError, BrokenStateError, NewerSchemaError."""
        database = JournalDatabase(path, disk)
        rows = database.storage.read() or {}
        parts, record = Parts.restored(rows.get(TABLE, {}))
        return cls(path, database, parts, is_done(record)), record

    def save(self, record: Record) -> None:
        """After an error neither the journal in memory nor the parts are true any more: read them anew."""
        change = self.parts.take(record)
        if change:
            self.database.rows(TABLE).apply(change)
        self.done = is_done(record)
        self.saves += 1


def is_done(record: Record) -> bool:
    return record.session.over and not record.inbox and not record.outbox

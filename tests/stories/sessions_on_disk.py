"""The sessions of a home as they stand on disk, while a bot is at work on them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from adapters.store import JournalStore
from bot.core.projections.records import Record

Stamps = dict[Path, tuple[int, int]]
"""When each of its files was written, and how long it is."""


class SessionsOnDisk:
    """A session is read anew when a file of its own has changed: some stories look five times a second."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._stamps: dict[str, Stamps] = {}
        self._records: dict[str, Record] = {}

    def records(self) -> list[Record]:
        """Oldest first."""
        stamps = self._stamped()
        for name in self._stamps.keys() - stamps.keys():
            self._records.pop(name, None)
        changed = {name: of for name, of in stamps.items() if of != self._stamps.get(name)}
        for name, of in changed.items():
            self._read(name, of)
        self._stamps = stamps
        return sorted(self._records.values(), key=lambda record: record.session.created_at)

    def _stamped(self) -> dict[str, Stamps]:
        stamps: dict[str, Stamps] = {}
        for path in self._files():
            with suppress(FileNotFoundError):
                stat = path.stat()
                name = path.name.partition(".")[0]
                stamps.setdefault(name, {})[path] = (stat.st_mtime_ns, stat.st_size)
        return stamps

    def _files(self) -> Iterator[Path]:
        for path in self._home.glob("sessions/**/*"):
            if path.is_file() and not path.name.startswith("."):
                yield path

    def _read(self, name: str, files: Stamps) -> None:
        """A store mends what it finds, so it is given a copy."""
        with tempfile.TemporaryDirectory() as copy:
            for path in files:
                there = Path(copy) / path.relative_to(self._home)
                there.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with suppress(FileNotFoundError):  # it was replaced just now
                    there.write_bytes(path.read_bytes())
            store = JournalStore(Path(copy))
            try:
                found = [store.find(listed.id) for listed in store.sessions()]
            finally:
                store.close()
        for record in found:
            if record:
                self._records[name] = record

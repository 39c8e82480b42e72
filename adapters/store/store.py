"""Records on disk, one journal each: a save is there when it returns, and what is broken hurts nobody else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from adapters.store.background import Background
from adapters.store.disk import Disk, unavailable
from adapters.store.folder import EXPORT, JOURNAL, Folder, file_name
from adapters.store.index import Index
from adapters.store.kept import Kept
from adapters.store.parts import described
from bot.domain.record import Record
from bot.domain.session import Session
from bot.domain.snapshot import NewerSchemaError, export, restore
from bot.errors import BrokenStateError, Refused, Unavailable
from bot.ports import Listed

_JSON = TypeAdapter(dict[str, object])
_UPDATE = "Update gwt-bot to go on with it."


class JournalStore:
    """The Store port. Safe to call from several threads; only one process may own a home (InstanceLock)."""

    def __init__(
        self,
        home: Path,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        disk: Disk | None = None,
        export_delay: float = 0.5,
    ) -> None:
        self._home = home
        self._disk = disk or Disk()
        self._folder = Folder(home, self._disk, now)
        self._lock = threading.RLock()
        self._kept: dict[str, Kept] = {}
        self._index: Index | None = None
        self._unnoted: set[str] = set()
        self._told: dict[str, None] = {}
        self._background = Background(self._settle, self._write_index, export_delay)

    @property
    def broken(self) -> tuple[str, ...]:
        return tuple(self._told)

    def load(self) -> list[Record]:
        with self._lock, self._plainly():
            self._folder.sweep()
            for name in sorted(self._folder.strangers()):
                self._import(self._folder.exports / (name + EXPORT))
            names, _ = self._folder.journals()
            records: list[Record] = []
            for name in sorted(names):
                kept, record = self._read(self._folder.unfinished / (name + JOURNAL))
                if kept and record:
                    self._keep(record.session.id, kept)
                    records += [] if kept.done else [record]
            return records

    def find(self, session_id: str) -> Record | None:
        with self._lock, self._plainly():
            path = self._folder.journal(session_id)
            if not path.exists():
                ids = [line.id for line in self._noted().lines() if line.id.startswith(session_id)]
                if len(ids) != 1 or not session_id:
                    return None
                path = self._folder.journal(ids[0])
            return self._read(path)[1]

    def save(self, record: Record) -> None:
        session_id = record.session.id
        with self._lock, self._plainly():
            # out of memory first: should this fail, the disk is asked anew what it holds
            kept = self._kept.pop(session_id, None)
            if kept is None or (
                kept.path.parent == self._folder.finished and not record.session.over
            ):
                kept = self._from_disk(record.session)
            kept.save(record)
            self._keep(session_id, kept)

    def sessions(self) -> list[Listed]:
        with self._lock, self._plainly():
            return [*self._noted().lines()]

    def close(self) -> None:
        """Returns when exports and index are up to date."""
        self._background.close()

    def _keep(self, session_id: str, kept: Kept) -> None:
        self._kept[session_id] = kept
        self._unnoted.add(session_id)
        self._background.ask(session_id)

    def _from_disk(self, session: Session) -> Kept:
        """The journal of a record that is not in memory, or a new one."""
        path = self._folder.journal(session.id)
        if not session.over:
            path = self._folder.reopen(path)
        if not path.exists():
            return Kept.fresh(path, self._disk)
        self._disk.settle(path)
        try:
            return Kept.read(path, self._disk)[0]
        except NewerSchemaError as error:
            raise Refused(f"session {session.id} cannot be saved: {error}", _UPDATE) from error
        except BrokenStateError as error:
            self._put_aside(path, error)
            return Kept.fresh(path, self._disk)

    def _read(self, path: Path) -> tuple[Kept, Record] | tuple[None, None]:
        """Nothing: it could not be read, and that was told."""
        try:
            return Kept.read(path, self._disk)
        except NewerSchemaError as error:
            self._tell(f"The session file {path} was left alone: {error}. {_UPDATE}")
        except BrokenStateError as error:
            self._put_aside(path, error)
        except OSError as error:
            self._tell(f"The session file {path} was left alone: {error.strerror or error}.")
        return None, None

    def _import(self, path: Path) -> None:
        """Take in a session that somebody put there as a file."""
        try:
            session = restore(self._disk.read(path))
            if self._folder.export(session.id) != path:
                name = self._folder.export(session.id).name
                self._tell(
                    f"{path} was left alone: the session in it belongs into a file named {name}."
                )
                return
            self.save(Record(session=session))
        except NewerSchemaError as error:
            self._tell(f"The session file {path} was left alone: {error}. {_UPDATE}")
        except ValidationError as error:
            self._put_aside(path, described(error))
        except (OSError, Unavailable) as error:
            self._tell(f"The session file {path} was left alone: {error}.")

    def _put_aside(self, path: Path, error: BrokenStateError) -> None:
        aside = self._folder.put_aside(path)
        self._tell(
            f"The session file {path} is broken: {error}. "
            f"It was kept as {aside.name}; all other sessions are unaffected."
        )
        exported = self._folder.exports / (path.stem + EXPORT)
        if exported.exists():  # else it would be taken in as a session of its own
            self._folder.put_aside(exported)
        self._index = None

    def _tell(self, sentence: str) -> None:
        self._told[sentence] = None

    def _noted(self) -> Index:
        """The index, with all that is not in it yet."""
        while (index := self._index) is None:
            self._index = Index(self._folder, self._disk)
            self._unnoted.update(self._kept)
            # a broken one may come to light here; then the index is read anew, without it
            self._note_missing(self._index)
        for session_id in self._unnoted & self._kept.keys():
            index.note(self._kept[session_id].parts.session())
        self._unnoted.clear()
        return index

    def _note_missing(self, index: Index) -> None:
        in_memory = {file_name(session_id) for session_id in self._kept}
        for name in sorted(index.missing() - in_memory):
            for directory in (self._folder.unfinished, self._folder.finished):
                path = directory / (name + JOURNAL)
                record = self._read(path)[1] if path.exists() else None
                if record:
                    index.note(record.session)

    def _settle(self, session_id: str) -> None:
        """In the background: the export, and then what is over is let go of."""
        with self._lock:
            kept = self._kept.get(session_id)
            if kept is None:
                return
            saves, session = kept.saves, kept.parts.session()
        self._export(session)
        with self._lock:
            if kept.done and self._kept.get(session_id) is kept and kept.saves == saves:
                if self._index:
                    self._index.note(session)
                self._folder.finish(kept.path)
                del self._kept[session_id]

    def _export(self, session: Session) -> None:
        path = self._folder.export(session.id)
        content = _JSON.dump_json(export(session), indent=2)
        if not path.exists() or self._disk.read(path) != content:
            self._disk.replace(path, content)

    def _write_index(self) -> None:
        with self._lock:
            index = self._noted() if self._index else None
            news = index.news() if index else None
        if index and news:
            index.write(news)

    @contextmanager
    def _plainly(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise unavailable(error, self._home) from error

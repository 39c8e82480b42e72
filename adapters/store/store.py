"""The store port: sessions on disk, one journal each.

A save is on disk when it returns, and one broken session does not affect others.
"""

from __future__ import annotations

import logging
import platform
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, TypeAdapter, ValidationError

from adapters.files import Disk
from adapters.store.disk import EXPORT, JOURNAL, SessionFolder, disk_error, file_name
from adapters.store.records import SavedRecord, broken_record_error
from bot.core.errors import BrokenStateError, Refused, Unavailable
from bot.core.people import Thread
from bot.core.projections.records import Record
from bot.core.session import Session
from bot.core.snapshot import NewerSchemaError, export, restore
from bot.core.states import Status
from bot.ports import IndexedSession

_JSON = TypeAdapter(dict[str, object])
_UPDATE = "Update gwt-bot to go on with it."


class JournalStore:
    """The Store port. Thread-safe; only one process may own a home (InstanceLock)."""

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
        self._folder = SessionFolder(home, self._disk, now)
        self._lock = threading.RLock()
        self._records: dict[str, SavedRecord] = {}
        self._index: SessionIndex | None = None
        self._not_indexed: set[str] = set()
        self._reported: dict[str, None] = {}
        self._background = BackgroundWork(self._export_and_release, self._write_index, export_delay)

    @property
    def broken(self) -> tuple[str, ...]:
        return tuple(self._reported)

    def load(self) -> list[Record]:
        with self._lock, self._plainly():
            self._folder.remove_temporary_files()
            for name in sorted(self._folder.foreign_exports()):
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
                ids = [
                    line.id
                    for line in self._updated_index().lines()
                    if line.id.startswith(session_id)
                ]
                if len(ids) != 1 or not session_id:
                    return None
                path = self._folder.journal(ids[0])
            return self._read(path)[1]

    def save(self, record: Record) -> None:
        session_id = record.session.id
        with self._lock, self._plainly():
            # removed from memory first, so that after a failure it is read from disk again
            kept = self._records.pop(session_id, None)
            if kept is None or (
                kept.path.parent == self._folder.finished and not record.session.over
            ):
                kept = self._open_journal(record.session)
            kept.save(record)
            self._keep(session_id, kept)

    def sessions(self) -> list[IndexedSession]:
        with self._lock, self._plainly():
            return [*self._updated_index().lines()]

    def close(self) -> None:
        """Finish the pending exports and the index."""
        self._background.close()

    def _keep(self, session_id: str, kept: SavedRecord) -> None:
        self._records[session_id] = kept
        self._not_indexed.add(session_id)
        self._background.request(session_id)

    def _open_journal(self, session: Session) -> SavedRecord:
        """Return the journal of a record that is not in memory, or a new one."""
        path = self._folder.journal(session.id)
        if not session.over:
            path = self._folder.reopen(path)
        if not path.exists():
            return SavedRecord.new(path, self._disk)
        self._disk.sync_file(path)
        try:
            return SavedRecord.read(path, self._disk)[0]
        except NewerSchemaError as error:
            raise Refused(f"session {session.id} cannot be saved: {error}", _UPDATE) from error
        except BrokenStateError as error:
            self._put_aside(path, error)
            return SavedRecord.new(path, self._disk)

    def _read(self, path: Path) -> tuple[SavedRecord, Record] | tuple[None, None]:
        """Read a journal; return None after an error, which was reported."""
        try:
            return SavedRecord.read(path, self._disk)
        except NewerSchemaError as error:
            self._report(f"The session file {path} was left alone: {error}. {_UPDATE}")
        except BrokenStateError as error:
            self._put_aside(path, error)
        except OSError as error:
            self._report(f"The session file {path} was left alone: {error.strerror or error}.")
        return None, None

    def _import(self, path: Path) -> None:
        """Import a session that somebody put there as a file."""
        try:
            session = restore(self._disk.read(path))
            if self._folder.export(session.id) != path:
                name = self._folder.export(session.id).name
                self._report(
                    f"{path} was left alone: the session in it belongs into a file named {name}."
                )
                return
            self.save(Record(session=session))
        except NewerSchemaError as error:
            self._report(f"The session file {path} was left alone: {error}. {_UPDATE}")
        except ValidationError as error:
            self._put_aside(path, broken_record_error(error))
        except (OSError, Unavailable) as error:
            self._report(f"The session file {path} was left alone: {error}.")

    def _put_aside(self, path: Path, error: BrokenStateError) -> None:
        aside = self._folder.put_aside(path)
        self._report(
            f"The session file {path} is broken: {error}. "
            f"It was kept as {aside.name}; all other sessions are unaffected."
        )
        exported = self._folder.exports / (path.stem + EXPORT)
        if exported.exists():  # otherwise it would be imported as a separate session
            self._folder.put_aside(exported)
        self._index = None

    def _report(self, sentence: str) -> None:
        self._reported[sentence] = None

    def _updated_index(self) -> SessionIndex:
        """Return the index, after adding what is missing in it."""
        while (index := self._index) is None:
            self._index = SessionIndex(self._folder, self._disk)
            self._not_indexed.update(self._records)
            # a broken journal may be found here; then the loop reads the index again, without it
            self._note_missing(self._index)
        for session_id in self._not_indexed & self._records.keys():
            index.update(self._records[session_id].parts.session())
        self._not_indexed.clear()
        return index

    def _note_missing(self, index: SessionIndex) -> None:
        in_memory = {file_name(session_id) for session_id in self._records}
        for name in sorted(index.missing() - in_memory):
            for directory in (self._folder.unfinished, self._folder.finished):
                path = directory / (name + JOURNAL)
                record = self._read(path)[1] if path.exists() else None
                if record:
                    index.update(record.session)

    def _export_and_release(self, session_id: str) -> None:
        """In the background: export the session, and drop it from memory if it is over."""
        with self._lock:
            kept = self._records.get(session_id)
            if kept is None:
                return
            saves, session = kept.saves, kept.parts.session()
        self._export(session)
        with self._lock:
            if kept.done and self._records.get(session_id) is kept and kept.saves == saves:
                if self._index:
                    self._index.update(session)
                self._folder.finish(kept.path)
                del self._records[session_id]

    def _export(self, session: Session) -> None:
        path = self._folder.export(session.id)
        content = _JSON.dump_json(export(session), indent=2)
        if not path.exists() or self._disk.read(path) != content:
            self._disk.replace(path, content)

    def _write_index(self) -> None:
        with self._lock:
            index = self._updated_index() if self._index else None
            news = index.changed_content() if index else None
        if index and news:
            index.write(news)

    @contextmanager
    def _plainly(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise disk_error(error, self._home) from error


# The list of all sessions: a cache, so that nobody has to open ten thousand files.


class SessionLine(BaseModel):
    """A session's entry in the list."""

    id: str
    thread: Thread
    title: str
    status: str
    phase: str
    repository: str
    host: str
    """The machine on which the bot last saved it, because a home may be moved or shared."""
    updated_at: AwareDatetime

    @classmethod
    def of(cls, session: Session) -> SessionLine:
        return cls(
            id=session.id,
            thread=session.thread,
            title=session.title,
            status=session.status.value,
            phase=session.phase.value,
            repository=session.repository.path,
            host=platform.node(),
            updated_at=session.updated_at,
        )

    @property
    def over(self) -> bool:
        return self.status in (Status.COMPLETED, Status.FAILED, Status.DISCARDED)

    def differs(self, other: SessionLine | None) -> bool:
        """Whether it differs from the other in more than the time."""
        return other is None or self.model_copy(update={"updated_at": other.updated_at}) != other


_LINES = TypeAdapter(list[SessionLine])


class SessionIndex:
    def __init__(self, folder: SessionFolder, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk
        self._lines: dict[str, SessionLine] = {}
        self._changed = False
        self._read()

    def lines(self) -> list[SessionLine]:
        """Return the lines, newest first."""
        return sorted(self._lines.values(), key=lambda line: line.updated_at, reverse=True)

    def update(self, session: Session) -> None:
        line = SessionLine.of(session)
        self._changed |= line.differs(self._lines.get(line.id))
        self._lines[line.id] = line

    def missing(self) -> set[str]:
        """Return the names of journals without a correct line, and drop lines without a journal."""
        unfinished, finished = self._folder.journals()
        known = {file_name(session_id): line for session_id, line in self._lines.items()}
        for name in known.keys() - unfinished - finished:
            del self._lines[known.pop(name).id]
            self._changed = True
        true = {
            name for name, line in known.items() if name in (finished if line.over else unfinished)
        }
        return (unfinished | finished) - true

    def changed_content(self) -> bytes | None:
        """Return the new content of the file, or None if only times have changed."""
        if not self._changed:
            return None
        self._changed = False
        return _LINES.dump_json(list(self._lines.values()))

    def write(self, content: bytes) -> None:
        try:
            self._disk.replace(self._folder.index, content)
        except OSError:
            self._changed = True
            raise

    def _read(self) -> None:
        try:
            lines = _LINES.validate_json(self._disk.read(self._folder.index))
        except (FileNotFoundError, ValidationError):
            self._changed = True  # only a cache, which can be rebuilt
            return
        self._lines = {line.id: line for line in lines}


# Deferrable work in a thread of its own, done once however often it was requested.

log = logging.getLogger(__name__)

_MAX_PAUSE = 30.0
"""The longest pause between two tries, in seconds."""


class BackgroundWork:
    """Calls `each` for every request, at most `delay` seconds after the first one, then `after` once.

    Failures are retried at growing intervals.
    """

    def __init__(
        self, each: Callable[[str], None], after: Callable[[], None], delay: float
    ) -> None:
        self._each = each
        self._after = after
        self._delay = delay
        self._failed = 0
        """Number of consecutive rounds with a failure."""
        self._asked: set[str] = set()
        self._lock = threading.Lock()
        self._any = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def request(self, name: str) -> None:
        with self._lock:
            self._asked.add(name)
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="store", daemon=True)
                self._thread.start()
        self._any.set()

    def close(self) -> None:
        """Finish all requested work."""
        self._closing.set()
        self._any.set()
        if self._thread is not None:
            self._thread.join()
        self._do()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._any.wait()
            longer = min(self._delay * 2**self._failed, _MAX_PAUSE)
            self._closing.wait(max(self._delay, longer))
            self._any.clear()
            self._do()

    def _do(self) -> None:
        with self._lock:
            asked, self._asked = self._asked, set()
        done = [self._try(name, lambda name=name: self._each(name)) for name in sorted(asked)]
        if asked:
            done.append(self._try(min(asked), self._after))
        self._failed = 0 if all(done) else min(self._failed + 1, 10)

    def _try(self, name: str, work: Callable[[], None]) -> bool:
        """Run the work; return False if it must be retried."""
        try:
            work()
        except OSError as error:
            # most likely a full disk; the journals are the truth, so it is enough to retry
            log.warning("an export is late", extra={"session": name, "reason": str(error)})
            with self._lock:
                self._asked.add(name)
            self._any.set()
            return False
        except Exception:
            # nobody waits for this thread's result, and if it ended nothing would be exported any more
            log.exception("an export failed", extra={"session": name})
        return True

"""Logs of tasks on disk, in a layout other programs know; derived from sessions, so lost or broken files are made
again. logs/index.json: the indexes of all sessions; below logs/sessions/<session>/: session.json, index.json and
tasks/<id>.json.

Each file is replaced as a whole: after a kill a log may lack its last entries, but is never broken.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from adapters.files import TEMPORARY_SUFFIX, Disk, make_private
from adapters.store.disk import disk_error, file_name
from adapters.store.evidence import OutputLimits
from bot.core.masking import Masker
from bot.core.projections import task_log_entries, task_log_views, task_logs
from bot.core.projections.task_log_views import minimal_log
from bot.core.projections.task_logs import (
    TRUNCATED,
    LogBounds,
    LogEntry,
    LoggedRunner,
    TaskLog,
    TaskLogIndex,
    truncated_entry,
)
from bot.core.session import Session
from bot.core.task import Task

log = logging.getLogger(__name__)

TASKS = "tasks"
_TIDY_INTERVAL_BYTES = 8_000_000
"""Bytes written before the limits are checked again."""


class LogDisk(Disk):
    """Syncs only the logs of tasks; indexes and `session.json` can be rebuilt from the session.

    Measured on ext4: 0.2 ms without sync, 2 ms with it per batch of entries, in a thread that nobody waits for.
    """

    def sync(self, fd: int, path: Path) -> None:
        if path.parent.name == TASKS:
            super().sync(fd, path)

    def sync_directory(self, path: Path) -> None:
        if path.name == TASKS:
            super().sync_directory(path)


class TaskLogFiles:
    """The Logs port."""

    def __init__(
        self,
        home: Path,
        masker: Masker,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        disk: Disk | None = None,
        bounds: LogBounds | None = None,
        runner: LoggedRunner | None = None,
    ) -> None:
        """`runner`: the program that the logs name as their writer."""
        self._home = home
        self._logs = home / "logs"
        self._disk = disk or LogDisk()
        self._bounds = bounds or LogBounds()
        self._masked = MaskedEntries(masker, self._bounds)
        self._room = TaskLogRetention(self._logs, self._disk, now, self._bounds)
        self._outputs = OutputLimits(home, now)
        self._lock = threading.Lock()
        self._written = 0
        self._runner = runner

    async def note(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        """Add entries to the logs of tasks, each once, and update the rest of these logs."""
        await asyncio.to_thread(self._note, session, found)

    async def settle(self, session: Session, task_id: str) -> None:
        """Make sure that the log of a task is on disk, recreating it if it is lost.

        Unavailable: it cannot be written.
        """
        await asyncio.to_thread(self._settled, session, task_id)

    async def read(self, session_id: str) -> tuple[TaskLog, ...]:
        """Return all logs of a session in order of their start, masked with the secrets known now."""
        return await asyncio.to_thread(self._read, session_id)

    async def unsettled(self) -> tuple[str, ...]:
        """Return the ids of sessions with a log that lacks the end of its task."""
        return await asyncio.to_thread(self._unsettled)

    async def tidy(self) -> None:
        """Delete logs that are too old, and the oldest ones if there is no room left."""
        await asyncio.to_thread(self._tidied)

    def _note(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        tasks = [task for task in session.tasks if task.id in found]
        if not tasks:
            return
        with self._lock, self._plainly():
            directory = self._made(session.id)
            index = read_model(self._disk, directory / INDEX, TaskLogIndex)
            if index is None:
                tasks = [task for task in session.tasks if task_logs.is_logged(session, task)]
            known = {one.external_task_id: one for one in index.entries} if index else {}
            before = {id: one.status for id, one in known.items()}
            for task in tasks:
                log = self._grown(directory, session, task, found.get(task.id, ()))
                number = (
                    known[task.id].task_id if task.id in known else f"task-{len(known) + 1:03d}"
                )
                file = f"{TASKS}/{file_name(task.id)}.json"
                entry = task_log_views.index_entry(session, task, log, number, file)
                known[task.id] = self._masked.model(entry)
            about = self._masked.model(task_log_views.session_log(session, self._runner))
            self._replace(directory / "session.json", about)
            index = task_log_views.task_log_index(session, tuple(known.values()))
            self._replace(directory / INDEX, index)
            if {id: one.status for id, one in known.items()} != before:
                self._room.update_index(index)
            if self._written > _TIDY_INTERVAL_BYTES:
                self._try_tidy()

    def _settled(self, session: Session, task_id: str) -> None:
        self._note(session, {task_id: ()})
        directory = self._directory(session.id)
        with self._plainly():
            for name in (f"{TASKS}/{file_name(task_id)}.json", INDEX):
                Disk().sync_file(directory / name)

    def _read(self, session_id: str) -> tuple[TaskLog, ...]:
        with self._plainly():
            directory = self._directory(session_id)
            index = read_model(self._disk, directory / INDEX, TaskLogIndex)
            files = [entry.log_file for entry in index.entries] if index else []
            logs = [read_model(self._disk, directory / file, TaskLog) for file in files]
        return tuple(self._masked.model(log) for log in logs if log)

    def _unsettled(self) -> tuple[str, ...]:
        with self._plainly():
            indexes = self._room.indexes()
        return tuple(
            index.session_id
            for index in indexes
            if any(entry.completed_at is None for entry in index.entries)
        )

    def _tidied(self) -> None:
        with self._lock, self._plainly():
            self._tidy()

    def _try_tidy(self) -> None:
        # Errors are only logged, because the entries themselves were written.
        try:
            self._tidy()
        except OSError as error:
            log.warning("not tidied up", extra={"data": {"why": str(error)}})

    def _tidy(self) -> None:
        self._written = 0
        self._room.tidy()
        self._outputs.tidy()

    def _grown(
        self, directory: Path, session: Session, task: Task, new: Sequence[LogEntry]
    ) -> TaskLog:
        path = directory / TASKS / (file_name(task.id) + ".json")
        old = read_model(self._disk, path, TaskLog)
        fresh = self._masked.entries(task_log_entries.missing_entries(session, task, old, new))
        events = task_log_entries.in_order([*(old.events if old else ()), *fresh])
        kept, gone = task_logs.entries_within(events, self._bounds.task * 9 // 10)
        dropped = gone + (old.dropped if old else 0)
        head = task_log_views.shortened_log(
            self._masked.model(task_log_views.task_log(session, task, (), dropped))
        )
        log = task_log_views.with_events(head, task, kept)
        if task_logs.entry_size(log) > self._bounds.task:
            log = task_log_views.minimal_log(log)
        if log != old:
            self._replace(path, log)
        return log

    def _made(self, session_id: str) -> Path:
        directory = self._directory(session_id)
        for one in (self._home, self._logs, self._logs / "sessions", directory):
            make_private(one)
        make_private(directory / TASKS)
        return directory

    def _directory(self, session_id: str) -> Path:
        return self._logs / "sessions" / file_name(session_id)

    def _replace(self, path: Path, model: BaseModel) -> None:
        content = model.model_dump_json().encode("utf-8", "replace")
        self._disk.replace(path, content)
        self._written += len(content)

    @contextmanager
    def _plainly(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise disk_error(error, self._home) from error


# Limits on logs: old ones are removed, then the oldest sessions; of a session that is too large the oldest logs are
# reduced to their ends.

INDEX = "index.json"
M = TypeVar("M", bound=BaseModel)
_FIRST, _NEXT, _LAST = b"[\n", b",\n", b"\n]\n"
"""Around the indexes of all sessions, one per line."""


class _Logs(NamedTuple):
    """The logs of one session."""

    directory: Path
    last: datetime
    bytes: int


class TaskLogRetention:
    def __init__(
        self, logs: Path, disk: Disk, now: Callable[[], datetime], bounds: LogBounds
    ) -> None:
        self._logs = logs
        self._sessions = logs / "sessions"
        self._disk = disk
        self._now = now
        self._bounds = bounds

    def indexes(self) -> list[TaskLogIndex]:
        """Return the readable indexes of all sessions."""
        found = [read_model(self._disk, path / INDEX, TaskLogIndex) for path in self._directories()]
        return [index for index in found if index]

    def tidy(self) -> None:
        if not self._sessions.is_dir():
            return
        oldest_first = sorted(map(_measured, self._directories()), key=lambda one: one.last)
        total = sum(one.bytes for one in oldest_first)
        for one in oldest_first:
            if one.last < self._now() - self._bounds.age or total > self._bounds.all:
                shutil.rmtree(one.directory)
                total -= one.bytes
            elif one.bytes > self._bounds.session:
                total -= self._shrink(one)
        make_private(self._logs)
        self._write(list(map(_line, self.indexes())))

    def update_index(self, index: TaskLogIndex) -> None:
        """Replace a session's line in the index of all sessions. The other lines are copied without being parsed."""
        begins = index.model_dump_json(include={"session_id"}).removesuffix("}").encode()
        others = [one for one in self._lines() if not one.startswith(begins + b",")]
        self._write([*others, _line(index)])

    def _lines(self) -> list[bytes]:
        try:
            content = self._disk.read(self._logs / INDEX)
        except FileNotFoundError:
            content = b""
        if not (content.startswith(_FIRST) and content.endswith(_LAST)):
            return list(map(_line, self.indexes()))
        lines = content.removeprefix(_FIRST).removesuffix(_LAST).split(_NEXT)
        return [line for line in lines if line]

    def _write(self, lines: list[bytes]) -> None:
        self._disk.replace(self._logs / INDEX, _FIRST + _NEXT.join(lines) + _LAST)

    def _directories(self) -> list[Path]:
        if not self._sessions.is_dir():
            return []
        return sorted(path for path in self._sessions.iterdir() if path.is_dir())

    def _shrink(self, logs: _Logs) -> int:
        """Shorten the oldest logs, one of which remains for every task; return the bytes freed."""
        freed = 0
        paths = (logs.directory / "tasks").glob("*.json")
        for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns):
            if logs.bytes - freed <= self._bounds.session:
                break
            log = read_model(self._disk, path, TaskLog)
            before = path.stat().st_size
            if log is not None:
                self._disk.replace(
                    path, minimal_log(log).model_dump_json().encode("utf-8", "replace")
                )
                freed += before - path.stat().st_size
        return freed


def _line(index: TaskLogIndex) -> bytes:
    return index.model_dump_json().encode("utf-8", "replace")


def read_model(disk: Disk, path: Path, kind: type[M]) -> M | None:
    """Return None if it is missing or invalid; everything here is derived from sessions and made again."""
    try:
        return kind.model_validate_json(disk.read(path))
    except (FileNotFoundError, ValidationError):
        return None


def _measured(directory: Path) -> _Logs:
    for left in directory.rglob(f"*{TEMPORARY_SUFFIX}"):
        left.unlink()  # left by a write that was never finished
    files = [path.stat() for path in directory.rglob("*") if path.is_file()]
    last = max((file.st_mtime for file in files), default=directory.stat().st_mtime)
    return _Logs(directory, datetime.fromtimestamp(last, UTC), sum(file.st_size for file in files))


# Makes entries safe to be written: masked first and then cut, because half a secret is not recognised.

_DROPPED_AT_CUT = 8192
"""Characters dropped after a cut made before masking."""
_HIDDEN: dict[str, JsonValue] = {"hidden": "it could not be masked"}


class MaskedEntries:
    def __init__(self, masker: Masker, bounds: LogBounds) -> None:
        self._masker = masker
        self._bounds = bounds

    def model(self, model: M) -> M:
        return self._masker.mask_model(model, personal=True)

    def entries(self, entries: Iterable[LogEntry]) -> list[LogEntry]:
        return [self._entry(entry) for entry in entries]

    def _entry(self, entry: LogEntry) -> LogEntry:
        try:
            content = {key: self._cut(value) for key, value in entry.content.items()}
            content = self._masker.mask_model(content, personal=True)
        except Exception:
            # on any error: an entry that is not masked is not written, but the others are
            log.exception("a log entry could not be masked", extra={"data": {"id": entry.id}})
            content = _HIDDEN
        return truncated_entry(entry.model_copy(update={"content": content}), self._bounds.entry)

    def _cut(self, value: JsonValue) -> JsonValue:
        # Masking takes time, so of a text that will be cut only the part that can remain is masked.
        if isinstance(value, list):
            return [self._cut(inner) for inner in value]
        if isinstance(value, dict):
            return {key: self._cut(inner) for key, inner in value.items()}
        longest = self._bounds.entry + _DROPPED_AT_CUT
        if not isinstance(value, str) or len(value) <= longest:
            return value
        return self._masker.mask_personal(value[:longest])[:-_DROPPED_AT_CUT] + TRUNCATED

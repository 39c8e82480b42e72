"""Logs of tasks on disk, in the layout other programs know. They are drawn from sessions, so what is lost or broken is made again.

    logs/index.json                         the indexes of all sessions
    logs/sessions/<session>/session.json    the session itself
    logs/sessions/<session>/index.json      its logs
    logs/sessions/<session>/tasks/<id>.json one log

Each file is replaced as a whole: killed at any moment, a log may lack its last entries, but is never broken. What was noted of
a task is there after a power cut, too.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from adapters.store.disk import Disk, make_private, unavailable
from adapters.store.folder import file_name
from adapters.store.outputs import Outputs
from adapters.store.tasklogs_masked import Masked
from adapters.store.tasklogs_room import INDEX, Room, read_model
from bot.domain import tasklog
from bot.domain.masking import Masker
from bot.domain.session import Session
from bot.domain.tasklog import Bounds, LogEntry, Runner, TaskLog, TaskLogIndex
from bot.domain.tasks import Task

log = logging.getLogger(__name__)

TASKS = "tasks"
_TIDY_AFTER = 8_000_000
"""Bytes written, until it is looked whether there is still room."""


class LogDisk(Disk):
    """Waits for the disk with the log of a task; indexes and `session.json` can be made from the session again at any time.

    Measured on ext4: 0.2 ms without, 2 ms with it for each batch of entries, in a thread that nobody waits for.
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
        bounds: Bounds | None = None,
        runner: Runner | None = None,
    ) -> None:
        """`runner`: what the logs say of the program that writes them."""
        self._home = home
        self._logs = home / "logs"
        self._disk = disk or LogDisk()
        self._bounds = bounds or Bounds()
        self._masked = Masked(masker, self._bounds)
        self._room = Room(self._logs, self._disk, now, self._bounds)
        self._outputs = Outputs(home, now)
        self._lock = threading.Lock()
        self._written = 0
        self._runner = runner

    async def note(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        """Add entries to the logs of tasks, each once, and bring the rest of these logs up to date."""
        await asyncio.to_thread(self._note, session, found)

    async def settle(self, session: Session, task_id: str) -> None:
        """Have the log of a task on the disk for good, made again if it is lost. Unavailable: it cannot be written."""
        await asyncio.to_thread(self._settled, session, task_id)

    async def read(self, session_id: str) -> tuple[TaskLog, ...]:
        """All logs of a session, in the order in which they were begun, masked by what is known now."""
        return await asyncio.to_thread(self._read, session_id)

    async def unsettled(self) -> tuple[str, ...]:
        """Ids of sessions with a log that does not tell of its task's end."""
        return await asyncio.to_thread(self._unsettled)

    async def tidy(self) -> None:
        """Let go of what is too old, and of the oldest where there is no room left."""
        await asyncio.to_thread(self._tidied)

    def _note(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        tasks = [task for task in session.tasks if task.id in found]
        if not tasks:
            return
        with self._lock, self._plainly():
            directory = self._made(session.id)
            index = read_model(self._disk, directory / INDEX, TaskLogIndex)
            if index is None:
                tasks = [task for task in session.tasks if tasklog.is_logged(session, task)]
            known = {one.external_task_id: one for one in index.entries} if index else {}
            before = {id: one.status for id, one in known.items()}
            for task in tasks:
                log = self._grown(directory, session, task, found.get(task.id, ()))
                number = (
                    known[task.id].task_id if task.id in known else f"task-{len(known) + 1:03d}"
                )
                file = f"{TASKS}/{file_name(task.id)}.json"
                entry = tasklog.index_entry(session, task, log, number, file)
                known[task.id] = self._masked.model(entry)
            about = self._masked.model(tasklog.session_log(session, self._runner))
            self._replace(directory / "session.json", about)
            index = tasklog.index(session, tuple(known.values()))
            self._replace(directory / INDEX, index)
            if {id: one.status for id, one in known.items()} != before:
                self._room.enter(index)
            if self._written > _TIDY_AFTER:
                self._tidy_besides()

    def _settled(self, session: Session, task_id: str) -> None:
        self._note(session, {task_id: ()})
        directory = self._directory(session.id)
        with self._plainly():
            for name in (f"{TASKS}/{file_name(task_id)}.json", INDEX):
                Disk().settle(directory / name)

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

    def _tidy_besides(self) -> None:
        """What was to be noted is: nobody is told that it could not be, should this not work."""
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
        fresh = self._masked.entries(tasklog.missing(session, task, old, new))
        events = tasklog.in_order([*(old.events if old else ()), *fresh])
        kept, gone = tasklog.within(events, self._bounds.task * 9 // 10)
        dropped = gone + (old.dropped if old else 0)
        head = tasklog.shortened(self._masked.model(tasklog.task_log(session, task, (), dropped)))
        log = tasklog.with_events(head, task, kept)
        if tasklog.size(log) > self._bounds.task:
            log = tasklog.slim(log)
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
            raise unavailable(error, self._home) from error

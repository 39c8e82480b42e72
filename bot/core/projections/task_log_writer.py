"""Writes the logs of tasks in the background.

Nobody waits for it, and failures are only logged: anything missed (a kill, a full disk) is written with the task's next
entry.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.core.errors import PortError
from bot.core.events import Event
from bot.core.projections.task_log_entries import log_entries
from bot.core.projections.task_logs import FINISHED_STATES, LogEntry, TaskLog, is_logged
from bot.core.session import Session
from bot.ports import Logs

log = logging.getLogger("bot.logbook")

MAX_WAITING_ENTRIES = 20_000
"""Most entries of a session that wait to be written; further ones are dropped."""
TRIES = 3


@dataclass
class _Waiting:
    """What is still to be written of a session."""

    session: Session
    found: dict[str, list[LogEntry]] = field(default_factory=dict[str, list[LogEntry]])

    def add(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        self.session = session
        for task_id, new in found.items():
            self.found.setdefault(task_id, []).extend(new)


class TaskLogWriter:
    def __init__(self, logs: Logs, *, most: int = MAX_WAITING_ENTRIES) -> None:
        self._logs = logs
        self._most = most
        self._waiting: dict[str, _Waiting] = {}
        self._writing: asyncio.Task[None] | None = None

    def note(self, before: Session, event: Event, after: Session) -> None:
        """Queue the log entries of a decided event. Returns at once and never raises."""
        try:
            found = log_entries(before, event, after)
        except Exception:
            # the work goes on, whatever is wrong with its logs
            log.exception("not logged", extra={"data": {"event": event.kind, "id": after.id}})
            return
        if found:
            self._add(after, found)

    async def catch_up(
        self, sessions: Iterable[Session], find: Callable[[str], Session | None] = lambda _: None
    ) -> None:
        """At the start, tidy up and write what the previous run of the bot did not.

        `sessions` are the unfinished ones; `find` returns the others.
        """
        open_ones = {session.id: session for session in sessions}
        await self._attempt("tidy", self._logs.tidy)
        over = [find(name) for name in await self._unsettled() if name not in open_ones]
        for session in [*open_ones.values(), *(one for one in over if one)]:
            tasks = [task for task in session.tasks if is_logged(session, task)]
            if tasks:
                self._add(session, {task.id: [] for task in tasks})

    async def settle(self, session: Session) -> dict[str, PortError]:
        """At the end, check that the logs are complete.

        Return the ids of finished tasks whose log cannot be stored, with the error.
        """
        await self.written()
        lost: dict[str, PortError] = {}
        for task in (task for task in session.tasks if task.state in FINISHED_STATES):
            try:
                await self._logs.settle(session, task.id)
            except PortError as trouble:
                log.warning("no log", extra={"data": {"task": task.id, "why": trouble.reason}})
                lost[task.id] = trouble
        return lost

    async def read(self, session_id: str) -> tuple[TaskLog, ...]:
        """Return the logs with everything queued so far. Raises PortError."""
        await self.written()
        return await self._logs.read(session_id)

    async def written(self) -> None:
        """Wait until everything queued so far is written, or could not be."""
        if self._writing is not None:
            await asyncio.wait([self._writing])

    async def close(self) -> None:
        """Write what is queued, and retry once what could not be written before."""
        await self.written()
        self._begin()
        await self.written()

    def _add(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        waiting = self._waiting.setdefault(session.id, _Waiting(session))
        if sum(len(new) for new in waiting.found.values()) > self._most:
            log.warning("log entries were dropped", extra={"data": {"id": session.id}})
            waiting.found = {task_id: [] for task_id in waiting.found}
        waiting.add(session, found)
        self._begin()

    def _begin(self) -> None:
        if self._waiting and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write(), name="logbook")

    async def _write(self) -> None:
        # Stops when nothing is queued, or when nothing can be written now; then the next note tries again.
        while self._waiting:
            session_id = next(iter(self._waiting))
            waiting = self._waiting.pop(session_id)
            if not await self._write_entries(waiting):
                newer = self._waiting.pop(session_id, None)
                if newer:
                    waiting.add(newer.session, newer.found)
                self._waiting[session_id] = waiting
                return

    async def _write_entries(self, waiting: _Waiting) -> bool:
        for number in range(TRIES):
            if await self._attempt("note", lambda: self._logs.note(waiting.session, waiting.found)):
                return True
            await asyncio.sleep(0.01 * number)
        return False

    async def _unsettled(self) -> tuple[str, ...]:
        try:
            return await self._logs.unsettled()
        except PortError as trouble:
            log.warning("not caught up", extra={"data": {"why": trouble.reason}})
            return ()

    async def _attempt(self, what: str, work: Callable[[], Awaitable[None]]) -> bool:
        """Do the work. Return `False` if it may succeed later; after a bug it is logged and dropped."""
        try:
            await work()
        except PortError as trouble:
            log.warning("not logged", extra={"data": {"what": what, "why": trouble.reason}})
            return False
        except Exception:
            # the work goes on, see `note`
            log.exception("not logged", extra={"data": {"what": what}})
        return True

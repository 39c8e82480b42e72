"""Writes the logs of tasks in the background.

Nobody waits for it, and a failure is only logged: what was lost (a kill, a full disk) is made good by the next note of the task.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.core.errors import PortError
from bot.core.events import Event
from bot.core.projections.task_log_entries import log_entries
from bot.core.projections.task_logs import OVER, LogEntry, TaskLog, is_logged
from bot.core.session import Session
from bot.ports import Logs

log = logging.getLogger("bot.logbook")

MOST = 20_000
"""Entries of a session that wait to be written. More are not kept."""
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
    def __init__(self, logs: Logs, *, most: int = MOST) -> None:
        self._logs = logs
        self._most = most
        self._waiting: dict[str, _Waiting] = {}
        self._writing: asyncio.Task[None] | None = None

    def note(self, before: Session, event: Event, after: Session) -> None:
        """What a decided event means for the logs. Returns at once, and never fails."""
        try:
            found = log_entries(before, event, after)
        except Exception:
            # the logbook's edge: the work goes on, whatever is wrong with what is said about it
            log.exception("not logged", extra={"data": {"event": event.kind, "id": after.id}})
            return
        if found:
            self._add(after, found)

    async def catch_up(
        self, sessions: Iterable[Session], find: Callable[[str], Session | None] = lambda _: None
    ) -> None:
        """At the start: tidy, then make good what the last life of the bot did not come to write.

        `sessions` are those that are not over; `find` knows the others.
        """
        open_ones = {session.id: session for session in sessions}
        await self._tried("tidy", self._logs.tidy)
        over = [find(name) for name in await self._unsettled() if name not in open_ones]
        for session in [*open_ones.values(), *(one for one in over if one)]:
            tasks = [task for task in session.tasks if is_logged(session, task)]
            if tasks:
                self._add(session, {task.id: [] for task in tasks})

    async def settle(self, session: Session) -> dict[str, PortError]:
        """At the end nothing is taken on trust: the ids of tasks that are over and whose log cannot be kept, and why."""
        await self.written()
        lost: dict[str, PortError] = {}
        for task in (task for task in session.tasks if task.state in OVER):
            try:
                await self._logs.settle(session, task.id)
            except PortError as trouble:
                log.warning("no log", extra={"data": {"task": task.id, "why": trouble.reason}})
                lost[task.id] = trouble
        return lost

    async def read(self, session_id: str) -> tuple[TaskLog, ...]:
        """The logs with everything noted so far. Raises PortError."""
        await self.written()
        return await self._logs.read(session_id)

    async def written(self) -> None:
        """Returns when what was noted so far is written, or could not be."""
        if self._writing is not None:
            await asyncio.wait([self._writing])

    async def close(self) -> None:
        """What could not be written before is tried once more."""
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
        """Until nothing waits any more, or nothing can be written now: then the next note tries again."""
        while self._waiting:
            session_id = next(iter(self._waiting))
            waiting = self._waiting.pop(session_id)
            if not await self._noted(waiting):
                newer = self._waiting.pop(session_id, None)
                if newer:
                    waiting.add(newer.session, newer.found)
                self._waiting[session_id] = waiting
                return

    async def _noted(self, waiting: _Waiting) -> bool:
        for number in range(TRIES):
            if await self._tried("note", lambda: self._logs.note(waiting.session, waiting.found)):
                return True
            await asyncio.sleep(0.01 * number)
        return False

    async def _unsettled(self) -> tuple[str, ...]:
        try:
            return await self._logs.unsettled()
        except PortError as trouble:
            log.warning("not caught up", extra={"data": {"why": trouble.reason}})
            return ()

    async def _tried(self, what: str, work: Callable[[], Awaitable[None]]) -> bool:
        """False: it may work later. A bug is told, and what it was about let go."""
        try:
            await work()
        except PortError as trouble:
            log.warning("not logged", extra={"data": {"what": what, "why": trouble.reason}})
            return False
        except Exception:
            # the logbook's edge: see `note`
            log.exception("not logged", extra={"data": {"what": what}})
        return True

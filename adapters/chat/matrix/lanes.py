"""A lane for each room: one thing after the other within, no waiting for other rooms.

What came together is done when its last part is; only then, and in order, is its token committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

Work = Callable[[], Awaitable[None]]
Commit = Callable[[str], Awaitable[None]]

_MOST = 200
"""Works under way. With more of them nothing new is fetched: the homeserver keeps it better than the memory."""


class Lanes:
    def __init__(self, tasks: asyncio.TaskGroup, commit: Commit) -> None:
        self._tasks, self._commit = tasks, commit
        self._last: dict[str, asyncio.Task[None]] = {}
        """The end of each lane that is not empty."""
        self._committing: asyncio.Task[None] | None = None
        self._under_way = 0
        self._eased = asyncio.Event()

    async def put(self, token: str, works: Iterable[tuple[str, Work]]) -> None:
        """Begin the works, by room. Returns at once unless there is too much under way."""
        while self._under_way >= _MOST:
            self._eased.clear()
            await self._eased.wait()
        begun = [self._begin(room, work) for room, work in works]
        self._committing = self._tasks.create_task(self._finish(self._committing, begun, token))

    def _begin(self, room: str, work: Work) -> asyncio.Task[None]:
        self._under_way += 1
        task = self._tasks.create_task(self._follow(self._last.get(room), work))
        self._last[room] = task
        task.add_done_callback(lambda done: self._ended(room, done))
        return task

    async def _follow(self, before: asyncio.Task[None] | None, work: Work) -> None:
        if before:
            await before
        await work()

    async def _finish(
        self, before: asyncio.Task[None] | None, begun: list[asyncio.Task[None]], token: str
    ) -> None:
        if before:
            await before
        for task in begun:
            await task
        await self._commit(token)

    def _ended(self, room: str, task: asyncio.Task[None]) -> None:
        if self._last.get(room) is task:
            del self._last[room]
        self._under_way -= 1
        self._eased.set()

"""A clock whose time moves only when the test moves it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from uuid import UUID

_BEGIN = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)
_ROUNDS = 50
"""How many times the others get their turn after each moment: enough for chains of awaits."""


class FakeClock:
    """The `Clock` port in virtual time; its ids are valid, and the same in every run."""

    def __init__(self, now: datetime = _BEGIN) -> None:
        self._now = now
        self._passed: float = 0.0
        self._ids = 0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self.slept: list[float] = []
        """Every sleep anybody asked for, in order."""

    def now(self) -> datetime:
        return self._now

    def new_id(self) -> str:
        self._ids += 1
        # Counted at the front too: a session is shown by the first eight digits of its id.
        return str(UUID(int=self._ids << 96 | self._ids, version=4))

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self._until(self._passed + seconds)

    async def every(self, seconds: float, name: str) -> AsyncGenerator[datetime, None]:
        due = self._passed + seconds
        while True:
            await self._until(due)
            yield self._now
            # Ticks missed while the last one was worked on are not made up for.
            due += seconds * (1 + max(0, int((self._passed - due) / seconds)))

    async def advance(self, seconds: float) -> None:
        """Let time pass: who sleeps wakes in the order of time, and does its work before the next does."""
        end = self._passed + seconds
        await _let_work()
        while self._sleepers and self._sleepers[0][0] <= end:
            moment, _, woken = heapq.heappop(self._sleepers)
            if woken.done():  # its sleeper was cancelled
                continue
            self._pass_to(moment)
            woken.set_result(None)
            await _let_work()
        self._pass_to(end)

    def _pass_to(self, moment: float) -> None:
        moment = max(moment, self._passed)
        self._now += timedelta(seconds=moment - self._passed)
        self._passed = moment

    async def _until(self, moment: float) -> None:
        if moment <= self._passed:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (moment, next(self._order), woken))
        await woken


async def _let_work() -> None:
    for _ in range(_ROUNDS):
        await asyncio.sleep(0)

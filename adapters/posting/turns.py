"""Whose turn it is to write into a channel: one at a time, the urgent first, the others as they came, and not too fast.

Whoever has the turn and is told by the platform to wait, waits with the turn in hand: nobody overtakes.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Waiting = tuple[int, int, asyncio.Future[None]]


@dataclass
class _Channel:
    busy: bool = False
    waiting: list[Waiting] = field(default_factory=list[Waiting])
    allowed: float = 0.0
    """How many messages may be written at once, as of `since`."""
    since: float = 0.0


class Turns:
    """`burst` messages at once, then one every `seconds`. Both 0: as fast as the platform takes them."""

    def __init__(self, *, burst: int = 0, seconds: float = 0.0) -> None:
        self._burst = max(1, burst)
        self._seconds = seconds
        self._channels: dict[str, _Channel] = {}
        self._numbers = itertools.count()

    @asynccontextmanager
    async def turn(self, channel: str, urgency: int) -> AsyncGenerator[None, None]:
        """Wait for the turn, and have it."""
        place = self._channels.setdefault(channel, _Channel(allowed=self._burst))
        await self._reach(place, urgency)
        try:
            await self._slow_down(place)
            yield
        finally:
            self._pass_on(channel, place)

    async def _reach(self, place: _Channel, urgency: int) -> None:
        if not place.busy:
            place.busy = True
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(place.waiting, (urgency, next(self._numbers), mine))
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._call_next(place)  # it was called in the very moment it left
            raise

    def _call_next(self, place: _Channel) -> None:
        while place.waiting:
            _, _, following = heapq.heappop(place.waiting)
            if not following.done():
                following.set_result(None)
                return
        place.busy = False

    def _pass_on(self, channel: str, place: _Channel) -> None:
        self._call_next(place)
        if not place.busy and not self._seconds:
            del self._channels[channel]

    async def _slow_down(self, place: _Channel) -> None:
        if not self._seconds:
            return
        now = asyncio.get_running_loop().time()
        gained = (now - place.since) / self._seconds if place.since else self._burst
        place.allowed, place.since = min(self._burst, place.allowed + gained), now
        if place.allowed < 1:
            await asyncio.sleep((1 - place.allowed) * self._seconds)
            place.allowed, place.since = 1, asyncio.get_running_loop().time()
        place.allowed -= 1

"""One line for all that an account sends while the homeserver limits it, in whatever room: the urgent first.

A homeserver counts per account. As long as it sets no limit nobody waits here for anybody.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from bot.errors import Unavailable

T = TypeVar("T")

BREATH = 1.0
"""Seconds in which whoever was served may have more to say, before those have a turn who come after everybody."""


@dataclass(frozen=True)
class Bounds:
    """For how long somebody waits."""

    once: float = 60.0
    """Seconds. Told to wait longer, whoever sends waits elsewhere."""
    altogether: float = 600.0


class Line:
    def __init__(self) -> None:
        self._free_from = 0.0
        """When the homeserver takes something again, as the loop counts time."""
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._served = False
        """One of the line is being served."""
        self._last = -BREATH
        """When somebody of the line was served last."""
        self._patient: list[asyncio.Future[None]] = []
        """Those who come after everybody."""
        self._bell: asyncio.TimerHandle | None = None

    @property
    def moves(self) -> bool:
        """Nobody has to wait now."""
        return not (self._waiting or self._served or self._left() > 0)

    @property
    def is_calm(self) -> bool:
        """And it is not only that the next one draws breath."""
        return self.moves and self._calm_in() <= 0

    async def through(
        self, urgency: int, call: Callable[[], Awaitable[T]], bounds: Bounds = Bounds()
    ) -> T:
        """Call as often as the homeserver says that this must wait; a place among equals is kept meanwhile."""
        number, waited = next(self._numbers), 0.0
        while True:
            in_line = not self.moves
            if in_line:
                await self._reach(urgency, number)
            try:
                return await call()
            except Unavailable as error:
                wait = error.retry_after
                if wait is None or wait > bounds.once or waited + wait > bounds.altogether:
                    raise
                self.hold(wait)
                waited += wait or 1.0
            finally:
                if in_line:
                    self._served = False
                    self._last = asyncio.get_running_loop().time()
                    self._call_next()

    def hold(self, seconds: float) -> None:
        """The homeserver takes nothing for so long."""
        self._free_from = max(self._free_from, asyncio.get_running_loop().time() + seconds)

    async def quiet(self) -> None:
        """Until it is calm."""
        while not self.is_calm:
            mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._patient.append(mine)
            self._call_next()
            await mine

    async def _reach(self, urgency: int, number: int) -> None:
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (urgency, number, mine))
        self._call_next()
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                # it was called in the very moment it left
                self._served = False
            self._call_next()
            raise

    def _call_next(self) -> None:
        if self._bell:
            self._bell.cancel()
            self._bell = None
        while self._waiting and self._waiting[0][2].done():
            heapq.heappop(self._waiting)
        if self._served or not (self._waiting or self._patient):
            return
        left = self._left() if self._waiting else max(self._left(), self._calm_in())
        if left > 0:
            self._bell = asyncio.get_running_loop().call_later(left, self._call_next)
            return
        if self._waiting:
            *_, following = heapq.heappop(self._waiting)
            self._served = True
            following.set_result(None)
            return
        patient, self._patient = self._patient, []
        for one in patient:
            if not one.done():
                one.set_result(None)

    def _left(self) -> float:
        return self._free_from - asyncio.get_running_loop().time()

    def _calm_in(self) -> float:
        return self._last + BREATH - asyncio.get_running_loop().time()

"""The clock port: the wall clock says what time it is, the monotonic clock how much has passed; neither runs backwards.

APScheduler keeps the ticks: who wants one, how often, none twice, missed ones made one. It reckons by the wall clock,
though, and falls silent for an hour when that is set back an hour. So its triggers here ask the monotonic clock, and a
watcher makes it reckon anew when the two clocks have come apart.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger

_JUMP = 5.0
"""Seconds by which the clocks may differ before it is called a jump."""
_EARLY = 1.0
"""Seconds a tick may come early: the wall clock is slewed a little all the time."""


class SystemClock:
    """The `Clock` port. `zone` and `monotonic` are where time comes from; tests hand in ones that jump."""

    def __init__(
        self,
        *,
        zone: tzinfo = UTC,
        monotonic: Callable[[], float] = time.monotonic,
        watch: float = 1.0,
    ) -> None:
        self._zone = zone
        self._monotonic = monotonic
        self._watch = watch
        self._latest = datetime.min.replace(tzinfo=UTC)
        self.scheduler: AsyncIOScheduler | None = None
        """What ticks; None while nobody wants ticks."""
        self._watcher: asyncio.Task[None] | None = None

    def now(self) -> datetime:
        """The time in UTC, never before one that was told already: records are compared by it."""
        self._latest = max(self._latest, self._wall())
        return self._latest

    def new_id(self) -> str:
        return str(uuid.uuid4())

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def every(self, seconds: float, name: str) -> AsyncGenerator[datetime, None]:
        """A tick every so many seconds, the first after that time. Who is slow misses some, and gets one for all."""
        cadence = Cadence(seconds, self._monotonic)
        tick = _Tick(cadence)
        scheduler = self._running()
        # misfire_grace_time: a tick that is late is still wanted; by default it is dropped after one second.
        job = scheduler.add_job(
            tick.fire, cadence, name=name, misfire_grace_time=None, coalesce=True
        )
        try:
            while True:
                await tick.fired.wait()
                tick.fired.clear()
                yield self.now()
        finally:
            job.remove()
            if not scheduler.get_jobs():
                await self._close()

    async def _close(self) -> None:
        """Nobody wants ticks any more. The next `every` starts anew, perhaps in another event loop."""
        scheduler, self.scheduler = self.scheduler, None
        watcher, self._watcher = self._watcher, None
        if scheduler is not None:
            scheduler.shutdown(wait=False)
        if watcher is not None:
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)

    def _wall(self) -> datetime:
        return datetime.now(self._zone).astimezone(UTC)

    def _running(self) -> AsyncIOScheduler:
        if self.scheduler is None:
            self.scheduler = AsyncIOScheduler(timezone=self._zone)
            self.scheduler.start()
            self._watcher = asyncio.create_task(self._notice_jumps(self.scheduler))
        return self.scheduler

    async def _notice_jumps(self, scheduler: AsyncIOScheduler) -> None:
        """A suspended machine, a corrected clock: the wall clock leaps, what is left of each wait does not."""
        apart = self._apart()
        while True:
            await asyncio.sleep(self._watch)
            if abs(self._apart() - apart) > _JUMP:
                apart = self._apart()
                for job in scheduler.get_jobs():
                    job.reschedule(job.trigger)

    def _apart(self) -> float:
        return self._wall().timestamp() - self._monotonic()


class Cadence(BaseTrigger):
    """When a tick is due, by the monotonic clock, put as a time of the wall clock's."""

    def __init__(self, seconds: float, monotonic: Callable[[], float]) -> None:
        self.due = monotonic() + seconds
        self._seconds = seconds
        self._monotonic = monotonic

    def get_next_fire_time(
        self, previous_fire_time: datetime | None, now: datetime
    ) -> Any:  # the library does not say what it wants: a datetime
        """Asked twice per tick, so it moves on only when the time has come; and past all ticks that were missed."""
        left = self.due - self._monotonic()
        if previous_fire_time is not None and left <= min(_EARLY, self._seconds / 2):
            missed = max(0, int(-left / self._seconds))
            self.due += self._seconds * (missed + 1)
            left = self.due - self._monotonic()
        return now + timedelta(seconds=max(left, 0.001))


class _Tick:
    """What the scheduler calls: passed on only if the cadence says that the time had come."""

    def __init__(self, cadence: Cadence) -> None:
        self.fired = asyncio.Event()
        self._cadence = cadence
        self._waiting_for = cadence.due

    async def fire(self) -> None:
        if self._cadence.due != self._waiting_for:
            self._waiting_for = self._cadence.due
            self.fired.set()

"""The clock port: the wall clock gives the time, the monotonic clock measures intervals; the reported time never runs
backwards.

APScheduler provides the ticks: interval, no duplicates, missed ones merged. It uses the wall clock, though, and would
be silent for an hour if that is set back an hour. So its triggers here use the monotonic clock, and a watcher
reschedules when the two clocks have drifted apart.
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

_JUMP_SECONDS = 5.0
"""Seconds by which the clocks may drift apart before it counts as a jump."""
_EARLY_SECONDS = 1.0
"""Seconds a tick may come early, because the wall clock is constantly adjusted a little."""


class SystemClock:
    """The `Clock` port. `zone` and `monotonic`: time sources, which tests replace by ones that jump."""

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
        """None while there are no subscribers."""
        self._watcher: asyncio.Task[None] | None = None

    def now(self) -> datetime:
        """Return the time in UTC, never earlier than a time returned before, because records are ordered by it."""
        self._latest = max(self._latest, self._wall())
        return self._latest

    def new_id(self) -> str:
        return str(uuid.uuid4())

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def every(self, seconds: float, name: str) -> AsyncGenerator[datetime, None]:
        """Yield a tick every so many seconds, the first after that interval.

        A slow consumer gets one tick for all it missed.
        """
        cadence = Cadence(seconds, self._monotonic)
        tick = _Tick(cadence)
        scheduler = self._running()
        # misfire_grace_time: a late tick is still wanted; by default it is dropped after one second
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
        """Stop the scheduler. The next `every` starts a new one, perhaps in another event loop."""
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
        # When the machine was suspended or the clock corrected, the wall clock jumps, but the remaining waits do not
        # change.
        apart = self._apart()
        while True:
            await asyncio.sleep(self._watch)
            if abs(self._apart() - apart) > _JUMP_SECONDS:
                apart = self._apart()
                for job in scheduler.get_jobs():
                    job.reschedule(job.trigger)

    def _apart(self) -> float:
        return self._wall().timestamp() - self._monotonic()


class Cadence(BaseTrigger):
    """Computes from the monotonic clock when a tick is due, as a wall clock time."""

    def __init__(self, seconds: float, monotonic: Callable[[], float]) -> None:
        self.due = monotonic() + seconds
        self._seconds = seconds
        self._monotonic = monotonic

    def get_next_fire_time(
        self, previous_fire_time: datetime | None, now: datetime
    ) -> Any:  # the library does not annotate it: a datetime
        # Called twice per tick, so it advances only when the time has come, and then past all missed ticks.
        left = self.due - self._monotonic()
        if previous_fire_time is not None and left <= min(_EARLY_SECONDS, self._seconds / 2):
            missed = max(0, int(-left / self._seconds))
            self.due += self._seconds * (missed + 1)
            left = self.due - self._monotonic()
        return now + timedelta(seconds=max(left, 0.001))


class _Tick:
    """Called by the scheduler; it passes a tick on only if the cadence says that it is due."""

    def __init__(self, cadence: Cadence) -> None:
        self.fired = asyncio.Event()
        self._cadence = cadence
        self._due = cadence.due

    async def fire(self) -> None:
        if self._cadence.due != self._due:
            self._due = self._cadence.due
            self.fired.set()

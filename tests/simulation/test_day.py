"""The cadence of the live status while clocks jump and the machine sleeps; and a whole day of work, which leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from contextlib import aclosing
from datetime import datetime, timedelta, tzinfo
from random import Random

from adapters.clock import SystemClock
from bot.core.people import Thread
from tests.fakes.chat import THREAD
from tests.simulation.hours import Hours
from tests.simulation.loop import VirtualLoop, run
from tests.simulation.people import ANNA
from tests.simulation.ports import BEGIN

CADENCE, SLACK = 120.0, 5.0
JUMPS = (timedelta(hours=1), timedelta(hours=-1), timedelta(hours=8), timedelta(hours=-1))
"""Set on, set back, eight hours of sleep (which only the wall clock notices), and back once more."""
HOURS = 24
EACH = 3600.0


class _Wall(tzinfo):
    """What the wall clock shows, in virtual time."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.loop, self.shift = loop, timedelta(0)

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return timedelta(0)

    def dst(self, dt: datetime | None) -> timedelta:
        return timedelta(0)

    def tzname(self, dt: datetime | None) -> str:
        return "UTC"

    def fromutc(self, dt: datetime) -> datetime:
        now = BEGIN + timedelta(seconds=self.loop.time()) + self.shift
        return now.replace(tzinfo=self)


async def _ticks() -> list[float]:
    """The real clock's, in seconds of the monotonic clock; between them the wall clock is set."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    wall = _Wall(loop)
    clock = SystemClock(zone=wall, monotonic=loop.time)
    for number, jump in enumerate(JUMPS, 1):
        loop.call_later(number * 500.0, _set, wall, jump)
    ticked: list[float] = []
    async with aclosing(clock.every(CADENCE, "status")) as every:
        async for _ in every:
            ticked.append(loop.time())
            if len(ticked) == 24:
                break
    return ticked


def _set(wall: _Wall, jump: timedelta) -> None:
    wall.shift += jump


def test_the_live_status_comes_every_two_minutes_whatever_the_clock_does(
    record_property: Callable[[str, object], None],
) -> None:
    ticked = run(_ticks(), Random(1))  # noqa: S311 - whose turn it is, no secret
    gaps = [after - before for before, after in zip([0.0, *ticked], ticked, strict=False)]
    record_property("R8", f"gaps of {min(gaps):.1f} to {max(gaps):.1f} s")
    assert len(gaps) == 24
    assert all(abs(gap - CADENCE) <= SLACK for gap in gaps)


class Day(Hours):
    """A request an hour, each in a thread of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: list[int] = []
        self.objects: list[int] = []

    async def story(self) -> None:
        await self.until(self.is_over)
        for number in range(2, HOURS + 1):
            begin = self.loop.time()
            self.people.says(_thread(number), ANNA, "Add discounts")
            await asyncio.sleep(30)
            await self.until(lambda number=number: self._ended(number))
            await asyncio.sleep(max(0.0, begin + EACH - self.loop.time()))
            self._count()

    def _ended(self, number: int) -> bool:
        return len(self.store.records) == number and all(
            record.session.over and not record.outbox for record in self.store.records.values()
        )

    def _count(self) -> None:
        """What the bot holds, not what the world remembers of it."""
        self.tasks.append(len(self.loop.born()))
        gc.collect()
        desk = self.desk
        self.objects.append(len(desk.actors()) if desk else 0)


def _thread(number: int) -> Thread:
    return THREAD.model_copy(update={"root": str(number)})


def test_a_day_of_work_leaves_no_tasks_behind(
    record_property: Callable[[str, object], None],
) -> None:
    day = Day()
    assert day.play().faults == ()
    told = f"tasks {day.tasks[0]} after 2 hours, {day.tasks[-1]} after {HOURS}"
    record_property("R9", f"{told}; sessions awake {day.objects[0]} and {day.objects[-1]}")
    assert day.tasks[-1] <= day.tasks[0]
    assert day.objects[-1] <= day.objects[0]

"""The clock and its ticks, while the wall clock jumps and the machine sleeps; and the clock of other tests."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import pytest

from adapters.clock import Cadence, SystemClock
from tests.fakes.clock import FakeClock

HOUR = timedelta(hours=1)
DEADLINE = 120.0
"""Seconds after which a tick is taken for lost. An hour's silence is what these tests are about."""


class JumpingZone(tzinfo):
    """UTC on a machine whose wall clock the test moves."""

    def __init__(self) -> None:
        self.shift = timedelta(0)

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return timedelta(0)

    def dst(self, dt: datetime | None) -> timedelta:
        return timedelta(0)

    def tzname(self, dt: datetime | None) -> str:
        return "UTC"

    def fromutc(self, dt: datetime) -> datetime:
        return dt + self.shift


class Machine:
    """One whose wall clock jumps while its monotonic clock goes on."""

    def __init__(self, watch: float = 0.02) -> None:
        self.zone = JumpingZone()
        self.clock = SystemClock(zone=self.zone, watch=watch)


def ticks(
    clock: SystemClock, seconds: float, name: str = "test"
) -> aclosing[AsyncGenerator[datetime, None]]:
    return aclosing(clock.every(seconds, name))


async def tick(every: AsyncIterator[datetime]) -> datetime:
    return await asyncio.wait_for(anext(every), DEADLINE)


@pytest.mark.covers("G-VALID-1", "B-ID-1")
def test_now_is_aware_and_never_runs_backwards_and_ids_are_fresh() -> None:
    machine = Machine()
    before = machine.clock.now()
    assert before.tzinfo is UTC
    assert abs(before - datetime.now(UTC)) < timedelta(minutes=1)
    machine.zone.shift -= HOUR
    assert machine.clock.now() == before
    machine.zone.shift += 2 * HOUR
    assert machine.clock.now() >= before + HOUR
    for clock in (machine.clock, FakeClock()):
        ids = [clock.new_id() for _ in range(100)]
        assert len({one[:8] for one in ids}) == 100
        assert {uuid.UUID(one).version for one in ids} == {4}


@pytest.mark.covers("G-FR-023", "G-RULE-PROGRESS-1")
@pytest.mark.parametrize("jump", [timedelta(0), -HOUR, HOUR, -26_280 * HOUR, 262_800 * HOUR])
async def test_ticks_come_in_time_and_each_once_also_when_the_wall_clock_jumps(
    jump: timedelta,
) -> None:
    machine = Machine()
    begun = time.monotonic()
    async with ticks(machine.clock, 0.2) as every:
        moments = [await tick(every)]
        machine.zone.shift += jump
        moments += [await tick(every) for _ in range(3)]
    assert time.monotonic() - begun >= 0.79, "a jump is no reason for a burst"
    assert moments == sorted(moments)


@pytest.mark.parametrize("watch", [0.02, 3600], ids=["noticed", "not yet noticed"])
async def test_a_jump_between_two_ticks_changes_nothing_of_the_wait(watch: float) -> None:
    machine = Machine(watch)
    async with ticks(machine.clock, 3600, "long") as long, ticks(machine.clock, 0.05) as short:
        waiting = asyncio.ensure_future(anext(long))
        await tick(short)
        machine.zone.shift += 2 * HOUR
        for _ in range(5):
            await tick(short)
        assert not waiting.done(), "the hour has not passed, whatever the wall clock says"
        waiting.cancel()
        await asyncio.wait({waiting})


async def test_who_is_slow_gets_one_tick_for_all_that_were_missed() -> None:
    clock = Machine().clock
    async with ticks(clock, 0.05) as slow, ticks(clock, 0.05) as other:
        await tick(slow)
        for _ in range(6):
            await tick(other)
        assert await at_once(slow) <= 2, "one for the past, perhaps one that is due just now"


async def at_once(every: AsyncIterator[datetime]) -> int:
    """How many ticks can be had without waiting."""
    for had in range(100):
        waiting = asyncio.ensure_future(tick(every))
        for _ in range(5):
            await asyncio.sleep(0)
        if not waiting.done():
            waiting.cancel()
            await asyncio.wait({waiting})
            return had
    return 100


async def test_nothing_runs_before_the_first_and_after_the_last_of_several_rhythms() -> None:
    before, clock = asyncio.all_tasks(), Machine().clock
    for _ in range(2):
        async with ticks(clock, 0.02, "a") as one, ticks(clock, 0.1, "b") as other:
            for _ in range(5):
                await tick(one)
            await tick(other)
            assert len(asyncio.all_tasks()) > len(before)
        assert asyncio.all_tasks() == before
    task = asyncio.create_task(_listen(clock, heard := asyncio.Event()))
    await asyncio.wait_for(heard.wait(), DEADLINE)
    task.cancel()
    await asyncio.wait({task})
    assert asyncio.all_tasks() == before, "a rhythm ends with its task"


async def _listen(clock: SystemClock, heard: asyncio.Event) -> None:
    async for _ in clock.every(0.02, "test"):
        heard.set()


async def test_the_scheduler_is_what_ticks() -> None:
    """Stopping APScheduler stops the ticks: nothing else drives them."""
    clock = SystemClock()
    async with ticks(clock, 0.02) as every:
        await tick(every)
        scheduler: Any = clock.scheduler
        assert [job.name for job in scheduler.get_jobs()] == ["test"]
        scheduler.pause()
        waiting = asyncio.ensure_future(anext(every))
        await asyncio.wait({waiting}, timeout=0.1)
        assert not waiting.done()
        scheduler.resume()
        await asyncio.wait_for(waiting, DEADLINE)


@pytest.mark.parametrize(("passed", "rung", "left"), [
    (120.5, True, 119.5),  # it moves on once, however often it is asked
    (119.75, False, 0.25),  # set anew just before its tick it keeps it
    (1000, True, 80),  # it passes over what it missed, and keeps its beat
    (60, True, 60),  # a tick too early by the wall clock does not shift the beat
])  # fmt: skip
def test_when_a_tick_is_due_follows_from_the_beat_alone(
    passed: float, rung: bool, left: float
) -> None:
    moments = [0.0]
    cadence = Cadence(120, lambda: moments[-1])
    moments.append(passed)
    now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=passed)
    for _ in range(3):
        due = cadence.get_next_fire_time(now if rung else None, now)
        assert (due - now).total_seconds() == left


# --- the clock of other tests ---


async def test_who_sleeps_on_the_fake_clock_wakes_in_the_order_of_time() -> None:
    clock: FakeClock = FakeClock()
    woken: list[tuple[str, datetime]] = []

    async def sleeper(name: str, *seconds: float) -> None:
        for each in seconds:
            await clock.sleep(each)
            woken.append((name, clock.now()))

    begun = clock.now()
    assert clock.now() == begun, "it moves only when it is moved"
    async with asyncio.TaskGroup() as group:
        group.create_task(sleeper("slow", 5))
        group.create_task(sleeper("quick", 2, 2, 2))
        await clock.advance(4)
        assert [name for name, _ in woken] == ["quick", "quick"]
        await clock.advance(2)
    assert [name for name, _ in woken] == ["quick", "quick", "slow", "quick"]
    assert [int((at - begun).total_seconds()) for _, at in woken] == [2, 4, 5, 6]
    assert clock.slept == [5, 2, 2, 2]


async def test_the_fake_clock_ticks() -> None:
    clock: FakeClock = FakeClock()
    heard: list[float] = []
    begun = clock.now()

    async def listen() -> None:
        async for at in clock.every(120, "status"):
            note((at - begun).total_seconds())

    def note(seconds: float) -> None:
        heard.append(seconds)

    task = asyncio.create_task(listen())
    await clock.advance(119)
    assert heard == []
    await clock.advance(1)
    await clock.advance(240)
    assert heard == [120, 240, 360]
    task.cancel()
    await asyncio.wait({task})

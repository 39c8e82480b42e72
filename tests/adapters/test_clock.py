"""The clock and its ticks, while the wall clock jumps and the machine sleeps."""

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
from bot.ports import Clock
from tests.fakes.clock import FakeClock

HOUR = timedelta(hours=1)
DEADLINE = 10
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

    def jump(self, by: timedelta) -> None:
        self.zone.shift += by


def ticks(
    clock: SystemClock, seconds: float, name: str = "test"
) -> aclosing[AsyncGenerator[datetime, None]]:
    return aclosing(clock.every(seconds, name))


async def tick(every: AsyncIterator[datetime]) -> datetime:
    return await asyncio.wait_for(anext(every), DEADLINE)


def test_now_is_aware_and_in_utc() -> None:
    assert SystemClock().now().tzinfo is UTC
    assert abs(SystemClock().now() - datetime.now(UTC)) < timedelta(minutes=1)


def test_time_never_runs_backwards() -> None:
    machine = Machine()
    before = machine.clock.now()
    machine.jump(-HOUR)
    assert machine.clock.now() == before
    machine.jump(2 * HOUR)
    assert machine.clock.now() >= before + HOUR


@pytest.mark.covers("G-VALID-1", "B-ID-1")
def test_ids_are_fresh_uuids_of_version_four() -> None:
    ids = {SystemClock().new_id() for _ in range(100)}
    assert len(ids) == 100
    assert {uuid.UUID(one).version for one in ids} == {4}


@pytest.mark.covers("G-RULE-PROGRESS-1")
async def test_ticks_come_in_time_and_each_once() -> None:
    machine = Machine()
    begun = time.monotonic()
    async with ticks(machine.clock, 0.05) as every:
        moments = [await tick(every) for _ in range(5)]
    assert time.monotonic() - begun >= 0.24, "five ticks take five times as long as one"
    assert moments == sorted(moments)


@pytest.mark.covers("G-FR-023")
@pytest.mark.parametrize("jump", [-HOUR, HOUR, -3 * 365 * 24 * HOUR, 30 * 365 * 24 * HOUR])
async def test_ticks_go_on_when_the_wall_clock_jumps(jump: timedelta) -> None:
    machine = Machine()
    begun = time.monotonic()
    async with ticks(machine.clock, 0.2) as every:
        await tick(every)
        machine.jump(jump)
        for _ in range(3):
            await tick(every)
    assert time.monotonic() - begun >= 0.79, "a jump is no reason for a burst"


@pytest.mark.parametrize("watch", [0.02, 3600], ids=["noticed", "not yet noticed"])
async def test_a_jump_between_two_ticks_changes_nothing_of_the_wait(watch: float) -> None:
    machine = Machine(watch)
    async with ticks(machine.clock, 3600, "long") as long, ticks(machine.clock, 0.05) as short:
        waiting = asyncio.ensure_future(anext(long))
        await tick(short)
        machine.jump(2 * HOUR)
        for _ in range(5):
            await tick(short)
        assert not waiting.done(), "the hour has not passed, whatever the wall clock says"
        waiting.cancel()
        await asyncio.wait({waiting})


async def test_who_is_slow_gets_one_tick_for_all_that_were_missed() -> None:
    machine = Machine()
    async with ticks(machine.clock, 0.05) as slow, ticks(machine.clock, 0.05) as other:
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


async def test_several_rhythms_do_not_disturb_each_other() -> None:
    machine = Machine()
    counts = {"a": 0, "b": 0}

    async def count(name: str, seconds: float, times: int) -> None:
        async with ticks(machine.clock, seconds, name) as every:
            for _ in range(times):
                await tick(every)
                counts[name] += 1

    await asyncio.gather(count("a", 0.02, 10), count("b", 0.1, 2))
    assert counts == {"a": 10, "b": 2}


async def test_nothing_runs_before_the_first_and_after_the_last_rhythm() -> None:
    before = asyncio.all_tasks()
    machine = Machine()
    for _ in range(2):
        async with ticks(machine.clock, 0.02) as every:
            await tick(every)
            assert len(asyncio.all_tasks()) > len(before)
        assert asyncio.all_tasks() == before


async def test_a_rhythm_ends_when_its_task_is_cancelled() -> None:
    machine = Machine()
    heard = asyncio.Event()

    async def listen() -> None:
        async for _ in machine.clock.every(0.02, "test"):
            heard.set()

    task = asyncio.create_task(listen())
    await asyncio.wait_for(heard.wait(), DEADLINE)
    task.cancel()
    await asyncio.wait({task})
    async with ticks(machine.clock, 0.02) as every:
        await tick(every)


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


# --- when a tick is due ---


class Stopwatch:
    """A monotonic clock in the test's hand, and the wall clock that goes with it."""

    def __init__(self) -> None:
        self.passed = 0.0

    def __call__(self) -> float:
        return self.passed

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.passed)


def left(cadence: Cadence, watch: Stopwatch, previous: datetime | None = None) -> float:
    return (cadence.get_next_fire_time(previous, watch.now()) - watch.now()).total_seconds()


def test_a_rhythm_moves_on_once_however_often_it_is_asked() -> None:
    watch = Stopwatch()
    cadence = Cadence(120, watch)
    watch.passed = 120.5
    assert [left(cadence, watch, watch.now()) for _ in range(3)] == [119.5] * 3


def test_a_rhythm_that_is_set_anew_just_before_its_tick_keeps_it() -> None:
    watch = Stopwatch()
    cadence = Cadence(120, watch)
    watch.passed = 119.75
    assert left(cadence, watch) == 0.25


def test_a_rhythm_passes_over_what_it_missed_and_keeps_its_beat() -> None:
    watch = Stopwatch()
    cadence = Cadence(120, watch)
    watch.passed = 1000
    assert left(cadence, watch, watch.now()) == 1080 - 1000


def test_a_tick_too_early_by_the_wall_clock_does_not_shift_the_beat() -> None:
    watch = Stopwatch()
    cadence = Cadence(120, watch)
    watch.passed = 60
    assert left(cadence, watch, watch.now()) == 60


# --- the clock of other tests ---


async def test_the_fake_clock_moves_only_when_moved() -> None:
    clock = FakeClock()
    begun = clock.now()
    assert clock.now() == begun
    await clock.advance(90)
    assert clock.now() == begun + timedelta(seconds=90)


async def test_who_sleeps_on_the_fake_clock_wakes_in_the_order_of_time() -> None:
    clock: FakeClock = FakeClock()
    woken: list[tuple[str, datetime]] = []

    async def sleeper(name: str, *seconds: float) -> None:
        for each in seconds:
            await clock.sleep(each)
            woken.append((name, clock.now()))

    begun = clock.now()
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
    port: Clock = clock
    heard: list[float] = []
    begun = clock.now()

    async def listen() -> None:
        async for at in port.every(120, "status"):
            note(at)

    def note(at: datetime) -> None:
        heard.append((at - begun).total_seconds())

    task = asyncio.create_task(listen())
    await clock.advance(119)
    assert heard == []
    await clock.advance(1)
    await clock.advance(240)
    assert heard == [120, 240, 360]
    task.cancel()
    await asyncio.wait({task})


def test_the_fake_clocks_ids_are_valid_and_differ_from_their_beginning() -> None:
    clock = FakeClock()
    ids = [clock.new_id() for _ in range(20)]
    assert {uuid.UUID(one).version for one in ids} == {4}
    assert len({one[:8] for one in ids}) == 20
    assert ids[0] == FakeClock().new_id()

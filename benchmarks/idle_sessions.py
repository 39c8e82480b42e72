"""What do a thousand sessions cost that wait for somebody, and how much of those that are over is kept in memory?

python -m benchmarks.idle_sessions [seconds]
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from pathlib import Path

import psutil

from adapters.store import JournalStore
from benchmarks.chats.in_memory import asked, sitting, thread
from benchmarks.chats.work import world_at
from benchmarks.ground import on_this_disk
from benchmarks.recovery import a_record
from benchmarks.table import Unit, at_most, hand_in
from bot.core.desk import Desk
from bot.core.rounds import OBSERVE_SECONDS, observe, tick
from bot.core.session import Message
from bot.core.states import Status
from bot.core.world import World
from tests.adapters.store.disks import HastyDisk
from tests.fakes.chat import MemoryChat

FEW, MANY = 100, 1_000
MEGABYTES = 100
PROGRESS_SECONDS = 120.0
SETTLED = 3.0
"""Seconds after which exports and the index are written."""


async def main(seconds: float) -> None:
    with on_this_disk() as folder:
        held = await messages_held(folder / "over", MANY)
        few_cpu, _ = await waiting(folder / "few", FEW, seconds)
        cpu, size = await waiting(folder / "many", MANY, seconds)
    what = f"{MANY:,} idle sessions"
    hand_in(
        at_most("9", f"{what}: processor", cpu, 0.1, floor=few_cpu, of=f"{FEW}", unit=Unit.PERCENT),
        at_most("9", f"{what}: memory", size, MEGABYTES, unit=Unit.MEGABYTES),
        at_most("9", f"messages in memory of {MANY:,} that are over", held, 0, unit=Unit.COUNT),
    )


async def waiting(home: Path, number: int, seconds: float) -> tuple[float, float]:
    """Percent of a core, and megabytes, for so many that were asked for something and then stopped."""
    chat, store = MemoryChat(), JournalStore(home, disk=HastyDisk())
    world = world_at(home, {chat.thread.platform: chat}, store)
    before = psutil.Process().memory_info().rss
    async with sitting(world, chat) as desk:
        for one in range(number):
            await asked(chat, one)
            await chat.say("stop", thread=thread(one))
        await desk.settled()
        assert len(desk.actors()) == number
        await asyncio.sleep(SETTLED)
        gc.collect()
        size = (psutil.Process().memory_info().rss - before) / 1e6
        idle = await processor(seconds) / seconds
        cpu = idle + await rounds(world, desk)
    store.close()
    return 100 * cpu, size


async def processor(seconds: float) -> float:
    begun = time.process_time()
    await asyncio.sleep(seconds)
    return time.process_time() - begun


async def rounds(world: World, desk: Desk) -> float:
    """What is done for all of them every minute or two, per second."""
    spent = 0.0
    for round, every in ((tick, PROGRESS_SECONDS), (observe, OBSERVE_SECONDS)):
        begun = time.process_time()
        await round(world, desk.actors())
        await desk.settled()
        spent += (time.process_time() - begun) / every
    return spent


async def messages_held(home: Path, number: int) -> int:
    """After a start where so many are stored that are over."""
    store = JournalStore(home, disk=HastyDisk(), export_delay=0.1)
    for one in range(number):
        store.save(a_record(f"s-{one:05}", Status.COMPLETED))
    store.close()
    gc.collect()
    before = messages()
    chat, store = MemoryChat(), JournalStore(home)
    async with sitting(world_at(home, {chat.thread.platform: chat}, store), chat):
        await asyncio.sleep(SETTLED)
        gc.collect()
        held = messages() - before
    store.close()
    return held


def messages() -> int:
    return sum(isinstance(one, Message) for one in gc.get_objects())


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0))

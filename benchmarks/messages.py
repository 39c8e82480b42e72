"""From a message in, over the disk, to the reply: beside one sync of that disk, and without a disk beside a queue.

python -m benchmarks.messages [requests]
"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from adapters.store import JournalStore
from benchmarks.chats.in_memory import asked, sitting
from benchmarks.chats.work import Syncs, world_at
from benchmarks.ground import on_this_disk
from benchmarks.state_change import LINE, seconds_of_the_least
from benchmarks.table import beside, hand_in
from bot.engine.logbook import Logbook
from tests.fakes.archive import MemoryArchive, MemoryLogs
from tests.fakes.chat import MemoryChat
from tests.fakes.keeping import MemoryAudit
from tests.fakes.store import MemoryStore

WARM = 10
TWO = "two things are on disk before a word counts: who wanted what (the audit log), and that it was heard"
MORE = (
    "between the word and its card there is a decision, whose outcome is saved, too, before anybody sees it; the card is"
    " masked and drawn. People see it within a few milliseconds"
)
WORK = "the floor passes a number on; here it is who may what, masking, a decision and a card"


async def main(requests: int) -> None:
    with on_this_disk() as folder:
        syncs = Syncs()
        taken, replied = await durable(folder / "home", requests)
        each = syncs.cost.loop_syncs / (requests + WARM)
        least = median(seconds_of_the_least(folder / "least", LINE) for _ in range(requests))
        _, hasty = await in_memory(folder / "nowhere", requests)
    hop = await hops(requests)
    fsync, what = "append + fdatasync", "a request"
    print(f"{each:.1f} fsyncs a request")
    hand_in(
        beside("8", f"{what}, in and durable", taken, least, of=fsync, most=2, because=TWO),
        beside(
            "8", f"{what}, until its first card", replied, least, of=fsync, most=2, because=MORE
        ),
        beside("8", f"{what}, in memory alone", hasty, hop, of="queue hop", most=10, because=WORK),
    )


async def durable(home: Path, requests: int) -> tuple[float, float]:
    chat, store = MemoryChat(), JournalStore(home, export_delay=3600)
    try:
        async with sitting(world_at(home, {chat.thread.platform: chat}, store), chat):
            return await all_asked(chat, requests)
    finally:
        store.close()


async def in_memory(home: Path, requests: int) -> tuple[float, float]:
    chat, store = MemoryChat(), JournalStore(home)
    world = replace(
        world_at(home, {chat.thread.platform: chat}, store),
        store=MemoryStore(),
        audit=MemoryAudit(),
        archive=MemoryArchive(),
        logbook=Logbook(MemoryLogs()),
    )
    async with sitting(world, chat):
        return await all_asked(chat, requests)


async def all_asked(chat: MemoryChat, requests: int) -> tuple[float, float]:
    """One after the other, each in a thread of its own; the middle of all."""
    times = [await asked(chat, number) for number in range(requests + WARM)][WARM:]
    taken, replied = zip(*times, strict=True)
    return median(taken), median(replied)


async def hops(number: int) -> float:
    """There and back through two queues of asyncio's, halved."""
    there, back = asyncio.Queue[int](), asyncio.Queue[int]()

    async def answer() -> None:
        while True:
            back.put_nowait(await there.get())

    answering = asyncio.create_task(answer())
    seconds = list[float]()
    for one in range(number):
        begun = time.perf_counter()
        there.put_nowait(one)
        await back.get()
        seconds.append((time.perf_counter() - begun) / 2)
    answering.cancel()
    return median(seconds)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))

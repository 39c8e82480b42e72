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
from bot.core.projections.records import Record
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.ports import IndexedSession
from tests.fakes.archive import MemoryArchive, MemoryLogs
from tests.fakes.chat import MemoryChat
from tests.fakes.keeping import MemoryAudit

WARM = 10
THREE = (
    "three things are on disk before a request counts: who wanted what (the audit log), the session, and the name of its"
    " file; a word in a session that is there waits for two"
)
MORE = (
    "between the word and its card there is a decision, whose outcome is on disk, too, before anybody sees it; the look at"
    " the repository begins at the same time"
)
WORK = "the floor passes a number on; here it is who may what, masking, a decision and a card"


class Nowhere:
    """The Store port without a store: what it is given is gone."""

    broken: tuple[str, ...] = ()

    def load(self) -> list[Record]:
        return []

    def find(self, session_id: str) -> Record | None:
        """It has none."""

    def save(self, record: Record) -> None:
        """It keeps none."""

    def sessions(self) -> list[IndexedSession]:
        return []

    def close(self) -> None:
        """There is nothing left to do."""


async def main(requests: int) -> None:
    with on_this_disk() as folder:
        syncs = Syncs()
        taken, replied, least = await durable(folder / "home", requests)
        each = (syncs.cost.loop_syncs - requests) / (requests + WARM)
        hasty = await in_memory(folder / "nowhere", requests)
    hop = await hops(requests)
    fsync, what = "append + fdatasync", "a request"
    print(f"{each:.1f} fsyncs for all that a request begins")
    hand_in(
        beside("8", f"{what}, in and durable", taken, least, of=fsync, most=2, because=THREE),
        beside(
            "8", f"{what}, until its first card", replied, least, of=fsync, most=2, because=MORE
        ),
        beside("8", f"{what}, in memory alone", hasty, hop, of="queue hop", most=10, because=WORK),
    )


async def durable(home: Path, requests: int) -> tuple[float, float, float]:
    """Until a request was taken, until its first card, and the least between one and the next."""
    chat, store = MemoryChat(), JournalStore(home, export_delay=3600)
    took, replied, leasts = list[float](), list[float](), list[float]()
    async with sitting(world_at(home, {chat.thread.platform: chat}, store), chat, took):
        for number in range(requests + WARM):
            replied.append(await asked(chat, number))
            if number >= WARM:
                leasts.append(seconds_of_the_least(home / "least", LINE))
    store.close()
    return median(took[WARM:]), median(replied[WARM:]), median(leasts)


async def in_memory(home: Path, requests: int) -> float:
    chat = MemoryChat()
    world = replace(
        world_at(home, {chat.thread.platform: chat}, Nowhere()),
        audit=MemoryAudit(),
        archive=MemoryArchive(),
        logbook=TaskLogWriter(MemoryLogs()),
    )
    async with sitting(world, chat):
        return median([await asked(chat, number) for number in range(requests + WARM)][WARM:])


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

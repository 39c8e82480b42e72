"""How soon does the bot answer at this machine's own door, beside a socket that only says back what it hears?

python -m benchmarks.console [requests]
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from adapters.files import make_private
from adapters.local.client import BotConnection, connect_to_bot
from benchmarks.chats.in_memory import PATIENCE, REQUEST
from benchmarks.chats.process import started
from benchmarks.ground import on_this_disk, until
from benchmarks.table import at_most, hand_in
from bot.core.cards import Card
from bot.core.events import Said
from bot.core.people import Person, Thread

WARM = 10
OWNER = Person(platform="console", id="local:0", name="mika")
SIGN, ANSWER = 2.0, 5.0
"""Seconds that are promised until it is seen that somebody was heard, and until the first answer."""


class Seat:
    """Notes when something is first shown in a thread."""

    def __init__(self) -> None:
        self.seen: dict[str, asyncio.Event] = {}

    async def show(self, thread: Thread, card: Card) -> None:
        del card
        self.seen.setdefault(thread.root, asyncio.Event()).set()

    async def open(self, thread: Thread, card: Card) -> Thread:
        await self.show(thread, card)
        return thread

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        """To whoever asked: nothing is asked here."""

    async def turn_to(self, thread: Thread) -> None:
        """There is one thread for each request anyway."""


async def main(requests: int) -> None:
    with on_this_disk() as folder:
        echoed = await echo(make_private(folder / "echo"), requests)
        acks, replies = await answered(make_private(folder / "home"), requests)
    what, of = "console, over the local socket", "echo"
    hand_in(
        at_most("", f"{what}: acknowledged", median(acks), SIGN, floor=echoed, of=of),
        at_most("", f"{what}: first reply", median(replies), ANSWER, floor=echoed, of=of),
    )


async def echo(home: Path, requests: int) -> float:
    async with started("echo", str(home)):
        await until((home / "socket").exists)
        reader, writer = await asyncio.open_unix_connection(home / "socket")
        seconds = list[float]()
        for _ in range(requests + WARM):
            begun = time.perf_counter()
            writer.write(REQUEST.encode() + b"\n")
            await reader.readline()
            seconds.append(time.perf_counter() - begun)
        writer.close()
    return median(seconds[WARM:])


async def answered(home: Path, requests: int) -> tuple[list[float], list[float]]:
    seat = Seat()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(started("in_console", str(home), OWNER.id))
        await until((home / "socket").exists)
        there = await stack.enter_async_context(connect_to_bot(home, OWNER))
        assert there
        await there.subscribe(seat, Thread(platform="console", channel="", root="mine"))
        seconds = [await asked(there, seat, number) for number in range(requests + WARM)]
    acks, replies = zip(*seconds[WARM:], strict=True)
    return [*acks], [*replies]


async def asked(there: BotConnection, seat: Seat, number: int) -> tuple[float, float]:
    thread = Thread(platform="console", channel="", root=f"request-{number}")
    seen = seat.seen.setdefault(thread.root, asyncio.Event())
    event = Said(id=f"event-{number}", at=datetime.now(UTC), by=OWNER, text=REQUEST)
    begun = time.perf_counter()
    assert await there.deliver(thread, event)
    taken = time.perf_counter() - begun
    async with asyncio.timeout(PATIENCE):
        await seen.wait()
    return taken, time.perf_counter() - begun


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60))

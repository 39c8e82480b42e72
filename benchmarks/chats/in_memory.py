"""A desk in this process: people say something, and see the answer, without a wire in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from benchmarks.chats.work import open_desk
from bot.core.desk import Desk
from bot.core.events import FromPeople
from bot.core.gate import Door
from bot.core.people import Person, Role, Thread
from bot.core.world import World
from tests.fakes.chat import ANNA, THREAD, MemoryChat

PATIENCE = 60.0
REQUEST = "Add a dark mode to the settings page, and remember what was chosen"


@asynccontextmanager
async def sitting(
    world: World, chat: MemoryChat, took: list[float] | None = None
) -> AsyncGenerator[Desk, None]:
    """The desk hears whatever is said in the chat. `took`: the seconds until each word was taken."""
    everything = dict.fromkeys(Role, frozenset({ANNA.id}))
    async with open_desk(world, THREAD.platform, Door(everything)) as desk:

        async def take(where: Thread, event: FromPeople) -> bool:
            begun = time.perf_counter()
            taken = await desk.take(where, event)
            if took is not None:
                took.append(time.perf_counter() - begun)
            return taken

        ear = asyncio.create_task(chat.listen(take))
        try:
            yield desk
        finally:
            chat.leave()
            await ear


def thread(number: int) -> Thread:
    return THREAD.model_copy(update={"root": f"root-{number}"})


async def asked(chat: MemoryChat, number: int) -> float:
    """Seconds until the first card of a request stood there."""
    where = thread(number)
    begun = time.perf_counter()
    await chat.say(REQUEST, thread=where)
    await chat.until(lambda: bool(chat.cards(where)), seconds=PATIENCE)
    return time.perf_counter() - begun


async def whispered(chat: MemoryChat, word: str, *, by: Person = ANNA) -> float:
    """Seconds until a command was answered, to the one who gave it."""
    before = len(chat.whispered)
    begun = time.perf_counter()
    await chat.say(word, thread=thread(0), by=by)
    await chat.until(lambda: len(chat.whispered) > before, seconds=PATIENCE)
    return time.perf_counter() - begun

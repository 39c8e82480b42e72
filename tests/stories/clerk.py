"""A desk of paper: what it takes is in its book before it is acknowledged, and what stands in the book is answered.

A clerk can die at any step: then nothing of him is left but his folder as it was in that moment.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from bot.core.cards import AnswerCard
from bot.core.choices import Choice, Verb
from bot.core.errors import PortError
from bot.core.events import Commanded, FromPeople, Pressed, Said
from bot.core.people import Thread
from bot.ports import Chat
from tests.faults.figures import every_day
from tests.stories.fatal import FatalWay, When

KEEP, HELP = "Keep it", "I repeat what I hear"
AGAIN = 0.05
MOST, STRIDE = 80, 3
"""Steps; no talk has so many. In between it dies by `make faults`."""
at_steps = pytest.mark.parametrize("first", every_day([1], range(2, STRIDE + 1)))
Open = Callable[[Path], AbstractAsyncContextManager[Chat]]
"""The chat on a folder."""


class Book:
    """Lines that are on disk when they are written; torn ones are none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.lines = [json.loads(line) for line in _lines(path)]

    def write(self, line: list[str]) -> None:
        with self._path.open("a") as file:
            file.write(f"{json.dumps(line)}\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines.append(line)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


class Clerk:
    """Repeats what was said, with a button below it, and keeps it for whoever presses that. Help is given in private."""

    def __init__(self, folder: Path, chat: Chat, step: Callable[[str], bool]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._chat = chat
        self._step = step
        self.taken, self._done = Book(folder / "taken"), Book(folder / "done")
        self._news = asyncio.Event()

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        await self._maybe_die("before")
        if isinstance(event, Commanded):
            help = AnswerCard(key=f"answer:{event.id}", title=HELP)
            await self._chat.whisper(thread, event.by, help)
        elif [event.id] not in [line[:1] for line in self.taken.lines]:
            self.taken.write([event.id, thread.model_dump_json(), *_said(event)])
        await self._maybe_die("after")
        self._news.set()
        return True

    async def work(self) -> None:
        while True:
            for line in self.taken.lines:
                if [line[0]] not in self._done.lines:
                    await self._answer(line)
                    self._done.write([line[0]])
            await self._news.wait()
            self._news.clear()

    async def _answer(self, line: list[str]) -> None:
        id, thread, kind, text = line
        if kind == "kept":
            said = next(one for one in self.taken.lines if one[0] == text)
            card = AnswerCard(key=f"answer:{text}", title=f"«{said[3]}» is kept")
        else:
            keep = Choice(label=KEEP, verb=Verb.KEEP, about=id)
            card = AnswerCard(key=f"answer:{id}", title=f"Heard: «{text}»", choices=(keep,))
        while True:
            try:
                return await self._chat.show(Thread.model_validate_json(thread), card)
            except PortError:
                await asyncio.sleep(AGAIN)

    async def _maybe_die(self, when: str) -> None:
        if self._step(when):
            await asyncio.get_running_loop().create_future()


def _said(event: FromPeople) -> tuple[str, str]:
    match event:
        case Said(text=text):
            return "said", text
        case Pressed(about=about):
            return "kept", about
        case _:
            raise AssertionError(f"nobody does that here: {event}")


class Lives:
    """One life of a clerk after the other, each on the folder that the last one left."""

    def __init__(
        self, folder: Path, open_chat: Open, way: FatalWay, cut: Callable[[], None]
    ) -> None:
        self.way = way
        self.away: Callable[[], Awaitable[None]] = _nothing
        """What happens between a death and the next life."""
        self._home, self._open, self._cut = folder, open_chat, cut
        self._number = 0
        self._steps: dict[str, int] = {}
        self._dead = asyncio.Event()
        self._up = asyncio.Event()

    @property
    def book(self) -> list[list[str]]:
        """What was taken: its id, its thread, whether it was said or kept, and what."""
        return Book(self._folder / "taken").lines

    async def live_through(
        self, talk: Coroutine[None, None, None], number: int, when: When, *, of: str
    ) -> bool:
        """Die once, of the call or delivery of that number, and come back. False: the talk has not so many."""
        self._dead.clear()
        self._steps = {when.value: number} if of == "delivery" else {}
        self.way.wait_for(number if of == "call" else 0, when, self._die)
        talking = asyncio.create_task(talk)
        try:
            await self._live_until(talking)
            died = self._dead.is_set()
            if died:
                await self.away()
                self._steps = {}
                self._dead.clear()
                self.way.wait_for(0, when, self._die)
                await self._live_until(talking)
            await talking
        finally:
            talking.cancel()
        return died

    async def _live_until(self, over: asyncio.Task[None]) -> None:
        """Or until it dies."""
        self._up.clear()
        dead = asyncio.create_task(self._dead.wait())
        life = asyncio.create_task(self._live())
        up = asyncio.create_task(self._up.wait())
        # a life that is called off while it opens its folder would still write there beside the next one
        await asyncio.wait({dead, up, life}, return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        await asyncio.wait({dead, over, life}, return_when=asyncio.FIRST_COMPLETED)
        for task in (dead, life):
            task.cancel()
        _, lived = await asyncio.gather(dead, life, return_exceptions=True)
        if not isinstance(lived, asyncio.CancelledError) and not self._dead.is_set():
            raise AssertionError(f"its life ended by itself: {lived!r}") from lived

    async def _live(self) -> None:
        async with self._open(self._folder) as chat:
            clerk = Clerk(self._folder, chat, self._is_last)
            self._up.set()
            async with asyncio.TaskGroup() as group:
                group.create_task(chat.listen(clerk.deliver))
                group.create_task(clerk.work())

    @property
    def _folder(self) -> Path:
        return self._home / str(self._number)

    def _is_last(self, when: str) -> bool:
        """The dead take no further step."""
        if when in self._steps and not self._dead.is_set():
            self._steps[when] -= 1
            if self._steps[when] == 0:
                # what is on its way to the chat just then ends, too
                self.way.end(f"{when} a delivery")
        return self._dead.is_set()

    def _die(self) -> None:
        """What is on disk now is all that is left; nothing it still does is seen by anybody."""
        if self._folder.exists():
            # what a thread is writing this moment is not there yet
            unfinished = shutil.ignore_patterns("*.new", "*.tmp", ".*")
            shutil.copytree(self._folder, self._home / str(self._number + 1), ignore=unfinished)
        self._number += 1
        self.way.over = True
        self._cut()
        self._dead.set()


async def _nothing() -> None:
    return

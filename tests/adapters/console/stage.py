"""What console tests share: a person behind a script, an output that can be read, and a desk that only listens."""

from __future__ import annotations

import asyncio
from io import StringIO
from pathlib import Path

from adapters.console.chat import ConsoleChat
from bot.core.cards import Card
from bot.core.errors import Unavailable
from bot.core.events import FromPeople, FromPerson
from bot.core.people import Thread
from tests.fakes import cards


class Tty(StringIO):
    """An output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Script:
    """Lines that come one after the other; what was asked is kept."""

    by_hand = False

    def __init__(self, *lines: str) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self.prompts: list[str] = []
        self.seen: list[Card] = []
        for line in lines:
            self._lines.put_nowait(line)

    def type(self, *lines: str | None) -> None:
        for line in lines:
            self._lines.put_nowait(line)

    async def next_line(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        return await self._lines.get()

    def card_shown(self, card: Card) -> None:
        self.seen.append(card)


class Stage:
    """A console with a person typing at it. `disk_full` makes the desk refuse."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.out = StringIO()
        self.script = Script()
        self.chat = ConsoleChat(home, cards.MIKA, lines=self.script, out=self.out)
        self.heard: list[tuple[Thread, FromPeople]] = []
        self.disk_full = False
        self._thread: Thread | None = None

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        if self.disk_full:
            raise Unavailable("No space left on device.", "Free some space.")
        self.heard.append((thread, event))
        return True

    async def type(self, *lines: str) -> None:
        """Type lines, then leave as by Ctrl-D."""
        self.script.type(*lines, None)
        await self.chat.listen(self.deliver)

    async def show(self, *shown: Card, thread: Thread | None = None) -> str:
        """Show cards in the current thread; what has been written for them."""
        before = len(self.out.getvalue())
        for card in shown:
            await self.chat.show(thread or await self.thread(), card)
        return self.out.getvalue()[before:]

    async def thread(self) -> Thread:
        """The current thread, as a command goes there."""
        if self._thread is None:
            await self.type("usage")
            self._thread = self.heard.pop()[0]
        return self._thread

    @property
    def events(self) -> list[FromPerson]:
        return [event for _, event in self.heard]

    @property
    def text(self) -> str:
        return self.out.getvalue()

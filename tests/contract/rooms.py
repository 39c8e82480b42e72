"""A chat with somebody in it: how a test talks there, and reads what stands there."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from pathlib import Path

from adapters.console.rendering import TONES
from bot.core.cards import Card
from bot.core.choices import Verb
from bot.core.people import Person, Thread
from bot.ports import Chat
from tests.adapters.console.stage import Script, Stage
from tests.fakes import cards
from tests.fakes.chat import MemoryChat

_MARKS = frozenset(mark for mark, _ in TONES.values())
"""Every card on a terminal begins with one of these, at the left edge."""


class Room(ABC):
    chat: Chat
    person: Person
    thread: Thread
    """One that can be shown cards in, whether anybody listens or not."""
    other_thread: Thread
    says_again = False
    """Whether the platform brings a word again that could not be taken."""

    async def is_heard(self) -> None:
        """Wait until the chat hears what is said; it has just begun to listen."""
        return

    @abstractmethod
    async def say(self, text: str) -> None:
        """Ask the bot for something; from then on, say more in the same thread."""

    @abstractmethod
    async def say_in(self, thread: Thread, text: str) -> None:
        """Say something in a thread that the bot has opened, without naming the bot."""

    @abstractmethod
    async def press_first(self) -> None:
        """Press the first choice of the approval card that has been shown."""

    @abstractmethod
    async def count(self, text: str) -> int:
        """How often something can be read, by whoever sees everything."""

    @abstractmethod
    async def count_in(self, thread: Thread, text: str) -> int:
        """How often something can be read in a thread that the bot has opened, its root message included."""

    @abstractmethod
    async def restart(self) -> None:
        """The bot has ended, and begins again on what it has kept: `chat` is another one. Nobody listened to it."""

    async def leave(self, listening: asyncio.Task[None]) -> None:
        """Nobody says anything any more. Most platforms never end by themselves."""
        listening.cancel()


class MemoryRoom(Room):
    def __init__(self) -> None:
        self.memory = MemoryChat()
        self.chat, self.person, self.thread = self.memory, self.memory.person, self.memory.thread
        self.other_thread = self.thread.model_copy(update={"root": "2"})

    async def say(self, text: str) -> None:
        await self.memory.say(text)

    async def say_in(self, thread: Thread, text: str) -> None:
        await self.memory.say(text, thread=thread)

    async def press_first(self) -> None:
        await self.memory.press(Verb.APPROVE, cards.DIGEST)

    async def count(self, text: str) -> int:
        seen: list[Card] = [card for thread in self.memory.threads.values() for _, card in thread]
        seen += [card for _, _, card in self.memory.whispered]
        return sum(card.model_dump_json().count(text) for card in seen)

    async def count_in(self, thread: Thread, text: str) -> int:
        return sum(card.model_dump_json().count(text) for card in self.memory.cards(thread))

    async def restart(self) -> None:
        """What stands there stands on the platform, not in the bot."""
        platform = self.memory.threads
        self.chat = self.memory = MemoryChat()
        self.memory.threads = platform

    async def leave(self, listening: asyncio.Task[None]) -> None:
        self.memory.leave()


class ConsoleRoom(Room):
    def __init__(self, home: Path) -> None:
        self.stage = Stage(home)
        self._read_before = ""
        self.script: Script = self.stage.script
        self.chat, self.person = self.stage.chat, cards.MIKA
        self.thread, self.other_thread = cards.THREAD, cards.OTHER_THREAD

    async def say(self, text: str) -> None:
        self.script.type(text)

    async def say_in(self, thread: Thread, text: str) -> None:
        await self.stage.chat.turn_to(thread)
        self.script.type(text)

    async def press_first(self) -> None:
        self.script.type("1")

    async def count(self, text: str) -> int:
        return (self._read_before + self.stage.text).count(text)

    async def count_in(self, thread: Thread, text: str) -> int:
        """All threads are on one screen: a card of another thread stands below the name of its session."""
        found, above, where = 0, "", ""
        for line in (self._read_before + self.stage.text).splitlines():
            if line[:1] in _MARKS:
                where = above
            found += line.count(text) if where == f"session {cards.ROOT.session}" else 0
            above = line
        return found

    async def restart(self) -> None:
        self._read_before += self.stage.text
        self.stage = Stage(self.stage.home)
        self.script, self.chat = self.stage.script, self.stage.chat

    async def leave(self, listening: asyncio.Task[None]) -> None:
        self.script.type(None)

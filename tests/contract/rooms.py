"""A chat with somebody in it: how a test talks there, and reads what stands there."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from pathlib import Path

from bot.domain.cards import Card
from bot.domain.choices import Verb
from bot.domain.people import Person, Thread
from bot.ports import Chat
from tests.adapters.chat.console_stage import Script, Stage
from tests.fakes import cards
from tests.fakes.chat import MemoryChat


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
    async def press_first(self) -> None:
        """Press the first choice of the approval card that has been shown."""

    @abstractmethod
    async def count(self, text: str) -> int:
        """How often something can be read, by whoever sees everything."""

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

    async def press_first(self) -> None:
        await self.memory.press(Verb.APPROVE, cards.DIGEST)

    async def count(self, text: str) -> int:
        seen: list[Card] = [card for thread in self.memory.threads.values() for _, card in thread]
        seen += [card for _, _, card in self.memory.whispered]
        return sum(card.model_dump_json().count(text) for card in seen)

    async def leave(self, listening: asyncio.Task[None]) -> None:
        self.memory.leave()


class ConsoleRoom(Room):
    def __init__(self, home: Path) -> None:
        self.stage = Stage(home)
        self.script: Script = self.stage.script
        self.chat, self.person = self.stage.chat, cards.MIKA
        self.thread, self.other_thread = cards.THREAD, cards.OTHER_THREAD

    async def say(self, text: str) -> None:
        self.script.type(text)

    async def press_first(self) -> None:
        self.script.type("1")

    async def count(self, text: str) -> int:
        return self.stage.text.count(text)

    async def leave(self, listening: asyncio.Task[None]) -> None:
        self.script.type(None)

"""What every chat promises, run against the fake and every real one."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.cards import Card
from bot.domain.choices import Verb, Word
from bot.domain.events import Commanded, FromPeople, Pressed, Said
from bot.domain.people import Person, Thread
from bot.errors import Unavailable
from bot.ports import Chat
from tests.adapters.chat.console_stage import Script, Stage
from tests.fakes import cards
from tests.fakes.chat import MemoryChat


class Room(ABC):
    """A chat with somebody in it: how a test talks there, and reads what stands there."""

    chat: Chat
    person: Person

    @abstractmethod
    async def say(self, text: str) -> None: ...

    @abstractmethod
    async def press_first(self) -> None:
        """Press the first choice of the approval card that has been shown."""

    @abstractmethod
    def count(self, text: str) -> int:
        """How often something can be read."""

    @abstractmethod
    async def leave(self) -> None: ...


class MemoryRoom(Room):
    def __init__(self) -> None:
        self.memory = MemoryChat()
        self.chat, self.person = self.memory, self.memory.person

    async def say(self, text: str) -> None:
        await self.memory.say(text)

    async def press_first(self) -> None:
        await self.memory.press(Verb.APPROVE, cards.DIGEST)

    def count(self, text: str) -> int:
        seen: list[Card] = [card for thread in self.memory.threads.values() for _, card in thread]
        seen += [card for _, _, card in self.memory.whispered]
        return sum(card.model_dump_json().count(text) for card in seen)

    async def leave(self) -> None:
        self.memory.leave()


class ConsoleRoom(Room):
    def __init__(self, home: Path) -> None:
        self.stage = Stage(home)
        self.script: Script = self.stage.script
        self.chat, self.person = self.stage.chat, cards.MIKA

    async def say(self, text: str) -> None:
        self.script.type(text)

    async def press_first(self) -> None:
        self.script.type("1")

    def count(self, text: str) -> int:
        return self.stage.text.count(text)

    async def leave(self) -> None:
        self.script.type(None)


class Desk:
    """Takes what is delivered."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[tuple[Thread, FromPeople]] = asyncio.Queue()
        self.refuses = 0

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        if self.refuses:
            self.refuses -= 1
            raise Unavailable("No space left on device.")
        self.heard.put_nowait((thread, event))
        return True

    async def next(self) -> tuple[Thread, FromPeople]:
        async with asyncio.timeout(10):
            return await self.heard.get()


@pytest.fixture(params=["memory", "console"])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    return MemoryRoom() if request.param == "memory" else ConsoleRoom(tmp_path)


@pytest.fixture
async def desk(room: Room) -> AsyncIterator[Desk]:
    desk = Desk()
    listening = asyncio.create_task(room.chat.listen(desk.deliver))
    yield desk
    await room.leave()
    async with asyncio.timeout(10):
        await listening


async def test_what_is_said_is_delivered_with_its_thread_and_person(room: Room, desk: Desk) -> None:
    await room.say("Add a dark mode")
    thread, event = await desk.next()
    assert isinstance(event, Said)
    assert event.text == "Add a dark mode"
    assert event.by == room.person
    assert thread.platform == room.person.platform
    assert event.at.tzinfo is not None


async def test_a_command_is_delivered_as_one(room: Room, desk: Desk) -> None:
    await room.say("status")
    _, event = await desk.next()
    assert isinstance(event, Commanded)
    assert event.command.word is Word.STATUS


async def test_one_thread_is_one_conversation(room: Room, desk: Desk) -> None:
    await room.say("Add a dark mode")
    await room.say("and a light one")
    (first, one), (second, two) = await desk.next(), await desk.next()
    assert first == second
    assert isinstance(one, Said)
    assert isinstance(two, Said)
    assert one.id != two.id


async def test_a_press_tells_what_it_is_about(room: Room, desk: Desk) -> None:
    await room.say("Add a dark mode")
    thread, _ = await desk.next()
    await room.chat.show(thread, cards.APPROVAL)
    await room.press_first()
    pressed_in, event = await desk.next()
    assert pressed_in == thread
    assert isinstance(event, Pressed)
    assert (event.verb, event.about) == (Verb.APPROVE, cards.DIGEST)


async def test_a_card_shown_twice_stands_there_once(room: Room) -> None:
    for card in (cards.RECEIVED, cards.NEWS, cards.NEWS, cards.RECEIVED):
        await room.chat.show(cards.THREAD, card)
    assert room.count("They go back to the same agent.") == 1
    assert room.count("設定は次回の起動時にも保存されること。") == 1


async def test_the_same_key_in_another_thread_is_another_card(room: Room) -> None:
    await room.chat.show(cards.THREAD, cards.NEWS)
    await room.chat.show(cards.OTHER_THREAD, cards.NEWS)
    assert room.count("They go back to the same agent.") == 2


async def test_what_a_card_says_now_can_be_read(room: Room) -> None:
    await room.chat.show(cards.THREAD, cards.NEWS)
    changed = cards.NEWS.model_copy(update={"lines": ("It is mended.",)})
    await room.chat.show(cards.THREAD, changed)
    await room.chat.show(cards.THREAD, changed)
    assert room.count("It is mended.") == 1


async def test_every_kind_of_card_can_be_shown_and_whispered(room: Room) -> None:
    for card in cards.EVERY_KIND:
        await room.chat.show(cards.THREAD, card)
        await room.chat.whisper(cards.THREAD, room.person, card)
    assert room.count("tmux is not installed.") == 2


async def test_a_desk_that_cannot_take_a_word_does_not_end_the_listening(
    room: Room, desk: Desk
) -> None:
    desk.refuses = 1
    try:
        await room.say("lost")
    except Unavailable:
        assert isinstance(room, MemoryRoom), "the fake tells the one who said it"
    await room.say("heard")
    _, event = await desk.next()
    assert isinstance(event, Said)
    assert event.text == "heard"


async def test_listening_can_be_cancelled(room: Room) -> None:
    listening = asyncio.create_task(room.chat.listen(Desk().deliver))
    await asyncio.wait({listening}, timeout=0.01)
    listening.cancel()
    async with asyncio.timeout(10):
        await asyncio.gather(listening, return_exceptions=True)
    assert listening.cancelled()


async def test_a_message_is_edited_where_it_stands() -> None:
    chat = MemoryChat()
    for card in (cards.RECEIVED, cards.NEWS, cards.ANSWER):
        await chat.show(cards.THREAD, card)
    changed = cards.NEWS.model_copy(update={"title": "Changed"})
    await chat.show(cards.THREAD, changed)
    assert chat.cards(cards.THREAD) == [cards.RECEIVED, changed, cards.ANSWER]
    assert [card for _, card in chat.shown][-1] == changed
    assert (chat.calls, len(chat.shown)) == (4, 4)

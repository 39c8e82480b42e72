"""What people say in a thread that the bot has begun reaches the desk as said in exactly that thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.core.choices import Verb, Word
from bot.core.events import Commanded, FromPeople, Pressed, Said
from bot.core.people import Thread
from tests.adapters.matrix.listening import until
from tests.beds.synapse import People
from tests.contract.matrix_room import MatrixRoom, matrix_room
from tests.fakes import cards


@dataclass
class Desk:
    heard: list[tuple[Thread, FromPeople]] = field(default_factory=list[tuple[Thread, FromPeople]])

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        self.heard.append((thread, event))
        return True

    async def next(self, count: int) -> list[tuple[Thread, FromPeople]]:
        await until(lambda: len(self.heard) >= count)
        assert len(self.heard) == count
        return self.heard


@pytest.fixture
async def room(people: People, tmp_path: Path) -> AsyncIterator[MatrixRoom]:
    async with matrix_room(people, tmp_path) as room:
        yield room


@pytest.fixture
async def desk(room: MatrixRoom) -> AsyncIterator[Desk]:
    desk = Desk()
    listening = asyncio.create_task(room.chat.listen(desk.deliver))
    await room.is_heard()
    yield desk
    listening.cancel()
    await asyncio.wait({listening})


async def test_replies_mentions_quotes_and_stop_words_are_of_the_opened_thread(
    room: MatrixRoom, desk: Desk
) -> None:
    opened = await room.chat.open(room.thread, cards.ROOT)
    place = opened.channel
    await room.anna.say(place, "Use the new API", thread=opened.root)
    await room.anna.say(place, "and the old one", mention=room.bot, thread=opened.root)
    await room.anna.say(place, "and none", reply_to=opened.root)
    await room.anna.say(place, "stop", thread=opened.root)
    heard = await desk.next(4)
    assert [thread for thread, _ in heard] == [opened] * 4
    said = [(event.text, event.mention) for _, event in heard if isinstance(event, Said)]
    assert said == [("Use the new API", False), ("and the old one", True), ("and none", False)]
    stop = heard[-1][1]
    assert isinstance(stop, Commanded)
    assert stop.command.word is Word.STOP


async def test_a_chip_on_a_card_of_an_opened_thread_is_of_that_thread(
    room: MatrixRoom, desk: Desk
) -> None:
    opened = await room.chat.open(room.thread, cards.ROOT)
    await room.chat.show(opened, cards.PARTS)
    await room.count("-")
    shown = room.anna.thread(opened.channel, opened.root)[-1]
    assert [key[:1] for key in shown.keys] == ["🧩", "📦"]
    await room.anna.react(opened.channel, shown.event_id, "📦")
    await room.anna.react(opened.channel, opened.root, "🛑")
    heard = await desk.next(2)
    assert [thread for thread, _ in heard] == [opened] * 2
    pressed = [event.verb for _, event in heard if isinstance(event, Pressed)]
    assert pressed == [Verb.WHOLE, Verb.STOP]


async def test_a_choice_on_a_root_message_itself_is_of_its_thread(
    room: MatrixRoom, desk: Desk
) -> None:
    card = cards.EARLIER.model_copy(update={"key": "root:earlier"})
    opened = await room.chat.open(room.thread, card)
    await room.count("-")
    root = room.anna.thread(opened.channel, opened.root)[0]
    assert [key[:1] for key in root.keys] == ["↪", "📍"]
    await room.anna.react(opened.channel, opened.root, root.keys[0])
    ((thread, event),) = await desk.next(1)
    assert thread == opened
    assert isinstance(event, Pressed)
    assert event.verb is Verb.THERE

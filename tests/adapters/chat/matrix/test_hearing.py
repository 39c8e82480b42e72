"""What people do in a room, and what reaches the desk of it: on a real homeserver, with a desk that only listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.chat.matrix import MatrixAccess, MatrixChat
from adapters.chat.matrix.hearing import CANNOT_READ
from bot.domain.choices import Verb, Word
from bot.domain.events import Commanded, FromPeople, Opened, Pressed, Said
from bot.domain.people import Thread
from tests.beds.synapse import People, Person, Proxy
from tests.fakes import cards


@dataclass
class Room:
    """Anna, the bot, and what the desk was given."""

    anna: Person
    bot: Person
    id: str
    chat: MatrixChat
    heard: list[tuple[Thread, FromPeople]] = field(default_factory=list[tuple[Thread, FromPeople]])
    lets: bool = True
    way: Proxy | None = None
    """Between the bot and the homeserver."""

    async def deliver(self, thread: Thread, event: FromPeople) -> bool:
        self.heard.append((thread, event))
        return self.lets

    async def next(self, count: int = 1) -> list[FromPeople]:
        """All that was heard, once it is so much; something that comes later shows that there is no more."""
        await self.anna.say(self.id, "help", mention=self.bot.id)
        async with asyncio.timeout(20):
            while not self.heard or _word(self.heard[-1][1]) is not Word.HELP:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        events = [event for _, event in self.heard[:-1]]
        assert len(events) == count, events
        return events


def _word(event: FromPeople) -> Word | None:
    return event.command.word if isinstance(event, Commanded) else None


@pytest.fixture
async def room(people: People, proxy: Proxy, tmp_path: Path) -> AsyncIterator[Room]:
    anna, bot = people("anna"), people("gwt")
    place = await people.room(anna, bot, people("bob"))
    access = MatrixAccess(proxy.url, bot.id, bot.login.access_token)
    folder = tmp_path / "matrix"
    async with MatrixChat(access, folder, _welcome) as chat:
        room = Room(anna, bot, place, chat, way=proxy)
        listening = asyncio.create_task(chat.listen(room.deliver))
        async with asyncio.timeout(20):
            while not (folder / "sync.json").exists():  # noqa: ASYNC110 - another task writes it
                await asyncio.sleep(0.01)
        yield room
        listening.cancel()
        await asyncio.wait({listening})


def _welcome(inviter: str, room: str, direct: bool) -> bool:
    return True


async def test_between_two_people_alone_no_name_is_needed_unless_the_room_has_one(
    room: Room, people: People
) -> None:
    for name in ("", "Shop"):
        alone = await people.room(room.anna, room.bot)
        if name:
            await room.anna.state(alone, "m.room.name", {"name": name})
        await room.anna.say(alone, f"Add a dark mode to {name}")
        await room.anna.say(alone, "status", mention=room.bot.id)
    async with asyncio.timeout(20):
        while [_word(event) for _, event in room.heard].count(Word.STATUS) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    said = [(t.direct, e.text) for t, e in room.heard if isinstance(e, Said)]
    assert said == [(True, "Add a dark mode to")]


async def test_a_mention_in_the_room_begins_a_thread_at_itself(room: Room) -> None:
    root = await room.anna.say(room.id, "Add a dark mode", mention=room.bot.id)
    [event] = await room.next()
    thread, _ = room.heard[0]
    assert (thread.channel, thread.root) == (room.id, root)
    assert isinstance(event, Said)
    assert (event.text, event.mention, event.id) == ("Add a dark mode", True, root)
    assert event.by.id == room.anna.id


async def test_talk_in_the_room_is_not_heard_and_an_answer_in_a_thread_is(room: Room) -> None:
    root = await room.anna.say(room.id, "Lunch?")
    await room.anna.say(room.id, "stop")
    await room.anna.say(room.id, "the second one", thread=root)
    [event] = await room.next()
    assert isinstance(event, Said)
    assert (event.text, event.mention) == ("the second one", False)


async def test_what_names_somebody_else_is_talk_among_people(room: Room) -> None:
    root = await room.anna.say(room.id, "Add a dark mode", mention=room.bot.id)
    await room.anna.say(room.id, "what do you think?", mention="@bob:localhost", thread=root)
    await room.next()


async def test_an_order_with_a_mark_needs_no_name(room: Room) -> None:
    await room.anna.say(room.id, "!stop")
    await room.anna.say(room.id, "!important: lunch")
    [event] = await room.next()
    assert (event.id, room.heard[0][0].root) == (room.heard[0][0].root, event.id)
    assert isinstance(event, Commanded)
    assert (event.command.word, event.mention) == (Word.STOP, True)


async def test_a_chip_presses_what_it_stands_for(room: Room) -> None:
    thread = await _shown(room)
    await _clicks(room, "✅ Approve")
    [_, event] = await room.next(2)
    assert isinstance(event, Pressed)
    assert (event.verb, event.about) == (Verb.APPROVE, cards.DIGEST)
    assert room.heard[1][0] == thread


async def test_what_cannot_be_undone_is_asked_twice(room: Room) -> None:
    await _shown(room)
    await _clicks(room, "❌ Discard")
    await room.anna.until(lambda: _post(room, "Discard this session?") is not None)
    await _clicks(room, "❌ Discard", on="Discard this session?")
    await room.anna.until(lambda: _post(room, "confirmed") is not None)
    [_, opened, pressed] = await room.next(3)
    assert isinstance(opened, Opened)
    assert isinstance(pressed, Pressed)
    assert (opened.verb, pressed.verb) == (Verb.DISCARD, Verb.DISCARD)


async def test_who_is_not_let_is_not_asked_a_second_time(room: Room) -> None:
    await _shown(room)
    room.lets = False
    await _clicks(room, "❌ Discard")
    [_, opened] = await room.next(2)
    assert isinstance(opened, Opened)
    assert _post(room, "Discard this session?") is None


async def test_a_chip_of_a_card_that_was_decided_meanwhile_is_heard_as_a_press_that_is_late(
    room: Room,
) -> None:
    thread = await _shown(room)
    card = _post(room, "Shall I build")
    assert card
    await room.chat.show(thread, cards.APPROVED)
    await room.anna.react(room.id, card, "✅ Approve")
    await room.anna.react(room.id, card, "❌ Discard")  # nothing asks a second time any more
    await room.anna.react(room.id, card, "🎉")
    [_, event] = await room.next(2)
    assert isinstance(event, Pressed)
    assert (event.verb, event.about) == (Verb.APPROVE, cards.DIGEST)


async def test_in_an_encrypted_room_it_says_once_that_it_cannot_read(room: Room) -> None:
    for _ in range(3):
        await room.anna.send(
            room.id, "m.room.encrypted", {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x"}
        )
    await room.next(0)
    await room.anna.until(lambda: _post(room, CANNOT_READ) is not None)
    said = [post for post in room.anna.posts(room.id) if CANNOT_READ in post.text]
    assert len(said) == 1


async def test_who_is_not_let_begins_nothing_that_is_remembered(room: Room, tmp_path: Path) -> None:
    room.lets = False
    await room.anna.say(room.id, "Add a back door", mention=room.bot.id)
    await room.next()
    assert not (tmp_path / "matrix" / "roots.jsonl").exists()


async def test_who_begins_a_session_in_a_thread_of_others_is_named_where_it_asks(
    room: Room,
) -> None:
    root = await room.anna.say(room.id, "Lunch?")
    await room.anna.say(room.id, "Add a dark mode", mention=room.bot.id, thread=root)
    await room.next()
    await room.chat.show(room.heard[0][0], cards.APPROVAL)
    await room.anna.until(lambda: _post(room, "Shall I build") is not None)
    [asked] = [post for post in room.anna.posts(room.id) if "Shall I build" in post.text]
    assert asked.mentions == (room.anna.id,)


async def test_a_card_that_somebody_took_away_is_posted_again_when_it_changes(room: Room) -> None:
    thread = await _shown(room)
    for card in (cards.STATUS, cards.APPROVAL):
        await room.chat.show(thread, card)
    await room.anna.until(lambda: _post(room, cards.STATUS.title) is not None)
    for text in ("Shall I build", cards.STATUS.title):
        gone = _post(room, text)
        assert gone
        await room.anna.redact(room.id, gone)
    await room.next()
    await room.chat.show(thread, cards.APPROVED)
    await room.chat.show(thread, cards.STATUS.model_copy(update={"title": "Nearly done"}))
    await room.anna.until(lambda: _post(room, "Nearly done") is not None)
    assert _post(room, "Approved by Mika")


async def test_who_stops_does_not_wait_until_others_were_asked_twice(room: Room) -> None:
    await _shown(room)
    assert room.way
    waits = room.way.limit(retry_after_ms=60_000, where="/send/m.room.message")
    await _clicks(room, "❌ Discard")
    await _clicks(room, "🛑")
    async with asyncio.timeout(20):
        while len(room.heard) < 3:  # noqa: ASYNC110 - another task fills it
            await asyncio.sleep(0.01)
    _, event = room.heard[-1]
    assert isinstance(event, Pressed)
    assert (event.verb, waits.met) == (Verb.STOP, 1)


async def _shown(room: Room) -> Thread:
    """A thread in which something is to be approved."""
    await room.anna.say(room.id, "Add a dark mode", mention=room.bot.id)
    async with asyncio.timeout(20):
        while not room.heard:  # noqa: ASYNC110 - another task fills it
            await asyncio.sleep(0.01)
    thread, _ = room.heard[0]
    await room.chat.show(thread, cards.APPROVAL)
    await room.anna.until(lambda: _post(room, "Shall I build") is not None)
    return thread


async def _clicks(room: Room, chip: str, on: str = "Shall I build") -> None:
    card = _post(room, on)
    assert card
    await room.anna.react(room.id, card, chip)


def _post(room: Room, text: str) -> str | None:
    posts = [post for post in room.anna.posts(room.id) if post.sender == room.bot.id]
    return next((post.event_id for post in posts if text in post.text), None)

"""What people do in a room, and what reaches the desk of it: on a real homeserver, with a desk that only listens."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.core.choices import Verb, Word
from bot.core.events import Commanded, Edited, Opened, Pressed, Said
from tests.adapters.matrix.hearing_room import Room, word
from tests.beds.synapse import People
from tests.fakes import cards


async def test_between_two_people_alone_no_name_is_needed_unless_the_room_has_one(
    room: Room, people: People
) -> None:
    for name in ("", "Shop"):
        alone = await people.room(room.anna, room.bot)
        if name:
            await room.anna.state(alone, "m.room.name", {"name": name})
        await room.anna.say(alone, f"Add a dark mode to {name}")
        await room.anna.say(alone, "status", mention=room.bot.id)
    async with asyncio.timeout(120):
        while [word(event) for _, event in room.heard].count(Word.STATUS) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    said = [(t.direct, e.text) for t, e in room.heard if isinstance(e, Said)]
    assert said == [(True, "Add a dark mode to")]


async def test_after_a_restart_it_still_knows_who_is_in_a_room(
    away_room: Room, people: People
) -> None:
    """A homeserver tells of members once; whoever goes on from a place must ask for all of them."""
    room = away_room
    alone = await people.room(room.anna, room.bot)
    async with room.bot_listens():
        pass
    async with room.bot_listens():
        await room.anna.say(alone, "Add a dark mode")
        [event] = await room.has_heard(1)
    assert isinstance(event, Said)
    assert room.heard[0][0].direct


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


async def test_who_writes_in_the_room_what_belongs_into_a_thread_is_told_where(
    room: Room, people: People
) -> None:
    """Clients that show threads in the lines of the room make one forget them."""
    thread = await room.shown()
    await room.anna.say(room.id, "Approve!")
    await room.anna.say(room.id, "approve the invoice, Bob?")
    told = await room.sees("counts in the thread that it is about")
    assert (told.root, told.mentions) == (told.event_id, (room.anna.id,))
    assert thread.root in told.text
    _, opened = await room.next(2)
    assert isinstance(opened, Opened)
    room.lets = False
    await room.bob.say(room.id, "approve")
    await room.has_heard(3)
    assert len([p for p in room.anna.posts(room.id) if "that it is about" in p.text]) == 1


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
    thread = await room.shown()
    await room.clicks("✅ Approve")
    [_, event] = await room.next(2)
    assert isinstance(event, Pressed)
    assert (event.verb, event.about) == (Verb.APPROVE, cards.DIGEST)
    assert room.heard[1][0] == thread


async def test_what_cannot_be_undone_is_asked_twice(room: Room) -> None:
    await room.shown()
    await room.clicks("❌ Discard")
    await room.sees("Discard this session?")
    await room.clicks("❌ Discard", on="Discard this session?")
    await room.sees("confirmed")
    [_, opened, pressed] = await room.next(3)
    assert isinstance(opened, Opened)
    assert isinstance(pressed, Pressed)
    assert (opened.verb, pressed.verb) == (Verb.DISCARD, Verb.DISCARD)


async def test_who_is_not_let_is_not_asked_a_second_time(room: Room) -> None:
    await room.shown()
    room.lets = False
    await room.clicks("❌ Discard")
    [_, opened] = await room.next(2)
    assert isinstance(opened, Opened)
    assert room.post("Discard this session?") is None


@pytest.mark.covers("O-MATRIX-7")
async def test_a_chip_of_a_card_that_was_decided_meanwhile_is_heard_as_a_press_that_is_late(
    room: Room,
) -> None:
    thread = await room.shown()
    card = room.post("Shall I build")
    assert card
    await room.chat.show(thread, cards.APPROVED)
    await room.anna.react(room.id, card.event_id, "✅ Approve")
    await room.anna.react(
        room.id, card.event_id, "❌ Discard"
    )  # nothing asks a second time any more
    await room.anna.react(room.id, card.event_id, "🎉")
    [_, event] = await room.next(2)
    assert isinstance(event, Pressed)
    assert (event.verb, event.about) == (Verb.APPROVE, cards.DIGEST)


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
    await room.sees("Shall I build")
    [asked] = [post for post in room.anna.posts(room.id) if "Shall I build" in post.text]
    assert asked.mentions == (room.anna.id,)


async def test_a_card_that_somebody_took_away_is_posted_again_when_it_changes(room: Room) -> None:
    thread = await room.shown()
    for card in (cards.STATUS, cards.APPROVAL):
        await room.chat.show(thread, card)
    await room.sees(cards.STATUS.title)
    for text in ("Shall I build", cards.STATUS.title):
        gone = room.post(text)
        assert gone
        await room.anna.redact(room.id, gone.event_id)
    await room.next()
    await room.chat.show(thread, cards.APPROVED)
    await room.chat.show(thread, cards.STATUS.model_copy(update={"title": "Nearly done"}))
    await room.sees("Nearly done")
    assert room.post("Approved by Mika")


async def test_who_stops_does_not_wait_until_others_were_asked_twice(room: Room) -> None:
    await room.shown()
    waits = room.way.limit(retry_after_ms=60_000, where="/send/m.room.message")
    await room.clicks("❌ Discard")
    await room.clicks("🛑")
    async with asyncio.timeout(120):
        while len(room.heard) < 3:  # noqa: ASYNC110 - another task fills it
            await asyncio.sleep(0.01)
    _, event = room.heard[-1]
    assert isinstance(event, Pressed)
    assert (event.verb, waits.met) == (Verb.STOP, 1)


async def test_an_edit_of_the_request_by_its_author_is_delivered_and_no_other(room: Room) -> None:
    root = await room.anna.say(room.id, "Add a dark mode", mention=room.bot.id)
    other = await room.anna.say(room.id, "Lunch?")
    for text in ("Add a light mode", "Add both"):
        await room.anna.edit(room.id, root, text, mention=room.bot.id)
    await room.bob.edit(room.id, root, "Add a back door", mention=room.bot.id)
    await room.anna.edit(room.id, other, "Dinner?", mention=room.bot.id)
    await room.next(3)
    edits = [(thread.root, e.of, e.text) for thread, e in room.heard if isinstance(e, Edited)]
    assert edits == [(root, root, "Add a light mode"), (root, root, "Add both")]


async def test_what_was_said_before_a_card_stood_there_is_heard_as_that_whenever_it_comes(
    away_room: Room,
) -> None:
    room = away_room
    async with room.bot_listens():
        thread = await room.shown(cards.ANSWER, "")
    await room.anna.say(room.id, "approve", thread=thread.root)
    async with room.bot_is_there() as chat:
        await chat.show(thread, cards.APPROVAL)
        await room.sees("Shall I build")
    async with room.bot_listens():
        await room.has_heard(2)
        await room.anna.say(room.id, "approved", thread=thread.root)
        await room.has_heard(3)
    async with room.bot_listens():
        await room.anna.say(room.id, "approve", thread=thread.root)
        heard = await room.has_heard(4)
    said = [event for event in heard if isinstance(event, Said)]
    assert [event.unseen for event in said[1:]] == [("approval:1",), (), ()]

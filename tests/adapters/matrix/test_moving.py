"""Rooms that are replaced or shut: sessions wait quietly, and go on where people have gone with them."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest

from bot.core.choices import Verb, Word
from bot.core.errors import Refused
from bot.core.events import Commanded, Pressed, Said
from bot.core.people import Thread
from tests.adapters.matrix.hearing_room import Room
from tests.adapters.matrix.listening import until
from tests.fakes import cards

pytestmark = pytest.mark.covers("O-MATRIX-6")


def asked_how_it_stands(room: Room) -> Callable[[], list[tuple[Thread, str]]]:
    """In which threads, and by whom."""
    return lambda: [
        (thread, event.by.id)
        for thread, event in room.heard
        if isinstance(event, Commanded) and event.command.word is Word.STATUS
    ]


async def test_in_a_room_it_was_put_out_of_nothing_is_tried_until_it_is_back(room: Room) -> None:
    thread = await room.shown()
    await room.anna.kick(room.id, room.bot.id)

    async def shut() -> bool:
        try:
            await room.chat.show(thread, cards.NEWS)
        except Refused as refused:
            return "put out" in refused.reason and "Invite the bot" in refused.remedy
        return False

    while not await shut():
        await room.anna.look(10)
    before = room.way.count("/send/")
    for card in (cards.NEWS, cards.STATUS):
        with pytest.raises(Refused):
            await room.chat.show(thread, card)
    assert room.way.count("/send/") == before
    await room.anna.invite(room.id, room.bot.id)
    seen = asked_how_it_stands(room)
    await until(seen)
    assert seen() == [(thread, room.anna.id)], "whoever brings it back is shown what waits"
    await room.chat.show(thread, cards.NEEDS_YOU)
    await room.sees(cards.NEEDS_YOU.title)


async def test_a_thread_goes_on_in_the_room_that_replaces_its_own(away_room: Room) -> None:
    room = away_room
    async with room.bot_listens():
        thread = await room.shown()
        finished = thread.model_copy(update={"root": await room.anna.say(room.id, "Old")})
        await room.chat.show(finished, cards.NEWS)
        new = await room.anna.upgrade(room.id)
        await room.anna.invite(new, room.bot.id)
        seen = asked_how_it_stands(room)
        await until(seen)
        assert seen() == [(thread, room.anna.id)]
        await room.chat.show(thread, cards.APPROVAL)
        begun = await room.sees("This goes on here", room=new)
        assert f"{quote(room.id, safe='!:')}/{quote(thread.root, safe='$')}" in begun.text
        card = await room.sees("Shall I build", room=new, chips=3)
        assert card.root == begun.event_id
    async with room.bot_listens():
        before = len(room.heard)
        await room.anna.say(new, "Only for admins", thread=begun.event_id)
        await room.anna.react(new, card.event_id, "✅ Approve")
        _, pressed = (await room.has_heard(before + 2))[-2:]
        (one, said), (other, _) = room.heard[-2:]
        assert isinstance(said, Said)
        assert isinstance(pressed, Pressed)
        assert (one, other) == (thread, thread), "it is the thread it was"
        assert (said.text, pressed.verb) == ("Only for admins", Verb.APPROVE)
        await room.chat.show(thread, cards.APPROVED)
        await room.sees("Approved by Mika", room=new)
        assert len([p for p in room.anna.posts(new) if p.sender == room.bot.id]) == 2


async def test_a_room_that_is_no_successor_by_its_own_word_takes_nothing_over(
    room: Room,
) -> None:
    thread = await room.shown()
    trap = await room.anna.create_room()
    await room.anna.state(room.id, "m.room.tombstone", {"replacement_room": trap})
    await room.sees("This room was replaced.")
    await room.anna.invite(trap, room.bot.id)
    await room.anna.say(trap, "hello", mention=room.bot.id)
    await room.has_heard(2)
    await room.chat.show(thread, cards.NEWS)
    await room.sees(cards.NEWS.title)
    assert room.post(cards.NEWS.title, trap) is None
    assert asked_how_it_stands(room)() == []


async def test_in_a_room_that_is_not_listed_any_more_nothing_goes_on(room: Room) -> None:
    thread = await room.shown()
    new = await room.anna.upgrade(room.id)
    await room.anna.invite(new, room.bot.id)
    await until(asked_how_it_stands(room))
    await room.chat.show(thread, cards.APPROVAL)
    begun = await room.sees("This goes on here", room=new)
    room.shunned.add(new)
    root = begun.event_id
    await room.anna.say(new, "Only for admins", thread=root)
    await until(lambda: isinstance(room.heard[-1][1], Said))
    assert (room.heard[-1][0].channel, room.heard[-1][0].root) == (new, root)
    with pytest.raises(Refused):
        await room.chat.show(thread, cards.NEWS)


async def test_in_a_room_that_was_replaced_it_is_said_once_what_to_do(away_room: Room) -> None:
    room = away_room
    async with room.bot_listens():
        await room.shown()
        for _ in range(2):
            await room.anna.state(room.id, "m.room.tombstone", {"replacement_room": "!new:hs"})
        told = await room.sees("This room was replaced.")
        assert "adds !new:hs to MATRIX_ROOMS" in told.text
        await room.next()
    async with room.bot_listens():
        await room.next()
    assert len([p for p in room.anna.posts(room.id) if "was replaced" in p.text]) == 1

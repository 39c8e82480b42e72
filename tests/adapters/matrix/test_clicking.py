"""Reactions that count, wait for words, are taken back or are late: on a real homeserver, with a desk that only listens."""

from __future__ import annotations

import pytest

from bot.core.cards import NeedsYouCard
from bot.core.choices import Choice, Style, Verb, Word
from bot.core.events import Commanded, FromPeople, Opened, Pressed, Said
from tests.adapters.matrix.hearing_room import Room
from tests.fakes import cards

ASKS = "What should its agent know?"
STUCK = NeedsYouCard(
    key="blocked:T001",
    title="T001 is stuck",
    reason="The tests fail.",
    choices=(
        Choice(label="Retry", verb=Verb.RETRY, about="t:1", style=Style.PRIMARY),
        Choice(label="Retry with a hint…", verb=Verb.HINT, about="t:1", asks=ASKS),
        Choice(label="Show the log", verb=Verb.LOG, about="T001"),
        Choice(label="Go on without it", verb=Verb.SKIP, about="t:1"),
        Choice(label="Give it up", verb=Verb.GIVE_UP, about="t:1", confirm="Give it up?"),
    ),
)
HINT = "💡 Retry with a hint…"


def presses(events: list[FromPeople]) -> list[tuple[Verb, str]]:
    return [(event.verb, event.text) for event in events if isinstance(event, Pressed)]


async def test_the_next_words_of_the_one_who_was_asked_are_the_answer(room: Room) -> None:
    thread = await room.shown(STUCK, "is stuck")
    await room.clicks(HINT, on="is stuck")
    await room.sees(ASKS)
    await room.anna.say(room.id, "status", thread=thread.root)
    await room.bob.say(room.id, "I would give up", thread=thread.root)
    hint = await room.anna.say(room.id, "Use Decimal.", thread=thread.root)
    await room.anna.say(room.id, "And thanks!", thread=thread.root)
    _, opened, status, talk, pressed, thanks = await room.next(6)
    assert isinstance(opened, Opened)
    assert isinstance(status, Commanded)
    assert isinstance(talk, Said)
    assert isinstance(pressed, Pressed)
    assert (pressed.id, pressed.verb, pressed.about) == (hint, Verb.HINT, "t:1")
    assert (pressed.text, pressed.by.id) == ("Use Decimal.", room.anna.id)
    assert isinstance(thanks, Said), "it was asked for once"
    await room.sees("I have your answer")
    assert room.post(ASKS) is None


async def test_what_somebody_was_asked_for_is_known_after_a_restart(away_room: Room) -> None:
    room = away_room
    async with room.bot_listens():
        thread = await room.shown(STUCK, "is stuck")
        await room.clicks(HINT, on="is stuck")
        await room.sees(ASKS)
    await room.anna.say(room.id, "Use Decimal.", thread=thread.root)
    async with room.bot_listens():
        assert presses(await room.next(3)) == [(Verb.HINT, "Use Decimal.")]


async def test_who_is_not_let_is_not_asked_for_words(room: Room) -> None:
    thread = await room.shown(STUCK, "is stuck")
    room.lets = False
    await room.clicks(HINT, on="is stuck")
    await room.has_heard(2)
    room.lets = True
    await room.anna.say(room.id, "Use Decimal.", thread=thread.root)
    *_, words = await room.next(3)
    assert isinstance(words, Said)
    assert room.post(ASKS) is None


@pytest.mark.covers("O-MATRIX-7")
@pytest.mark.parametrize(
    ("chip", "asks"), [(HINT, ASKS), ("🚫 Give it up", "Give it up?")], ids=["words", "sure"]
)
async def test_a_reaction_taken_back_before_it_counted_never_was(
    room: Room, chip: str, asks: str
) -> None:
    thread = await room.shown(STUCK, "is stuck")
    reaction = await room.clicks(chip, on="is stuck")
    asked = await room.sees(asks)
    await room.anna.redact(room.id, reaction)
    await room.sees("taken back, nothing happens")
    for key in asked.keys or (chip,):
        await room.anna.react(room.id, asked.event_id, key)
    await room.anna.say(room.id, "Use Decimal.", thread=thread.root)
    *_, words = await room.next(3)
    assert isinstance(words, Said)
    assert words.text == "Use Decimal."


async def test_a_reaction_that_was_taken_back_while_the_bot_was_away_does_nothing(
    away_room: Room,
) -> None:
    room = away_room
    async with room.bot_listens():
        await room.shown()
    reaction = await room.clicks("✅ Approve")
    await room.anna.redact(room.id, reaction)
    async with room.bot_listens():
        await room.next(1)


async def test_what_an_old_answer_of_the_homeserver_still_tells_does_nothing(room: Room) -> None:
    """It may tell of a reaction with all its content although that was taken back: what stands there is looked at."""
    await room.shown()
    looked = room.way.refuse(1, status=404, errcode="M_NOT_FOUND", where="/event/")
    await room.clicks("✅ Approve")
    await room.next(1)
    assert looked.met == 1


async def test_who_wants_to_stop_does_not_wait_for_a_look_at_the_reaction(room: Room) -> None:
    await room.shown()
    room.way.fail(where="/event/")
    await room.clicks("🛑")
    assert presses(await room.has_heard(2)) == [(Verb.STOP, "")]


async def test_who_takes_back_what_has_counted_is_told_once_that_nothing_changes(
    room: Room,
) -> None:
    await room.shown()
    for number in range(2, 5):
        reaction = await room.clicks("✅ Approve")
        await room.has_heard(number)
        await room.anna.redact(room.id, reaction)
        await room.sees("has counted already")
    await room.next(4)
    told = [post for post in room.anna.posts(room.id) if "has counted already" in post.text]
    assert [post.edits for post in told] == [0]
    assert told[0].mentions == (room.anna.id,)


async def test_a_reaction_that_others_remove_after_it_counted_is_nothing_to_be_told_of(
    room: Room,
) -> None:
    await room.shown()
    reaction = await room.clicks("✅ Approve", by=room.bob)
    await room.has_heard(2)
    await room.anna.redact(room.id, reaction)
    await room.next(2)
    assert room.post("has counted already") is None


async def test_a_log_is_asked_for_in_words_and_by_an_emoji_and_has_no_chip(room: Room) -> None:
    await room.shown(STUCK, "is stuck")
    post = await room.sees("is stuck", chips=4)
    assert post.keys == ("🔁 Retry", HINT, "⏭ Go on without it", "🚫 Give it up")
    assert "📜 Show the log — react with 📜, or write `logs T001`" in post.text
    await room.clicks("📜", on="is stuck")
    assert presses(await room.next(2)) == [(Verb.LOG, "")]


@pytest.mark.parametrize(
    ("thumb", "verb"), [("👍", Verb.HELPFUL), ("👎\ufe0f", Verb.UNHELPFUL), ("👍🏽", Verb.HELPFUL)]
)
async def test_a_thumb_on_a_summary_says_whether_it_was_helpful(
    room: Room, thumb: str, verb: Verb
) -> None:
    await room.shown(cards.SUMMARY, cards.SUMMARY.title)
    reaction = await room.clicks(thumb, on="React with 👍 or 👎")
    await room.has_heard(2)
    await room.anna.redact(room.id, reaction)
    assert presses(await room.next(2)) == [(verb, "")]
    assert room.post("has counted already") is None


async def test_a_word_asked_for_a_log_is_a_command(room: Room) -> None:
    thread = await room.shown(STUCK, "is stuck")
    await room.anna.say(room.id, "logs T001", thread=thread.root)
    _, event = await room.next(2)
    assert isinstance(event, Commanded)
    assert (event.command.word, event.command.argument) == (Word.LOGS, "T001")

"""Threads that the bot begins in Slack: one root message each, whatever goes wrong on the way."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from bot.core.cards import RootCard
from bot.core.errors import Refused, Unavailable
from bot.core.people import Thread
from tests.adapters.slack.bot import POST, UPDATE, Bot
from tests.beds.slack import FOREIGN, MIKA, PUBLIC, TEAM
from tests.fakes import cards

HISTORY = "conversations.history"
OTHERWISE = cards.ROOT.model_copy(update={"request": "It is about payments now."})


@pytest.fixture(autouse=True)
def _roots(at: Bot) -> None:
    """In these tests the bot may write outside of threads."""
    at.bed.leeway.roots |= {PUBLIC, at.bed.dm(MIKA)}


def roots(at: Bot, channel: str = PUBLIC) -> list[str]:
    return [one.reads for one in at.roots(channel)]


def root_of_its_own(number: int) -> RootCard:
    return cards.ROOT.model_copy(update={"key": f"root:{number}", "title": f"Part {number}"})


async def test_a_thread_hangs_from_a_message_of_its_own(at: Bot) -> None:
    thread = await at.ask()
    opened = await at.chat.open(thread, cards.ROOT)
    (root,) = roots(at)
    assert "Take payments by card." in root
    assert opened.model_copy(update={"root": thread.root}) == thread
    assert at.cards(thread) == []
    assert [one.ts for one in at.cards(opened)] == [opened.root]
    assert (at.count(POST), at.count(UPDATE)) == (1, 0)


async def test_opened_again_it_costs_no_call(at: Bot) -> None:
    thread = await at.ask()
    opened = await at.chat.open(thread, cards.ROOT)
    calls = at.calls()
    assert await at.chat.open(thread, cards.ROOT) == opened
    assert await (await at.restart()).open(thread, cards.ROOT) == opened
    assert at.calls() == calls


async def test_two_that_open_the_same_at_once_open_one_thread(at: Bot) -> None:
    thread = await at.ask()
    one, other = await asyncio.gather(
        at.chat.open(thread, cards.ROOT), at.chat.open(await at.ask(), cards.ROOT)
    )
    assert one == other
    assert len(roots(at)) == 1


async def test_shown_in_its_thread_the_root_is_edited_and_nothing_else_is(at: Bot) -> None:
    thread = await at.ask()
    opened = await at.chat.open(thread, cards.ROOT)
    await at.chat.show(opened, OTHERWISE)
    await at.chat.show(opened, cards.NEWS)
    await at.chat.show(opened, cards.NEWS.model_copy(update={"key": "root"}))
    root, *others = at.cards(opened)
    assert (root.ts, root.edits) == (opened.root, 1)
    assert "It is about payments now." in root.reads
    assert [one.edits for one in others] == [0, 0]
    await at.chat.show(thread, cards.ROOT)
    assert len(at.cards(thread)) == len(roots(at)) == 1
    assert "It is about payments now." in at.cards(opened)[0].reads


async def test_what_is_opened_with_other_words_is_edited(at: Bot) -> None:
    thread = await at.ask()
    opened = await at.chat.open(thread, cards.ROOT)
    assert await (await at.restart()).open(thread, OTHERWISE) == opened
    (root,) = roots(at)
    assert "It is about payments now." in root


async def test_after_a_lost_answer_the_root_is_found_not_posted_again(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.lose_answer(POST)
    opened = await at.chat.open(thread, cards.ROOT)
    assert at.count(POST) == len(roots(at)) == 1
    assert [one.ts for one in at.cards(opened)] == [opened.root]


async def test_a_root_whose_answer_was_lost_is_found_after_a_restart(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.open(thread, root_of_its_own(1))
    at.bed.faults.lose_answer(POST)
    at.bed.faults.answer(503, HISTORY)
    with pytest.raises(Unavailable):
        await at.chat.open(thread, cards.ROOT)
    opened = await (await at.restart()).open(thread, OTHERWISE)
    first, root = roots(at)
    assert "Part 1" in first
    assert "It is about payments now." in root
    assert at.cards(opened)[0].reads == root
    assert at.count(POST) == 2


async def test_a_root_is_found_below_much_that_was_said_since(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.lose_answer(POST)
    at.bed.faults.answer(503, HISTORY)
    with pytest.raises(Unavailable):
        await at.chat.open(thread, cards.ROOT)
    for number in range(450):
        await at.bed.say(MIKA, PUBLIC, f"Lunch {number}?")
    await (await at.restart()).open(thread, cards.ROOT)
    assert len(roots(at)) == 1


async def test_where_nothing_was_posted_yet_it_is_posted_at_the_next_try(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.drop(POST)
    with pytest.raises(Unavailable):
        await at.chat.open(thread, cards.ROOT)
    assert roots(at) == []
    await at.chat.open(thread, cards.ROOT)
    assert len(roots(at)) == 1


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_wherever_the_bot_is_killed_there_is_one_root(at: Bot, done: bool) -> None:
    thread, number, died = await at.ask(), 0, True
    while died:
        root = root_of_its_own(number)
        died = await at.dies(number, done=done, doing=partial(at.chat.open, thread, root))
        opened = await at.chat.open(thread, root)
        said = [one for one in roots(at) if f"Part {number}" in one]
        assert [one.reads for one in at.cards(opened)] == said, f"died in call {number}"
        assert len(said) == 1, f"died in call {number}"
        number += 1
    assert number > 1


async def test_parts_of_one_wish_are_threads_of_their_own(at: Bot) -> None:
    thread = await at.ask()
    opened = [await at.chat.open(thread, root_of_its_own(n)) for n in range(3)]
    assert len({one.key for one in opened}) == 3
    assert [f"Part {n}" in said for n, said in enumerate(roots(at))] == [True] * 3


async def test_a_card_of_several_messages_goes_on_in_its_thread(at: Bot) -> None:
    thread = await at.ask()
    long = cards.DOCUMENT.model_copy(update={"text": "# Part\n\nWords and more words. " * 700})
    opened = await at.chat.open(thread, long)
    root, *parts = at.cards(opened)
    assert (root.ts, len(roots(at))) == (opened.root, 1)
    assert parts
    assert at.files(opened) == ["spec.md"]
    await (await at.restart()).open(thread, long)
    assert len(at.cards(opened)) == 1 + len(parts)


async def test_alone_with_somebody_the_thread_is_in_the_same_conversation(at: Bot) -> None:
    dm = at.bed.dm(MIKA)
    said = await at.bed.say(MIKA, dm, "Build me a web shop")
    thread = Thread(platform="slack", workspace=TEAM, channel=dm, root=said.ts, direct=True)
    opened = await at.chat.open(thread, cards.ROOT)
    assert (opened.channel, opened.direct) == (dm, True)
    assert len(roots(at, dm)) == 1


async def test_the_bot_gives_no_sign_that_it_heard_itself(at: Bot) -> None:
    thread = await at.ask()
    opened = await at.chat.open(thread, cards.ROOT)
    await at.chat.show(thread, cards.RECEIVED)
    await at.chat.show(opened, cards.RECEIVED)
    await at.bed.until(lambda: at.bed.reactions(thread.root))
    await at.restart()
    assert at.bed.reactions(opened.root) == {}


async def test_where_the_bot_may_not_write_nothing_is_opened(at: Bot) -> None:
    thread = Thread(platform="slack", workspace=TEAM, channel=FOREIGN, root="1.000001")
    with pytest.raises(Refused):
        await at.chat.open(thread, cards.ROOT)

"""Nothing is lost, doubled or out of order when the bot is killed, or Slack wants to be left alone."""

from __future__ import annotations

import asyncio

import pytest

from bot.core.cards import Card
from bot.core.errors import Unavailable
from bot.core.people import Thread
from tests.adapters.slack.bot import DEADLINE, LATER, LATEST, POST, Bot, document, news
from tests.beds.slack import AKI, PUBLIC
from tests.fakes import cards

A_TICK = 120.0
SCRIPT: tuple[Card | None, ...] = (
    cards.DOCUMENT,
    cards.STATUS,
    None,  # somebody talks
    LATER,  # moved to the end of the thread
    LATEST,
    document(3, "k"),
    document(2, "k"),
)


async def played(bot: Bot, thread: Thread, calls: int, *, done: bool) -> bool:
    """All of the script, with one death in it. False: there was nothing left to die in."""
    died = False
    for card in SCRIPT:
        if card is None:
            await bot.bed.reply(AKI, PUBLIC, thread.root, "what about the colours?")
            await bot.bed.all_acked(DEADLINE)
            continue
        bot.clock += A_TICK
        before = len(bot.bed.calls)

        async def show(card: Card = card) -> None:
            await bot.chat.show(thread, card)

        if died:
            await show()
            continue
        died = await bot.dies(calls, done=done, doing=show)
        if died:
            await show()
        counted = ("chat.", "conversations.", "files.")
        calls -= sum(one.method.startswith(counted) for one in bot.bed.calls[before:])
    return died


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_wherever_the_bot_is_killed_each_card_stands_once(bot: Bot, done: bool) -> None:
    unharmed = await bot.ask()
    await played(bot, unharmed, 10_000, done=done)
    expected = (sorted(bot.reads(unharmed)), sorted(bot.files(unharmed)))
    calls = 0
    died = True
    while died:
        thread = await bot.ask()
        died = await played(bot, thread, calls, done=done)
        stands = (sorted(bot.reads(thread)), sorted(bot.files(thread)))
        assert stands == expected, f"died in call {calls}"
        calls += 1
    assert calls > 10


# Told to wait


async def test_in_a_storm_of_put_offs_order_is_kept_and_nothing_lost(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.storm(15, retry_after=0)
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for n in range(10):
            group.create_task(at.chat.show(thread, news(f"news {n}")))
    assert [one.text for one in at.cards(thread)] == [f"⏳ News {n}" for n in range(10)]


async def test_many_sessions_at_once_in_one_channel_all_show_everything_once_and_in_order(
    at: Bot,
) -> None:
    threads = [await at.ask() for _ in range(10)]
    at.bed.faults.storm(10, retry_after=0, method="chat.*")
    wanted = [f"News {n}" for n in range(8)]

    async def one(thread: Thread) -> None:
        for text in wanted:
            await at.chat.show(thread, news(text))

    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for thread in threads:
            group.create_task(one(thread))
    for thread in threads:
        assert [one.text for one in at.cards(thread)] == [f"⏳ {text}" for text in wanted]


async def test_what_needs_a_person_goes_before_news_of_others(at: Bot) -> None:
    first, second = await at.ask(), await at.ask()
    at.bed.faults.storm(3, retry_after=0, method=POST)
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for n in range(3):
            group.create_task(at.chat.show(first, news(f"news {n}")))
        group.create_task(at.chat.show(second, cards.APPROVAL))
    posted = [one for one in at.bed.messages(PUBLIC) if one.by_our_bot]
    assert [one.thread == second.root for one in posted] == [False, True, False, False]


async def test_a_long_wait_is_left_to_the_one_who_asked(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.storm(1, retry_after=120, method=POST)
    with pytest.raises(Unavailable) as caught:
        await at.chat.show(thread, cards.NEWS)
    assert caught.value.retry_after == 120
    await at.chat.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == 1

"""The way out to Slack: nothing is lost, doubled or out of order when the program ends, or Slack wants to be left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from adapters.slack.blocks.cards import draw_card
from adapters.slack.blocks.kit import BlockKind, Site
from adapters.slack.blocks.kit import SlackMessage as Drawn
from adapters.slack.outgoing import BETWEEN_MOVES
from bot.core.cards import Card, NewsCard
from bot.core.errors import Unavailable
from bot.core.people import Thread
from tests.adapters.slack.office import (
    DEADLINE,
    LATER,
    LATEST,
    POST,
    Fate,
    Killed,
    Office,
    in_parts,
    news,
)
from tests.beds.slack import PUBLIC
from tests.fakes import cards

SCRIPT: tuple[Card, ...] = (
    cards.DOCUMENT,
    cards.STATUS,
    LATER,  # moved: somebody has talked
    LATEST,
    NewsCard(key="k", title="three"),
    NewsCard(key="k", title="two"),
)


def drawn_or_counted(card: Card, site: Site | None, rich: frozenset[BlockKind]) -> Sequence[Drawn]:
    counted = in_parts({"three": 3, "two": 2})
    return counted(card, site, rich) if card.key == "k" else draw_card(card, site, rich)


async def played(at: Office, thread: Thread, path: Path, fate: Fate) -> None:
    """Everything is shown, each card again if the program ends with it."""
    gateway = at.start(fate, draw=drawn_or_counted, path=path)
    at.clock = 0
    for card in SCRIPT:
        at.clock += BETWEEN_MOVES
        if card is LATER:
            gateway.talked(thread)
        try:
            await gateway.show(thread, card)
        except Killed:
            await gateway.close()
            gateway = at.start(draw=drawn_or_counted, path=path)
            await gateway.show(thread, card)


async def test_wherever_the_program_ends_each_card_stands_once(at: Office, tmp_path: Path) -> None:
    whole = Fate()
    unharmed = await at.ask()
    await played(at, unharmed, tmp_path / "whole" / "cards", whole)
    expected = sorted(at.reads(unharmed))
    assert whole.steps > 25
    for step in range(1, whole.steps + 1):
        thread = await at.ask()
        await played(at, thread, tmp_path / str(step) / "cards", Fate(step))
        assert sorted(at.reads(thread)) == expected, f"ended at step {step}"
        assert at.files(thread) == ["spec.md"], f"ended at step {step}"


# Told to wait


async def test_in_a_storm_of_put_offs_order_is_kept_and_nothing_lost(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.storm(15, retry_after=0)
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for n in range(10):
            group.create_task(at.gateway.show(thread, news(f"news {n}")))
    assert [one.text for one in at.cards(thread)] == [f"⏳ News {n}" for n in range(10)]


async def test_two_hundred_cards_at_once_in_one_channel_all_stand_once_and_in_order(
    at: Office,
) -> None:
    threads = [await at.ask() for _ in range(20)]
    at.bed.faults.storm(10, retry_after=0, method="chat.*")
    wanted = [f"News {n}" for n in range(10)]

    async def session(thread: Thread) -> None:
        for text in wanted:
            await at.gateway.show(thread, news(text))

    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for thread in threads:
            group.create_task(session(thread))
    for thread in threads:
        assert [one.text for one in at.cards(thread)] == [f"⏳ {text}" for text in wanted]


async def test_what_needs_a_person_goes_before_news_of_others(at: Office) -> None:
    first, second = await at.ask(), await at.ask()
    at.bed.faults.storm(3, retry_after=0, method=POST)
    async with asyncio.timeout(DEADLINE), asyncio.TaskGroup() as group:
        for n in range(3):
            group.create_task(at.gateway.show(first, news(f"news {n}")))
        group.create_task(at.gateway.show(second, cards.APPROVAL))
    posted = [one for one in at.bed.messages(PUBLIC) if one.by_our_bot]
    assert [one.thread == second.root for one in posted] == [False, True, False, False]


async def test_a_long_wait_is_left_to_the_one_who_asked(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.storm(1, retry_after=120, method=POST)
    with pytest.raises(Unavailable) as caught:
        await at.gateway.show(thread, cards.NEWS)
    assert caught.value.retry_after == 120
    await at.gateway.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == 1

"""A live card is edited at most once in a while: what came too soon waits, and of what waited only the last is shown."""

from __future__ import annotations

import asyncio

import pytest

from bot.core.states import Status
from tests.adapters.slack.office import (
    CHANGED,
    DEADLINE,
    LATER,
    LATEST,
    POST,
    SET_STATUS,
    UPDATE,
    Office,
)
from tests.fakes import cards

SOON = 0.2
NEVER = 3_600.0
STOPPED = LATEST.model_copy(update={"status": Status.PAUSED})


async def test_of_several_edits_in_a_moment_the_last_is_shown(at: Office) -> None:
    gateway, thread = at.start(between_edits=SOON), await at.ask()
    for card in (cards.STATUS, LATER, LATEST):
        await gateway.show(thread, card)
    (only,) = at.cards(thread)
    assert "12:03:04 UTC" in only.reads
    await at.bed.until(lambda: "14:03:04 UTC" in only.reads, DEADLINE)
    assert (at.count(POST), at.count(UPDATE)) == (1, 1)


async def test_what_comes_after_a_while_waits_for_nothing(at: Office) -> None:
    gateway, thread = at.start(between_edits=NEVER), await at.ask()
    for card in (cards.STATUS, LATER, LATEST):
        at.clock += NEVER
        await gateway.show(thread, card)
    assert at.count(UPDATE) == 2


async def test_what_says_that_work_has_ended_waits_for_nothing_and_is_the_last(at: Office) -> None:
    gateway, thread = at.start(between_edits=SOON), await at.ask()
    for card in (cards.STATUS, LATER, STOPPED):
        await gateway.show(thread, card)
    (only,) = at.cards(thread)
    assert "Paused" in only.reads
    await asyncio.gather(*(one for one in asyncio.all_tasks() if "_tried" in repr(one.get_coro())))
    assert "Paused" in only.reads
    assert at.count(UPDATE) == 1


async def test_other_cards_wait_for_nothing(at: Office) -> None:
    gateway, thread = at.start(between_edits=NEVER), await at.ask()
    for card in (cards.STATUS, cards.NEWS, LATER, CHANGED):
        await gateway.show(thread, card)
    assert "It is mended." in at.reads(thread)[1]
    assert at.count(UPDATE) == 1


async def test_what_waits_still_says_that_work_goes_on(at: Office) -> None:
    gateway, thread = at.start(between_edits=NEVER), await at.ask()
    for n, card in enumerate((cards.STATUS, LATER, LATEST), 1):
        await gateway.show(thread, card)
        await at.bed.until(lambda n=n: at.count(SET_STATUS) == n, DEADLINE)


async def test_a_status_that_stands_already_says_again_that_work_goes_on(at: Office) -> None:
    thread = await at.ask()
    for n in range(1, 4):
        await at.gateway.show(thread, cards.STATUS)
        await at.bed.until(lambda n=n: at.count(SET_STATUS) == n, DEADLINE)
    assert (at.count(POST), at.count(UPDATE)) == (1, 0)


async def test_what_waits_when_the_program_ends_is_let_be(at: Office) -> None:
    gateway, thread = at.start(between_edits=NEVER), await at.ask()
    for card in (cards.STATUS, LATER):
        await gateway.show(thread, card)
    async with asyncio.timeout(DEADLINE):
        await gateway.close()
    await at.start().show(thread, LATER)
    assert "13:03:04 UTC" in at.reads(thread)[0]


async def test_an_edit_that_fails_after_its_wait_is_made_by_the_next_status(
    at: Office, caplog: pytest.LogCaptureFixture
) -> None:
    gateway, thread = at.start(between_edits=SOON), await at.ask()
    await gateway.show(thread, cards.STATUS)
    at.bed.faults.drop(UPDATE)
    await gateway.show(thread, LATER)
    await at.bed.until(
        lambda: any("left undone" in one.message for one in caplog.records), DEADLINE
    )
    at.clock += SOON
    await gateway.show(thread, LATEST)
    assert "14:03:04 UTC" in at.reads(thread)[0]

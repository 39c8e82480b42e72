"""The live card, words in private, and the signs beside the cards."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path

import pytest

from adapters.slack.outgoing import BETWEEN_MOVES
from bot.core.errors import Refused, Unavailable
from tests.adapters.slack.office import (
    CHANGED,
    DEADLINE,
    LATER,
    LATEST,
    PERSON,
    POST,
    REPLIES,
    SET_STATUS,
    UPDATE,
    Office,
    actions,
    office,
)
from tests.beds.slack import AKI, BOT, MIKA, PUBLIC, SECOND, Grants
from tests.fakes import cards


@pytest.mark.covers("O-C8")
async def test_after_talk_the_status_stands_at_the_end_again(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    await at.bed.reply(AKI, PUBLIC, thread.root, "what about the colours?")
    at.gateway.talked(thread)
    at.clock += BETWEEN_MOVES
    await at.gateway.show(thread, LATER)
    said = at.bed.thread(PUBLIC, thread.root)
    assert [one.by_our_bot for one in said] == [False, False, True]
    await at.gateway.show(thread, LATEST)
    (only,) = at.cards(thread)
    assert "14:03:04 UTC" in only.reads


async def test_without_talk_and_for_other_cards_it_stays_where_it_is(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    await at.gateway.show(thread, cards.NEWS)
    at.clock += BETWEEN_MOVES
    await at.gateway.show(thread, LATER)
    at.gateway.talked(thread)
    await at.gateway.show(thread, CHANGED)
    assert at.count(POST) == 2


@pytest.mark.covers("O-C8")
async def test_what_is_to_come_anew_stands_at_the_end_also_where_nobody_has_talked(
    at: Office,
) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    await at.gateway.show(thread, cards.NEWS)
    at.clock += BETWEEN_MOVES
    await at.gateway.show(thread, LATER.model_copy(update={"anew": True}))
    news, status = at.cards(thread)
    assert "tests failed" in news.reads
    assert status.edits == 0
    at.clock += BETWEEN_MOVES
    await at.gateway.show(thread, LATEST)
    assert [one.edits for one in at.cards(thread)] == [0, 1]


async def test_it_moves_at_most_once_a_tick_and_is_edited_meanwhile(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    at.clock += BETWEEN_MOVES / 2
    at.gateway.talked(thread)
    await at.gateway.show(thread, LATER)
    assert (at.count(POST), at.count(UPDATE)) == (1, 1)
    at.clock += BETWEEN_MOVES / 2
    await at.gateway.show(thread, LATEST)
    assert at.count(POST) == 2
    assert len(at.cards(thread)) == 1


async def test_a_move_whose_answer_is_lost_leaves_one_status(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    at.gateway.talked(thread)
    at.clock += BETWEEN_MOVES
    at.bed.faults.lose_answer(POST)
    at.bed.faults.answer(502, REPLIES)
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, LATER)
    assert len(at.cards(thread)) == 2
    await at.gateway.show(thread, LATER)
    (only,) = at.cards(thread)
    assert "13:03:04 UTC" in only.reads
    assert at.count(POST) == 2


async def test_a_move_that_was_cut_off_leaves_the_old_status(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    at.bed.faults.lose_answer(UPDATE)
    at.bed.faults.answer(502, REPLIES)
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, LATER)
    # it says already what is wanted, only too far up
    at.gateway.talked(thread)
    at.clock += BETWEEN_MOVES
    at.bed.faults.drop(POST)
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, LATER)
    assert len(at.cards(thread)) == 1
    await at.gateway.show(thread, LATER)
    assert len(at.cards(thread)) == 1
    assert at.count(POST) == 3


# In private, and the sign that it was heard


async def test_a_whisper_is_seen_by_one_person_in_the_thread(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.whisper(thread, PERSON, cards.PROBLEM)
    (seen,) = at.bed.ephemerals(MIKA)
    assert seen.thread == thread.root
    assert "tmux is not installed." in seen.reads
    assert actions(seen.blocks)
    assert at.bed.ephemerals(AKI) == at.cards(thread) == []


async def test_a_whisper_where_there_is_no_thread_stands_in_the_channel(at: Office) -> None:
    thread = (await at.ask()).model_copy(update={"root": ""})
    await at.gateway.whisper(thread, PERSON, cards.ANSWER)
    assert at.bed.ephemerals(MIKA)[0].thread is None


async def test_a_whisper_waits_for_nobody(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.storm(None, retry_after=30, method=POST)
    showing = asyncio.create_task(at.gateway.show(thread, cards.NEWS))
    await at.bed.until(lambda: at.count(POST), DEADLINE)
    await at.gateway.whisper(thread, PERSON, cards.PROBLEM)
    assert at.bed.ephemerals(MIKA)
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


async def test_a_whisper_to_somebody_who_is_not_there_is_refused(at: Office) -> None:
    thread = await at.ask()
    stranger = PERSON.model_copy(update={"id": "T0001:U9"})
    with pytest.raises(Refused, match="user_not_in_channel"):
        await at.gateway.whisper(thread, stranger, cards.ANSWER)


async def test_a_request_is_marked_as_heard_once(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.react(thread)
    await at.gateway.show(thread, cards.RECEIVED)
    await at.bed.until(lambda: at.count("reactions.add") == 2, DEADLINE)
    assert at.bed.reactions(thread.root) == {"eyes": [BOT]}
    await at.gateway.show(thread, cards.RECEIVED.model_copy(update={"uncommitted": 0}))
    assert at.count("reactions.add") == 2


async def test_no_card_waits_for_signs_or_fails_with_them(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.slow(3_600, "reactions.*")
    at.bed.faults.slow(3_600, "agents.*")
    async with asyncio.timeout(DEADLINE):
        await at.gateway.show(thread, cards.RECEIVED)
        await at.gateway.show(thread, cards.STATUS)
    assert len(at.cards(thread)) == 2
    async with asyncio.timeout(DEADLINE / 3):
        await at.gateway.close()


@pytest.mark.parametrize("method", ["reactions.add", SET_STATUS])
async def test_a_sign_that_fails_is_let_be(at: Office, method: str) -> None:
    thread = await at.ask()
    at.bed.faults.answer(500, method)
    await at.gateway.show(thread, cards.RECEIVED)
    await at.bed.until(lambda: at.count(method), DEADLINE)
    await at.gateway.show(thread, cards.STATUS)
    await at.bed.until(lambda: at.bed.session_status(PUBLIC, thread.root), DEADLINE)


# How a session stands, in Slack's own words


async def test_slack_is_told_how_the_session_stands(at: Office) -> None:
    thread = await at.ask()
    for card, status in (
        (cards.RECEIVED, "processing"),
        (cards.APPROVAL, "suspended"),
        (cards.APPROVED, "processing"),
        (cards.STOPPED, "active"),
        (cards.STATUS, "processing"),
        (cards.STATUS.model_copy(update={"tasks": ()}), "processing"),
        (cards.SUMMARY, "closed"),
    ):
        await at.gateway.show(thread, card)
        await at.bed.until(
            lambda status=status: at.bed.session_status(PUBLIC, thread.root) == status, DEADLINE
        )


async def test_of_many_changes_the_last_counts_and_none_overtakes_it(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.slow(1, SET_STATUS)
    for card in (cards.RECEIVED, cards.APPROVAL, cards.APPROVED, cards.STOPPED):
        await at.gateway.show(thread, card)
    await at.bed.until(lambda: at.bed.session_status(PUBLIC, thread.root) == "active", DEADLINE)
    told = [one.args["status"] for one in at.bed.called(SET_STATUS)]
    assert told == ["processing", "active"]


async def test_every_status_says_again_that_work_goes_on(at: Office) -> None:
    thread = await at.ask()
    for n, card in enumerate((cards.STATUS, LATER, LATEST), 1):
        await at.gateway.show(thread, card)
        await at.bed.until(lambda n=n: at.count(SET_STATUS) == n, DEADLINE)


@pytest.mark.parametrize("error", ["not_authorized", "unknown_method", "missing_scope"])
async def test_where_slack_has_no_such_sign_it_is_asked_once(at: Office, error: str) -> None:
    at.forgiven = ("missing_scope", "unknown_method")
    at.bed.faults.refuse(error, SET_STATUS, None)
    thread = await at.ask()
    await at.gateway.show(thread, cards.STATUS)
    await at.bed.until(lambda: at.count(SET_STATUS), DEADLINE)
    for card in (LATER, LATEST, cards.SUMMARY):
        await at.gateway.show(thread, card)
    await settled()
    assert at.count(SET_STATUS) == 1
    assert len(at.cards(thread)) == 2


async def test_a_channel_without_such_a_sign_takes_it_from_no_other(at: Office) -> None:
    here, there = await at.ask(), await at.ask(SECOND)
    at.bed.faults.refuse("method_not_supported_for_channel_type", SET_STATUS)
    for card in (cards.STATUS, LATER):
        await at.gateway.show(there, card)
        await at.bed.until(lambda: at.count(SET_STATUS), DEADLINE)
        await settled()
    assert at.count(SET_STATUS) == 1
    await at.gateway.show(here, cards.STATUS)
    await at.bed.until(lambda: at.bed.session_status(PUBLIC, here.root), DEADLINE)


async def test_a_stop_button_that_nobody_hears_is_not_left_standing(tmp_path: Path) -> None:
    deaf = dataclasses.replace(Grants.of_manifest(), events=frozenset())
    async with office(tmp_path, deaf) as at:
        thread = await at.ask()
        await at.gateway.show(thread, cards.STATUS)
        await at.bed.until(lambda: at.count(SET_STATUS) == 2, DEADLINE)
        await at.gateway.show(thread, LATER)
        await settled()
        assert at.count(SET_STATUS) == 2
        assert at.bed.session_status(PUBLIC, thread.root) == "active"


async def settled() -> None:
    """Time enough for a call that should not be made."""
    for _ in range(20):
        await asyncio.sleep(0.005)

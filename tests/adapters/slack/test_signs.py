"""The live card: where it stands, how often it is edited; words in private; and the signs beside the cards."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from adapters.slack.chat import SlackChat
from bot.core.errors import Refused, Unavailable
from bot.core.people import Thread
from bot.core.states import Status
from tests.adapters.slack.bot import (
    CHANGED,
    DEADLINE,
    DEAF,
    LATER,
    LATEST,
    POST,
    REPLIES,
    UPDATE,
    Bot,
    actions,
    person,
)
from tests.beds.slack import AKI, BOT, MIKA, PUBLIC, SECOND
from tests.fakes import cards

A_TICK = 120.0
SET_STATUS = "agents.sessions.setStatus"
SOON = 0.2
NEVER = 3_600.0
STOPPED = LATEST.model_copy(update={"status": Status.PAUSED})


async def talk(bot: Bot, thread: Thread) -> None:
    """Somebody says something below the card, and the bot hears it."""
    await bot.bed.reply(AKI, PUBLIC, thread.root, "what about the colours?")
    await bot.bed.all_acked(DEADLINE)


async def edits(at: Bot, every: float) -> SlackChat:
    """So many seconds lie between two edits."""
    at.options["between_edits"] = every
    return await at.restart()


@pytest.mark.covers("O-C8")
async def test_after_talk_the_status_stands_at_the_end_again(bot: Bot) -> None:
    thread = await bot.ask()
    await bot.chat.show(thread, cards.STATUS)
    await talk(bot, thread)
    bot.clock += A_TICK
    await bot.chat.show(thread, LATER)
    said = bot.bed.thread(PUBLIC, thread.root)
    assert [one.by_our_bot for one in said] == [False, False, True]
    await bot.chat.show(thread, LATEST)
    (only,) = bot.cards(thread)
    assert "14:03:04 UTC" in only.reads


async def test_without_talk_and_for_other_cards_it_stays_where_it_is(bot: Bot) -> None:
    thread = await bot.ask()
    await bot.chat.show(thread, cards.STATUS)
    await bot.chat.show(thread, cards.NEWS)
    bot.clock += A_TICK
    await bot.chat.show(thread, LATER)
    await talk(bot, thread)
    await bot.chat.show(thread, CHANGED)
    assert bot.count(POST) == 2


@pytest.mark.covers("O-C8")
async def test_what_is_to_come_anew_stands_at_the_end_also_where_nobody_has_talked(
    bot: Bot,
) -> None:
    thread = await bot.ask()
    await bot.chat.show(thread, cards.STATUS)
    await bot.chat.show(thread, cards.NEWS)
    bot.clock += A_TICK
    await bot.chat.show(thread, LATER.model_copy(update={"anew": True}))
    news, status = bot.cards(thread)
    assert "tests failed" in news.reads
    assert status.edits == 0
    bot.clock += A_TICK
    await bot.chat.show(thread, LATEST)
    assert [one.edits for one in bot.cards(thread)] == [0, 1]


async def test_it_moves_at_most_once_a_tick_and_is_edited_meanwhile(bot: Bot) -> None:
    thread = await bot.ask()
    await bot.chat.show(thread, cards.STATUS)
    bot.clock += A_TICK / 2
    await talk(bot, thread)
    await bot.chat.show(thread, LATER)
    assert (bot.count(POST), bot.count(UPDATE)) == (1, 1)
    bot.clock += A_TICK / 2
    await bot.chat.show(thread, LATEST)
    assert bot.count(POST) == 2
    assert len(bot.cards(thread)) == 1


async def test_a_move_whose_answer_is_lost_leaves_one_status(bot: Bot) -> None:
    thread = await bot.ask()
    await bot.chat.show(thread, cards.STATUS)
    await talk(bot, thread)
    bot.clock += A_TICK
    bot.bed.faults.lose_answer(POST)
    bot.bed.faults.answer(502, REPLIES)
    with pytest.raises(Unavailable):
        await bot.chat.show(thread, LATER)
    assert len(bot.cards(thread)) == 2
    await bot.chat.show(thread, LATER)
    (only,) = bot.cards(thread)
    assert "13:03:04 UTC" in only.reads
    assert bot.count(POST) == 2


async def test_a_move_that_was_cut_off_leaves_the_old_status(bot: Bot) -> None:
    thread = await bot.ask()
    await bot.chat.show(thread, cards.STATUS)
    bot.bed.faults.lose_answer(UPDATE)
    bot.bed.faults.answer(502, REPLIES)
    with pytest.raises(Unavailable):
        await bot.chat.show(thread, LATER)
    # it says already what is wanted, only too far up
    await talk(bot, thread)
    bot.clock += A_TICK
    bot.bed.faults.drop(POST)
    with pytest.raises(Unavailable):
        await bot.chat.show(thread, LATER)
    assert len(bot.cards(thread)) == 1
    await bot.chat.show(thread, LATER)
    assert len(bot.cards(thread)) == 1
    assert bot.count(POST) == 3


# In private, and the sign that it was heard


async def test_a_whisper_is_seen_by_one_person_in_the_thread(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.whisper(thread, person(), cards.PROBLEM)
    (seen,) = at.bed.ephemerals(MIKA)
    assert seen.thread == thread.root
    assert "tmux is not installed." in seen.reads
    assert actions(seen)
    assert at.bed.ephemerals(AKI) == at.cards(thread) == []


async def test_a_whisper_where_there_is_no_thread_stands_in_the_channel(at: Bot) -> None:
    thread = (await at.ask()).model_copy(update={"root": ""})
    await at.chat.whisper(thread, person(), cards.ANSWER)
    assert at.bed.ephemerals(MIKA)[0].thread is None


async def test_a_whisper_waits_for_nobody(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.storm(None, retry_after=30, method=POST)
    showing = asyncio.create_task(at.chat.show(thread, cards.NEWS))
    await at.bed.until(lambda: at.count(POST), DEADLINE)
    await at.chat.whisper(thread, person(), cards.PROBLEM)
    assert at.bed.ephemerals(MIKA)
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


async def test_a_whisper_to_somebody_who_is_not_there_is_refused(at: Bot) -> None:
    thread = await at.ask()
    stranger = person().model_copy(update={"id": "T0001:U9"})
    with pytest.raises(Refused, match="user_not_in_channel"):
        await at.chat.whisper(thread, stranger, cards.ANSWER)


async def test_a_request_is_marked_as_heard_once(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.show(thread, cards.RECEIVED)
    await at.bed.until(lambda: at.bed.reactions(thread.root) == {"eyes": [BOT]}, DEADLINE)
    await at.chat.show(thread, cards.RECEIVED.model_copy(update={"uncommitted": 0}))
    assert at.count("reactions.add") == 1


async def test_no_card_waits_for_signs_or_fails_with_them(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.slow(3_600, "reactions.*")
    at.bed.faults.slow(3_600, "agents.*")
    async with asyncio.timeout(DEADLINE):
        await at.chat.show(thread, cards.RECEIVED)
        await at.chat.show(thread, cards.STATUS)
    assert len(at.cards(thread)) == 2
    async with asyncio.timeout(DEADLINE / 3):
        await at.restart()


@pytest.mark.parametrize("method", ["reactions.add", SET_STATUS])
async def test_a_sign_that_fails_is_let_be(at: Bot, method: str) -> None:
    thread = await at.ask()
    at.bed.faults.answer(500, method)
    await at.chat.show(thread, cards.RECEIVED)
    await at.bed.until(lambda: at.count(method), DEADLINE)
    await at.chat.show(thread, cards.STATUS)
    await at.bed.until(lambda: at.bed.session_status(PUBLIC, thread.root), DEADLINE)


# How a session stands, in Slack's own words


async def test_slack_is_told_how_the_session_stands(at: Bot) -> None:
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
        await at.chat.show(thread, card)
        await at.bed.until(
            lambda status=status: at.bed.session_status(PUBLIC, thread.root) == status, DEADLINE
        )


async def test_of_many_changes_the_last_counts_and_none_overtakes_it(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.slow(1, SET_STATUS)
    for card in (cards.RECEIVED, cards.APPROVAL, cards.APPROVED, cards.STOPPED):
        await at.chat.show(thread, card)
    await at.bed.until(lambda: at.bed.session_status(PUBLIC, thread.root) == "active", DEADLINE)
    told = [one.args["status"] for one in at.bed.called(SET_STATUS)]
    assert told == ["processing", "active"]


async def test_every_status_says_again_that_work_goes_on(at: Bot) -> None:
    thread = await at.ask()
    for n, card in enumerate((cards.STATUS, LATER, LATEST), 1):
        await at.chat.show(thread, card)
        await at.bed.until(lambda n=n: at.count(SET_STATUS) == n, DEADLINE)


@pytest.mark.parametrize("error", ["not_authorized", "unknown_method", "missing_scope"])
async def test_where_slack_has_no_such_sign_it_is_asked_once(at: Bot, error: str) -> None:
    at.bed.leeway.forgiven |= {"missing_scope", "unknown_method"}
    at.bed.faults.refuse(error, SET_STATUS, None)
    thread = await at.ask()
    await at.chat.show(thread, cards.STATUS)
    await at.bed.until(lambda: at.count(SET_STATUS), DEADLINE)
    for card in (LATER, LATEST, cards.SUMMARY):
        await at.chat.show(thread, card)
    await settled()
    assert at.count(SET_STATUS) == 1
    assert len(at.cards(thread)) == 2


async def test_a_channel_without_such_a_sign_takes_it_from_no_other(at: Bot) -> None:
    here, there = await at.ask(), await at.ask(SECOND)
    at.bed.faults.refuse("method_not_supported_for_channel_type", SET_STATUS)
    for card in (cards.STATUS, LATER):
        await at.chat.show(there, card)
        await at.bed.until(lambda: at.count(SET_STATUS), DEADLINE)
        await settled()
    assert at.count(SET_STATUS) == 1
    await at.chat.show(here, cards.STATUS)
    await at.bed.until(lambda: at.bed.session_status(PUBLIC, here.root), DEADLINE)


async def test_a_stop_button_that_nobody_hears_is_not_left_standing(at: Bot) -> None:
    at.bed.world.grants = replace(DEAF, events=frozenset())
    thread = await at.ask()
    await at.chat.show(thread, cards.STATUS)
    await at.bed.until(lambda: at.count(SET_STATUS) == 2, DEADLINE)
    await at.chat.show(thread, LATER)
    await settled()
    assert at.count(SET_STATUS) == 2
    assert at.bed.session_status(PUBLIC, thread.root) == "active"


async def settled() -> None:
    """Time enough for a call that should not be made."""
    for _ in range(20):
        await asyncio.sleep(0.005)


# How often it is edited


async def test_of_several_edits_in_a_moment_the_last_is_shown(at: Bot) -> None:
    gateway, thread = await edits(at, SOON), await at.ask()
    for card in (cards.STATUS, LATER, LATEST):
        await gateway.show(thread, card)
    (only,) = at.cards(thread)
    assert "12:03:04 UTC" in only.reads
    await at.bed.until(lambda: "14:03:04 UTC" in only.reads, DEADLINE)
    assert (at.count(POST), at.count(UPDATE)) == (1, 1)


async def test_what_comes_after_a_while_waits_for_nothing(at: Bot) -> None:
    gateway, thread = await edits(at, NEVER), await at.ask()
    for card in (cards.STATUS, LATER, LATEST):
        at.clock += NEVER
        await gateway.show(thread, card)
    assert at.count(UPDATE) == 2


async def test_what_says_that_work_has_ended_waits_for_nothing_and_is_the_last(at: Bot) -> None:
    gateway, thread = await edits(at, SOON), await at.ask()
    for card in (cards.STATUS, LATER, STOPPED):
        await gateway.show(thread, card)
    (only,) = at.cards(thread)
    assert "Paused" in only.reads
    await asyncio.gather(*(one for one in asyncio.all_tasks() if "_tried" in repr(one.get_coro())))
    assert "Paused" in only.reads
    assert at.count(UPDATE) == 1


async def test_other_cards_wait_for_nothing(at: Bot) -> None:
    gateway, thread = await edits(at, NEVER), await at.ask()
    for card in (cards.STATUS, cards.NEWS, LATER, CHANGED):
        await gateway.show(thread, card)
    assert "It is mended." in at.reads(thread)[1]
    assert at.count(UPDATE) == 1


async def test_what_waits_still_says_that_work_goes_on(at: Bot) -> None:
    gateway, thread = await edits(at, NEVER), await at.ask()
    for n, card in enumerate((cards.STATUS, LATER, LATEST), 1):
        await gateway.show(thread, card)
        await at.bed.until(lambda n=n: at.count(SET_STATUS) == n, DEADLINE)


async def test_a_status_that_stands_already_says_again_that_work_goes_on(at: Bot) -> None:
    thread = await at.ask()
    for n in range(1, 4):
        await at.chat.show(thread, cards.STATUS)
        await at.bed.until(lambda n=n: at.count(SET_STATUS) == n, DEADLINE)
    assert (at.count(POST), at.count(UPDATE)) == (1, 0)


async def test_what_waits_when_the_program_ends_is_let_be(at: Bot) -> None:
    gateway, thread = await edits(at, NEVER), await at.ask()
    for card in (cards.STATUS, LATER):
        await gateway.show(thread, card)
    async with asyncio.timeout(DEADLINE):
        await edits(at, 0)
    await at.chat.show(thread, LATER)
    assert "13:03:04 UTC" in at.reads(thread)[0]


async def test_an_edit_that_fails_after_its_wait_is_made_by_the_next_status(
    at: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    gateway, thread = await edits(at, SOON), await at.ask()
    await gateway.show(thread, cards.STATUS)
    at.bed.faults.drop(UPDATE)
    await gateway.show(thread, LATER)
    await at.bed.until(
        lambda: any("left undone" in one.message for one in caplog.records), DEADLINE
    )
    at.clock += SOON
    await gateway.show(thread, LATEST)
    assert "14:03:04 UTC" in at.reads(thread)[0]

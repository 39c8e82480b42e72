"""The way out to Slack: a card stands in its thread once, whatever goes wrong on the way."""

from __future__ import annotations

import asyncio

import pytest

from bot.core.errors import Refused, Unavailable
from tests.adapters.slack.bot import CHANGED, DEADLINE, POST, REPLIES, UPDATE, Bot, document
from tests.beds.slack import AKI, ARCHIVED, BOT_TOKEN, FOREIGN, PUBLIC, SECOND
from tests.fakes import cards


async def test_a_card_is_posted_once_and_edited_in_place(at: Bot) -> None:
    thread = await at.ask()
    for card in (cards.RECEIVED, cards.NEWS, CHANGED):
        await at.chat.show(thread, card)
    first, second = at.cards(thread)
    assert "設定は次回の起動時にも保存されること。" in first.reads
    assert "It is mended." in second.reads
    assert second.edits == 1


async def test_what_stands_already_costs_no_call(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.show(thread, cards.NEWS)
    calls = at.calls()
    await at.chat.show(thread, cards.NEWS)
    await (await at.restart()).show(thread, cards.NEWS)
    assert at.calls() == calls


async def test_nothing_is_unfurled_and_a_notification_is_short(at: Bot) -> None:
    await at.chat.show(await at.ask(), cards.APPROVAL)
    args = at.bed.called(POST)[0].args
    assert (args["unfurl_links"], args["unfurl_media"]) == (False, False)
    assert 0 < len(args["text"]) <= 300


async def test_a_card_without_a_thread_is_posted_nowhere(at: Bot) -> None:
    thread = (await at.ask()).model_copy(update={"root": ""})
    with pytest.raises(Refused):
        await at.chat.show(thread, cards.NEWS)
    assert at.count(POST) == 0


async def test_a_message_that_somebody_deleted_is_posted_anew(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.show(thread, cards.NEWS)
    at.bed.world.messages.remove(at.cards(thread)[0])
    await at.chat.show(thread, CHANGED)
    assert len(at.cards(thread)) == 1


@pytest.mark.parametrize("error", ["cant_update_message", "edit_window_closed"])
async def test_a_message_that_cannot_be_edited_gives_way_to_a_new_one(at: Bot, error: str) -> None:
    thread = await at.ask()
    await at.chat.show(thread, cards.NEWS)
    at.bed.faults.refuse(error, UPDATE)
    await at.chat.show(thread, CHANGED)
    (only,) = at.cards(thread)
    assert "It is mended." in only.reads


async def test_a_card_grows_and_shrinks_without_leaving_anything_behind(at: Bot) -> None:
    thread = await at.ask()
    for size in (3, 2, 5):
        await at.chat.show(thread, document(size))
        assert [f"Part {n}\n" in text for n, text in enumerate(at.reads(thread))] == [True] * size
    assert at.count(POST) == 3 + 3


async def test_what_stands_already_waits_for_no_turn(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.show(thread, cards.NEWS)
    at.bed.faults.storm(None, retry_after=30, method=POST)
    showing = asyncio.create_task(at.chat.show(thread, cards.PROBLEM))
    await at.bed.until(lambda: at.count(POST) == 2, DEADLINE)
    async with asyncio.timeout(DEADLINE):
        await at.chat.show(thread, cards.NEWS)
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


# Answers that are lost


async def test_after_a_lost_answer_the_message_is_found_not_posted_again(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.lose_answer(POST)
    await at.chat.show(thread, cards.NEWS)
    await at.chat.show(thread, CHANGED)
    assert len(at.cards(thread)) == at.count(POST) == 1


async def test_after_a_lost_answer_an_edit_is_not_made_again(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.show(thread, cards.NEWS)
    at.bed.faults.lose_answer(UPDATE)
    await at.chat.show(thread, CHANGED)
    (only,) = at.cards(thread)
    assert (only.edits, at.count(UPDATE)) == (1, 1)


async def test_a_lost_part_of_a_document_is_found(at: Bot) -> None:
    thread = await at.ask()
    for _ in range(2):
        at.bed.faults.lose_answer(POST)
        await at.chat.show(thread, document(3))
    assert [f"Part {n}\n" in text for n, text in enumerate(at.reads(thread))] == [True] * 3


async def test_a_request_that_was_cut_off_is_made_again_at_the_next_try(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.drop(POST)
    with pytest.raises(Unavailable):
        await at.chat.show(thread, cards.NEWS)
    await at.chat.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == 1


async def test_a_card_is_found_in_a_thread_of_many_pages(at: Bot) -> None:
    thread = await at.ask()
    for _ in range(400):
        await at.bed.reply(AKI, PUBLIC, thread.root, "talk")
    at.bed.faults.lose_answer(POST)
    await at.chat.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == 1
    assert at.count(REPLIES) == 3


async def test_a_message_that_is_known_is_edited_even_if_it_cannot_be_found(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.show(thread, cards.NEWS)
    at.bed.faults.drop(UPDATE)
    with pytest.raises(Unavailable):
        await at.chat.show(thread, CHANGED)
    at.cards(thread)[0].metadata = None
    await at.chat.show(thread, CHANGED)
    (only,) = at.cards(thread)
    assert "It is mended." in only.reads


async def test_while_nothing_can_be_found_out_nothing_is_posted(at: Bot) -> None:
    thread = await at.ask()
    at.bed.faults.lose_answer(POST)
    at.bed.faults.answer(502, REPLIES, times=2)
    for _ in range(2):
        with pytest.raises(Unavailable):
            await at.chat.show(thread, cards.NEWS)
    await at.chat.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == at.count(POST) == 1


async def test_a_message_that_arrives_after_nobody_waited_any_more_is_the_only_one(
    at: Bot,
) -> None:
    thread = await at.ask()
    at.bed.faults.slow(0.5, POST)
    showing = asyncio.create_task(at.chat.show(thread, cards.NEWS))
    await at.bed.until(lambda: at.count(POST), DEADLINE)
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)
    assert at.cards(thread) == []
    await at.bed.until(lambda: at.cards(thread), DEADLINE)
    await (await at.restart()).show(thread, cards.NEWS)
    assert len(at.cards(thread)) == at.count(POST) == 1


async def test_while_slack_is_down_it_is_said_and_afterwards_each_card_stands_once(
    at: Bot,
) -> None:
    thread = await at.ask()
    at.bed.faults.answer(502, times=None)
    for card in (cards.NEWS, cards.NEWS, CHANGED):
        with pytest.raises(Unavailable) as caught:
            await at.chat.show(thread, card)
        assert caught.value.__cause__ is not None
    at.bed.faults.heal()
    await at.chat.show(thread, CHANGED)
    assert len(at.cards(thread)) == 1


async def test_a_slack_that_cannot_be_reached_may_be_there_later(at: Bot) -> None:
    thread = await at.ask()
    await at.bed.go_away()
    with pytest.raises(Unavailable):
        await at.chat.show(thread, cards.NEWS)
    await at.bed.come_back()
    await at.chat.show(thread, cards.NEWS)
    assert at.count(POST) == 1


async def test_an_edit_that_was_cut_off_is_not_taken_for_made(at: Bot) -> None:
    thread = await at.ask()
    await at.chat.show(thread, cards.NEWS)
    at.bed.faults.drop(UPDATE)
    with pytest.raises(Unavailable):
        await at.chat.show(thread, CHANGED)
    await at.chat.show(thread, CHANGED)
    (only,) = at.cards(thread)
    assert "It is mended." in only.reads


# What Slack refuses


@pytest.mark.parametrize(
    ("channel", "code"),
    [("C0NOWHERE", "channel_not_found"), (FOREIGN, "not_in_channel"), (ARCHIVED, "is_archived")],
)
async def test_a_channel_the_bot_cannot_write_in_is_said_with_what_to_do(
    at: Bot, channel: str, code: str
) -> None:
    thread = (await at.ask()).model_copy(update={"channel": channel})
    with pytest.raises(Refused, match=code) as caught:
        await at.chat.show(thread, cards.NEWS)
    assert caught.value.remedy
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("code", ["invalid_auth", "token_revoked", "account_inactive"])
async def test_a_token_that_counts_no_more_is_said_without_the_token(at: Bot, code: str) -> None:
    thread = await at.ask()
    at.bed.faults.refuse(code, POST)
    with pytest.raises(Refused, match=code) as caught:
        await at.chat.show(thread, cards.NEWS)
    assert "Install" in caught.value.remedy
    assert BOT_TOKEN not in f"{caught.value!r} {caught.value.remedy} {caught.value.__cause__!r}"


async def test_one_channel_that_refuses_does_not_hold_up_another(at: Bot) -> None:
    here, there = await at.ask(PUBLIC), await at.ask(SECOND)
    at.bed.faults.storm(None, retry_after=30, method=POST, channel=PUBLIC)
    showing = asyncio.create_task(at.chat.show(here, cards.NEWS))
    await at.bed.until(lambda: at.count(POST), DEADLINE)
    await at.chat.show(there, cards.NEWS)
    assert len(at.cards(there)) == 1
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


# A full disk


async def test_what_cannot_be_written_down_is_not_posted_but_that_it_cannot_is(at: Bot) -> None:
    thread = await at.ask()
    ledger = at.folder / "cards.jsonl"
    ledger.unlink()
    ledger.mkdir()
    full = cards.PROBLEM.model_copy(update={"key": "disk", "title": "I cannot save my work"})
    with pytest.raises(Unavailable):
        await at.chat.show(thread, cards.NEWS)
    for _ in range(2):
        await at.chat.show(thread, full)
    (only,) = at.cards(thread)
    assert "I cannot save my work" in only.reads

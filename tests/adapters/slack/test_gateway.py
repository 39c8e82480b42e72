"""The way out to Slack: a card stands in its thread once, whatever goes wrong on the way."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adapters.slack.messages import PAGE_SIZE
from bot.core.cards import NewsCard
from bot.core.errors import Refused, Unavailable
from tests.adapters.slack.office import (
    CHANGED,
    DEADLINE,
    POST,
    REPLIES,
    UPDATE,
    Office,
    in_parts,
    office,
)
from tests.beds.slack import AKI, ARCHIVED, BOT_TOKEN, FOREIGN, PUBLIC, SECOND
from tests.fakes import cards


async def test_a_card_is_posted_once_and_edited_in_place(at: Office) -> None:
    thread = await at.ask()
    for card in (cards.RECEIVED, cards.NEWS, CHANGED):
        await at.gateway.show(thread, card)
    first, second = at.cards(thread)
    assert "設定は次回の起動時にも保存されること。" in first.reads
    assert "It is mended." in second.reads
    assert second.edits == 1


async def test_what_stands_already_costs_no_call(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    calls = len(at.bed.calls)
    await at.gateway.show(thread, cards.NEWS)
    await at.start().show(thread, cards.NEWS)
    assert len(at.bed.calls) == calls


async def test_every_kind_of_card_is_taken_as_it_was_drawn(at: Office) -> None:
    thread = await at.ask()
    for card in cards.EVERY_KIND:
        await at.gateway.show(thread, card)
    assert all(one.thread == thread.root for one in at.cards(thread))
    assert len(at.cards(thread)) == len(cards.EVERY_KIND)


async def test_nothing_is_unfurled_and_a_notification_is_short(at: Office) -> None:
    await at.gateway.show(await at.ask(), cards.APPROVAL)
    args = at.bed.called(POST)[0].args
    assert (args["unfurl_links"], args["unfurl_media"]) == (False, False)
    assert 0 < len(args["text"]) <= 300


async def test_the_same_key_in_another_thread_is_another_card(at: Office) -> None:
    one, other = await at.ask(), await at.ask()
    await at.gateway.show(one, cards.NEWS)
    await at.gateway.show(other, cards.NEWS)
    assert len(at.cards(one)) == len(at.cards(other)) == 1


async def test_a_card_without_a_thread_is_posted_nowhere(at: Office) -> None:
    thread = (await at.ask()).model_copy(update={"root": ""})
    with pytest.raises(Refused):
        await at.gateway.show(thread, cards.NEWS)
    assert at.count(POST) == 0


async def test_a_message_that_somebody_deleted_is_posted_anew(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    at.bed.world.messages.remove(at.cards(thread)[0])
    await at.gateway.show(thread, CHANGED)
    assert len(at.cards(thread)) == 1


@pytest.mark.parametrize("error", ["cant_update_message", "edit_window_closed"])
async def test_a_message_that_cannot_be_edited_gives_way_to_a_new_one(
    at: Office, error: str
) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    at.bed.faults.refuse(error, UPDATE)
    await at.gateway.show(thread, CHANGED)
    (only,) = at.cards(thread)
    assert "It is mended." in only.reads


async def test_a_card_grows_and_shrinks_without_leaving_anything_behind(at: Office) -> None:
    sizes = {"three": 3, "two": 2, "five": 5}
    gateway = at.start(draw=in_parts(sizes))
    thread = await at.ask()
    for title, size in sizes.items():
        await gateway.show(thread, NewsCard(key="k", title=title))
        assert at.reads(thread) == [f"part {n}" for n in range(size)]
    assert at.count(POST) == 3 + 3


async def test_what_stands_already_waits_for_no_turn(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    at.bed.faults.storm(None, retry_after=30, method=POST)
    showing = asyncio.create_task(at.gateway.show(thread, cards.PROBLEM))
    await at.bed.until(lambda: at.count(POST) == 2, DEADLINE)
    async with asyncio.timeout(DEADLINE):
        await at.gateway.show(thread, cards.NEWS)
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


# Answers that are lost


async def test_after_a_lost_answer_the_message_is_found_not_posted_again(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.lose_answer(POST)
    await at.gateway.show(thread, cards.NEWS)
    await at.gateway.show(thread, CHANGED)
    assert len(at.cards(thread)) == at.count(POST) == 1


async def test_after_a_lost_answer_an_edit_is_not_made_again(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    at.bed.faults.lose_answer(UPDATE)
    await at.gateway.show(thread, CHANGED)
    (only,) = at.cards(thread)
    assert (only.edits, at.count(UPDATE)) == (1, 1)


async def test_a_lost_part_of_a_document_is_found(at: Office) -> None:
    thread = await at.ask()
    gateway = at.start(draw=in_parts({"three": 3}))
    for _ in range(2):
        at.bed.faults.lose_answer(POST)
        await gateway.show(thread, NewsCard(key="k", title="three"))
    assert at.reads(thread) == ["part 0", "part 1", "part 2"]


async def test_a_request_that_was_cut_off_is_made_again_at_the_next_try(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.drop(POST)
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, cards.NEWS)
    await at.gateway.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == 1


async def test_a_card_is_found_in_a_thread_of_many_pages(at: Office) -> None:
    thread = await at.ask()
    for _ in range(2 * PAGE_SIZE):
        await at.bed.reply(AKI, PUBLIC, thread.root, "talk")
    at.bed.faults.lose_answer(POST)
    await at.gateway.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == 1
    assert at.count(REPLIES) == 3


async def test_a_message_that_is_known_is_edited_even_if_it_cannot_be_found(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    at.bed.faults.drop(UPDATE)
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, CHANGED)
    at.cards(thread)[0].metadata = None
    await at.gateway.show(thread, CHANGED)
    (only,) = at.cards(thread)
    assert "It is mended." in only.reads


async def test_while_nothing_can_be_found_out_nothing_is_posted(at: Office) -> None:
    thread = await at.ask()
    at.bed.faults.lose_answer(POST)
    at.bed.faults.answer(502, REPLIES, times=2)
    for _ in range(2):
        with pytest.raises(Unavailable):
            await at.gateway.show(thread, cards.NEWS)
    await at.gateway.show(thread, cards.NEWS)
    assert len(at.cards(thread)) == at.count(POST) == 1


async def test_a_message_that_arrives_after_nobody_waited_any_more_is_the_only_one(
    tmp_path: Path,
) -> None:
    async with office(tmp_path, seconds=1) as at:
        thread = await at.ask()
        at.bed.faults.slow(3, POST)
        with pytest.raises(Unavailable):
            await at.gateway.show(thread, cards.NEWS)
        assert at.cards(thread) == []
        await at.bed.until(lambda: at.cards(thread), DEADLINE)
        await at.start().show(thread, cards.NEWS)
        assert len(at.cards(thread)) == at.count(POST) == 1


async def test_while_slack_is_down_it_is_said_and_afterwards_each_card_stands_once(
    at: Office,
) -> None:
    thread = await at.ask()
    at.bed.faults.answer(502, times=None)
    for card in (cards.NEWS, cards.NEWS, CHANGED):
        with pytest.raises(Unavailable) as caught:
            await at.gateway.show(thread, card)
        assert caught.value.__cause__ is not None
    at.bed.faults.heal()
    await at.gateway.show(thread, CHANGED)
    assert len(at.cards(thread)) == 1


async def test_a_slack_that_cannot_be_reached_may_be_there_later(at: Office) -> None:
    thread = await at.ask()
    await at.bed.go_away()
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, cards.NEWS)
    await at.bed.come_back()
    await at.gateway.show(thread, cards.NEWS)
    assert at.count(POST) == 1


async def test_an_edit_that_was_cut_off_is_not_taken_for_made(at: Office) -> None:
    thread = await at.ask()
    await at.gateway.show(thread, cards.NEWS)
    at.bed.faults.drop(UPDATE)
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, CHANGED)
    await at.gateway.show(thread, CHANGED)
    (only,) = at.cards(thread)
    assert "It is mended." in only.reads


# What Slack refuses


@pytest.mark.parametrize(
    ("channel", "code"),
    [("C0NOWHERE", "channel_not_found"), (FOREIGN, "not_in_channel"), (ARCHIVED, "is_archived")],
)
async def test_a_channel_the_bot_cannot_write_in_is_said_with_what_to_do(
    at: Office, channel: str, code: str
) -> None:
    thread = (await at.ask()).model_copy(update={"channel": channel})
    with pytest.raises(Refused, match=code) as caught:
        await at.gateway.show(thread, cards.NEWS)
    assert caught.value.remedy
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("code", ["invalid_auth", "token_revoked", "account_inactive"])
async def test_a_token_that_counts_no_more_is_said_without_the_token(at: Office, code: str) -> None:
    thread = await at.ask()
    at.bed.faults.refuse(code, POST)
    with pytest.raises(Refused, match=code) as caught:
        await at.gateway.show(thread, cards.NEWS)
    assert "Install" in caught.value.remedy
    assert BOT_TOKEN not in f"{caught.value!r} {caught.value.remedy} {caught.value.__cause__!r}"


async def test_one_channel_that_refuses_does_not_hold_up_another(at: Office) -> None:
    here, there = await at.ask(PUBLIC), await at.ask(SECOND)
    at.bed.faults.storm(None, retry_after=30, method=POST, channel=PUBLIC)
    showing = asyncio.create_task(at.gateway.show(here, cards.NEWS))
    await at.bed.until(lambda: at.count(POST), DEADLINE)
    await at.gateway.show(there, cards.NEWS)
    assert len(at.cards(there)) == 1
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


# A full disk


async def test_what_cannot_be_written_down_is_not_posted_but_that_it_cannot_is(at: Office) -> None:
    thread = await at.ask()
    at.path.unlink()
    at.path.mkdir()
    full = cards.PROBLEM.model_copy(update={"key": "disk", "title": "I cannot save my work"})
    with pytest.raises(Unavailable):
        await at.gateway.show(thread, cards.NEWS)
    for _ in range(2):
        await at.gateway.show(thread, full)
    (only,) = at.cards(thread)
    assert "I cannot save my work" in only.reads

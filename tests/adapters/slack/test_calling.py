"""What becomes of a call to Slack: done, put off, refused, or nobody knows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.client import (
    LONGEST_WAIT,
    AnswerLost,
    SlackAccess,
    SlackDenied,
    call_slack,
    new_client,
)
from bot.core.errors import Unavailable
from tests.beds.slack import ARCHIVED, BOT_TOKEN, PUBLIC, SlackBed


@pytest.fixture
async def bed() -> AsyncIterator[SlackBed]:
    async with SlackBed() as one:
        yield one


@pytest.fixture
async def client(bed: SlackBed) -> AsyncIterator[Any]:
    access = SlackAccess(bot_token=BOT_TOKEN, api_url=bed.api_url)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as session:
        yield new_client(access, session)


async def test_an_answer_is_what_slack_said(client: Any) -> None:
    assert (await call_slack("who am I", client.auth_test))["user_id"] == "U0BOT"


async def test_a_call_that_is_put_off_is_made_again(bed: SlackBed, client: Any) -> None:
    bed.faults.storm(3, retry_after=0)
    assert (await call_slack("who am I", client.auth_test))["ok"]
    assert len(bed.calls) == 4


async def test_nobody_is_made_to_wait_longer_than_a_minute_in_all(
    bed: SlackBed, client: Any
) -> None:
    bed.faults.storm(None, retry_after=int(LONGEST_WAIT) + 1)
    with pytest.raises(Unavailable) as caught:
        await call_slack("who am I", client.auth_test)
    assert caught.value.retry_after == LONGEST_WAIT + 1
    assert not isinstance(caught.value, AnswerLost)
    assert len(bed.calls) == 1


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_broken_answer_leaves_open_whether_it_was_done(
    bed: SlackBed, client: Any, status: int
) -> None:
    bed.faults.answer(status)
    with pytest.raises(AnswerLost, match="who am I"):
        await call_slack("who am I", client.auth_test)


@pytest.mark.parametrize("code", ["fatal_error", "internal_error", "request_timeout"])
async def test_trouble_inside_of_slack_leaves_open_whether_it_was_done(
    bed: SlackBed, client: Any, code: str
) -> None:
    bed.faults.refuse(code)
    with pytest.raises(AnswerLost):
        await call_slack("who am I", client.auth_test)


async def test_a_lost_answer_leaves_open_whether_it_was_done(bed: SlackBed, client: Any) -> None:
    bed.faults.lose_answer()
    with pytest.raises(AnswerLost):
        await call_slack("who am I", client.auth_test)


async def test_a_time_out_leaves_open_whether_it_was_done(bed: SlackBed, client: Any) -> None:
    async def too_late() -> AsyncSlackResponse:
        raise TimeoutError

    with pytest.raises(AnswerLost):
        await call_slack("who am I", too_late)


async def test_what_never_arrived_was_surely_not_done(bed: SlackBed, client: Any) -> None:
    await bed.go_away()
    with pytest.raises(Unavailable) as caught:
        await call_slack("who am I", client.auth_test)
    assert not isinstance(caught.value, AnswerLost)


async def test_a_refusal_comes_with_slacks_own_word(client: Any) -> None:
    with pytest.raises(SlackDenied) as caught:
        await call_slack("a word", lambda: client.chat_postMessage(channel=ARCHIVED, text="hello"))
    assert caught.value.code == "is_archived"


async def test_a_refused_form_comes_with_what_is_wrong_with_it(bed: SlackBed, client: Any) -> None:
    bed.leeway.forgiven.add("invalid_blocks")
    blocks = [{"type": "header", "text": {"type": "plain_text", "text": "x" * 500}}]
    with pytest.raises(SlackDenied) as caught:
        await call_slack(
            "a word", lambda: client.chat_postMessage(channel=PUBLIC, text="x", blocks=blocks)
        )
    assert "/blocks/0" in caught.value.details[0]


async def test_a_bug_is_not_taken_for_trouble_with_slack() -> None:
    async def broken() -> AsyncSlackResponse:
        raise KeyError("ts")

    with pytest.raises(KeyError):
        await call_slack("who am I", broken)


async def test_whoever_waits_can_be_called_off(bed: SlackBed, client: Any) -> None:
    bed.faults.storm(None, retry_after=50)
    waiting = asyncio.create_task(call_slack("who am I", client.auth_test))
    await bed.until(lambda: bed.calls, 20)
    waiting.cancel()
    async with asyncio.timeout(20):
        await asyncio.gather(waiting, return_exceptions=True)
    assert waiting.cancelled()

"""The played model in trouble, met by the real client: each fault is what it says, and ends when it should."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, RateLimitError
from pydantic import ValidationError

from adapters.demo.languages import JAPANESE
from adapters.demo.model import WRONG, Faults, PlayedModel
from bot.core.errors import Refused
from bot.core.spec_kit import spec
from tests.adapters.played.conftest import ask
from tests.prompts import REPLIES


async def test_in_an_outage_every_connection_is_cut_until_it_ends(
    model: PlayedModel, client: AsyncOpenAI
) -> None:
    model.faults.outage()
    for _ in range(2):
        with pytest.raises(APIConnectionError):
            await ask(client, "plan")
    model.faults.end()
    assert await ask(client, "plan")


async def test_too_many_requests_say_when_to_ask_again(
    model: PlayedModel, client: AsyncOpenAI
) -> None:
    model.faults.too_many_requests(times=1, retry_after=7)
    with pytest.raises(RateLimitError) as refusal:
        await ask(client, "plan")
    assert refusal.value.response.headers["Retry-After"] == "7"
    assert await ask(client, "plan")


async def test_a_used_up_quota_is_no_passing_trouble(
    model: PlayedModel, client: AsyncOpenAI
) -> None:
    model.faults.no_quota()
    for _ in range(2):
        with pytest.raises(APIStatusError) as refusal:
            await ask(client, "plan")
        assert (refusal.value.status_code, refusal.value.code) == (402, "insufficient_quota")


async def test_a_slow_one_is_slow_at_the_named_question_only(
    model: PlayedModel, client: AsyncOpenAI
) -> None:
    model.faults.slow(600, "plan")
    asking = asyncio.create_task(ask(client, "plan"))
    async with asyncio.timeout(20):
        while "plan" not in model.asked:
            await asyncio.wait([asking], timeout=0.01)
        assert await ask(client, "specify")
    assert not asking.done()
    asking.cancel()
    await asyncio.wait([asking])


async def test_half_an_answer_is_none(model: PlayedModel, client: AsyncOpenAI) -> None:
    model.faults.half_answers(times=1)
    with pytest.raises(APIConnectionError):
        await ask(client, "plan")
    assert await ask(client, "plan")


async def test_an_answer_of_the_wrong_schema_comes_as_often_as_was_said(
    model: PlayedModel, client: AsyncOpenAI
) -> None:
    model.faults.wrong_schema(times=2, question="clarify")
    assert await ask(client, "tasks") != WRONG
    assert [await ask(client, "clarify") == WRONG for _ in range(3)] == [True, True, False]


def test_the_wrong_schema_is_wrong_for_every_question() -> None:
    wrong: dict[str, Any] = json.loads(WRONG)
    for reply in REPLIES.values():
        with pytest.raises(ValidationError):
            reply.model_validate(wrong)
    assert spec.check_spec(WRONG)
    assert spec.check_plan(WRONG)


async def test_the_wrong_language_is_japanese_for_english_and_english_for_japanese(
    model: PlayedModel, client: AsyncOpenAI
) -> None:
    model.faults.wrong_language(times=2)
    assert json.loads(await ask(client, "clarify"))["title"] == JAPANESE.title
    japanese = await ask(client, "clarify", request="割引コードを追加してください")
    assert json.loads(japanese)["title"] != JAPANESE.title
    assert json.loads(await ask(client, "clarify"))["title"] != JAPANESE.title


async def test_faults_pass_in_turn_the_last_one_first(
    model: PlayedModel, client: AsyncOpenAI
) -> None:
    model.faults.outage()
    model.faults.wrong_schema(times=1)
    assert await ask(client, "plan") == WRONG
    with pytest.raises(APIConnectionError):
        await ask(client, "plan")


async def test_it_keeps_the_questions_it_was_asked(model: PlayedModel, client: AsyncOpenAI) -> None:
    for question in ("clarify", "plan"):
        await ask(client, question)
    assert model.asked == ["clarify", "plan"]


def test_nobody_can_make_trouble_outside_demo_and_tests() -> None:
    with pytest.raises(Refused, match="only in the demo and in tests"):
        Faults({"GWT_BOT_STAGE": "production"})

"""The played model, asked over a real socket by the real client."""

from __future__ import annotations

import asyncio

import pytest
from openai import (
    APIConnectionError,
    AsyncOpenAI,
    AuthenticationError,
)

from adapters.demo.model import PlayedModel
from bot.core.errors import Refused
from tests.adapters.played.conftest import STAGE, ask


async def test_a_question_outside_the_script_gets_a_polite_answer(client: AsyncOpenAI) -> None:
    assert "sorry" in await ask(client, "judge the weather")


async def test_another_key_is_refused(model: PlayedModel) -> None:
    async with AsyncOpenAI(base_url=model.base_url, api_key="sk-real", max_retries=0) as client:
        with pytest.raises(AuthenticationError, match="key"):
            await ask(client, "plan")


async def test_closing_does_not_wait_for_those_who_are_being_answered() -> None:
    async with PlayedModel(STAGE, delay=600) as model:
        client = AsyncOpenAI(base_url=model.base_url, api_key=model.key, max_retries=0)
        asking = asyncio.create_task(ask(client, "plan"))
        async with asyncio.timeout(120):
            while not model.talks:
                await asyncio.wait([asking], timeout=0.01)
    with pytest.raises(APIConnectionError):
        await asking
    await client.close()


@pytest.mark.covers("O-K3")
def test_it_does_not_serve_outside_demo_and_tests() -> None:
    for environ in ({}, {"GWT_BOT_STAGE": ""}, {"GWT_BOT_STAGE": "production"}):
        with pytest.raises(Refused, match="only in the demo and in tests") as refusal:
            PlayedModel(environ)
        assert "gwt-bot demo" in refusal.value.remedy


async def test_only_this_machine_can_reach_it(model: PlayedModel) -> None:
    assert model.base_url.startswith("http://127.0.0.1:")

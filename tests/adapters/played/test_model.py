"""The played model, asked over a real socket by the real client."""

from __future__ import annotations

import asyncio
import json

import pytest
from openai import (
    APIConnectionError,
    AsyncOpenAI,
    AuthenticationError,
    BadRequestError,
    NotFoundError,
)

from adapters.demo.model import PlayedModel
from bot.core.errors import Refused
from tests.adapters.played.conftest import STAGE, ask


async def test_a_question_outside_the_script_gets_a_polite_answer(client: AsyncOpenAI) -> None:
    assert "sorry" in await ask(client, "judge the weather")


async def test_the_answer_has_all_that_the_protocol_wants_and_a_plausible_usage(
    client: AsyncOpenAI,
) -> None:
    reply = await client.chat.completions.create(
        model="played", messages=[{"role": "user", "content": "hello there"}]
    )
    assert (reply.object, reply.model) == ("chat.completion", "played")
    assert reply.id
    assert reply.created > 0
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert reply.usage.prompt_tokens == 4
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


async def test_many_ask_at_once(client: AsyncOpenAI) -> None:
    replies = await asyncio.gather(*(ask(client, "plan") for _ in range(20)))
    assert len(set(replies)) == 1


async def test_another_key_is_refused(model: PlayedModel) -> None:
    async with AsyncOpenAI(base_url=model.base_url, api_key="sk-real", max_retries=0) as client:
        with pytest.raises(AuthenticationError, match="key"):
            await ask(client, "plan")


async def test_an_unknown_path_is_not_found(client: AsyncOpenAI) -> None:
    with pytest.raises(NotFoundError, match="knows only"):
        await client.models.list()


async def test_a_stream_is_refused(client: AsyncOpenAI) -> None:
    with pytest.raises(BadRequestError, match="does not stream"):
        await client.chat.completions.create(
            model="played", messages=[{"role": "user", "content": "x"}], stream=True
        )


@pytest.mark.parametrize(
    ("sent", "status", "reason"),
    [
        (b"not json", 400, "not JSON"),
        (b"[]", 400, "not a JSON object"),
        (b"{}", 400, "no messages"),
        (b'{"messages": [1, {"role": "user"}]}', 200, "sorry"),
    ],
)
async def test_an_odd_body_is_answered_in_json(
    model: PlayedModel, sent: bytes, status: int, reason: str
) -> None:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer played\r\n"
    answered = await exchange(model, head + b"Content-Length: %d\r\n\r\n" % len(sent) + sent)
    assert answered[0] == status
    assert reason in json.dumps(answered[1])


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", 431),
        (b"nonsense\r\n\r\n", 404),
    ],
)
async def test_what_is_no_proper_request_is_refused(
    model: PlayedModel, sent: bytes, status: int
) -> None:
    assert (await exchange(model, sent))[0] == status


async def test_somebody_who_hangs_up_disturbs_nobody(
    model: PlayedModel, client: AsyncOpenAI
) -> None:
    _, writer = await connect(model)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Le")
    writer.close()
    await writer.wait_closed()
    assert await ask(client, "plan")


async def test_closing_does_not_wait_for_those_who_are_being_answered() -> None:
    async with PlayedModel(STAGE, delay=600) as model:
        client = AsyncOpenAI(base_url=model.base_url, api_key=model.key, max_retries=0)
        asking = asyncio.create_task(ask(client, "plan"))
        async with asyncio.timeout(20):
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


async def connect(model: PlayedModel) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    port = int(model.base_url.split(":")[2].split("/")[0])
    return await asyncio.open_connection("127.0.0.1", port)


async def exchange(model: PlayedModel, sent: bytes) -> tuple[int, object]:
    """Status and JSON body of the answer to some bytes."""
    reader, writer = await connect(model)
    writer.write(sent)
    answered = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, body = answered.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)

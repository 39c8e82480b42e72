"""One row for each thing an endpoint may do, over a real socket: what the bot makes of it. Read it as a table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from adapters.llm import LlmAccess, OpenAiLlm
from bot.core.errors import PortError, Refused, Unavailable
from tests.fakes.llm_server import (
    Behaviour,
    LlmServer,
    answers,
    cut,
    fails,
    half,
    says,
    silent,
    trickles,
)

KEY = "sk-test-0123456789"
LATER = format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)
PAST = "Wed, 21 Oct 2015 07:28:00 GMT"
SOON = {"Retry-After": "7"}


@dataclass(frozen=True)
class Row:
    """What is raised, with these words in its reason and these in its remedy."""

    does: Behaviour
    raised: type[PortError]
    reason: str
    remedy: str
    retry_after: float | None = None


AGAIN = "again by itself"
LATER_AGAIN = "again by itself in 60 minutes, as the endpoint asks"
BY_A_PERSON = "A person must act"

ROWS: dict[str, Row] = {
    # 200, but no answer
    "a web page": Row(
        answers(b"<html><body>hi</body></html>", kind="text/html"),
        Unavailable,
        "a web page",
        "OPENAI_BASE_URL",
    ),
    "an error": Row(
        answers({"error": {"message": "overloaded"}}), Unavailable, "overloaded", AGAIN
    ),
    "an error with its status": Row(
        answers({"error": {"message": "no such model", "code": 404}}),
        Refused,
        "no model m-1",
        "OPENAI_MODEL",
    ),
    "choices []": Row(answers({"choices": []}), Unavailable, "without a message", "asks again"),
    "choices null": Row(answers({"choices": None}), Unavailable, "without a message", "asks again"),
    "content null": Row(says(None), Unavailable, "answered with nothing", "asks again"),
    "a broken body": Row(answers(b'{"choices": ['), Unavailable, "cannot be read", "asks again"),
    "an empty body": Row(answers(b""), Unavailable, "empty answer", "asks again"),
    "finish_reason length": Row(
        says('{"tasks": [', finish="length"), Refused, "cut off", "output limit"
    ),
    "finish_reason content_filter": Row(
        says("", finish="content_filter"), Refused, "withheld", "differently"
    ),
    # the connection
    "the connection is cut": Row(cut(), Unavailable, "cannot be reached", AGAIN),
    "half a body": Row(half(), Unavailable, "cannot be reached", AGAIN),
    "a slow answer": Row(silent(), Unavailable, "within 0.5 seconds", AGAIN),
    "a body that trickles": Row(trickles(), Unavailable, "within 0.5 seconds", AGAIN),
    # a person must change something
    "400": Row(fails(400, message="bad"), Refused, "HTTP 400): bad", "OPENAI_BASE_URL"),
    "400 context_length_exceeded": Row(
        fails(400, code="context_length_exceeded"), Refused, "too long", "OPENAI_MODEL"
    ),
    "401": Row(fails(401, message="who?"), Refused, "refuses the key", "OPENAI_API_KEY"),
    "403": Row(fails(403, message="no"), Refused, "refuses the key", "OPENAI_API_KEY"),
    "404": Row(fails(404, message="no"), Refused, "no model m-1", "OPENAI_MODEL"),
    "402": Row(fails(402, message="pay"), Unavailable, "no quota", BY_A_PERSON, 60),
    "429 insufficient_quota": Row(
        fails(429, code="insufficient_quota"), Unavailable, "no quota", BY_A_PERSON, 60
    ),
    # it passes
    "429": Row(fails(429, message="slow down"), Unavailable, "429): slow down", AGAIN),
    "429 for seconds": Row(fails(429, SOON), Unavailable, "429", AGAIN, 7),
    "429 for an hour": Row(
        fails(429, {"Retry-After": "3600"}), Unavailable, "429", LATER_AGAIN, 3600
    ),
    "429 until a date": Row(
        fails(429, {"Retry-After": LATER}), Unavailable, "429", LATER_AGAIN, 3600
    ),
    "429 until a date gone by": Row(
        fails(429, {"Retry-After": PAST}), Unavailable, "429", AGAIN, 0
    ),
    "500": Row(fails(500, message="oops"), Unavailable, "500): oops", AGAIN),
    "502 as a web page": Row(
        answers(b"<html>Bad gateway</html>", status=502, kind="text/html"),
        Unavailable,
        "502",
        AGAIN,
    ),
    "503 for seconds": Row(fails(503, SOON), Unavailable, "503", AGAIN, 7),
}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer() as server:
        yield server


async def raised_at(url: str, limit: float) -> PortError:
    llm = OpenAiLlm(LlmAccess(url, "m-1", KEY), mask=str, timeout=limit)
    with pytest.raises(PortError) as error:
        await llm.complete("s", "d", schema=None)
    return error.value


@pytest.mark.parametrize("does", ROWS)
async def test_whatever_an_endpoint_does_is_told_in_plain_words(
    does: str, server: LlmServer
) -> None:
    row = ROWS[does]
    server.then(row.does)
    error = await raised_at(server.url, 0.5 if row.does in _SLOW else 30)
    assert type(error).__mro__.index(row.raised) <= 1
    assert row.reason in error.reason
    assert row.remedy in error.remedy
    assert getattr(error, "retry_after", None) == row.retry_after
    assert KEY not in str(error) + error.remedy
    assert len(server.asked) == 1, "trying again is not for the client to decide"


_SLOW = [ROWS["a slow answer"].does, ROWS["a body that trickles"].does]


@pytest.mark.parametrize("host", ["a..b", "x" * 64 + ".test"])
async def test_a_name_that_no_machine_has_is_told(host: str) -> None:
    error = await raised_at(f"http://{host}:9/v1", 30)
    assert "OPENAI_BASE_URL" in error.reason + error.remedy


async def test_a_door_that_is_shut_is_told() -> None:
    async with LlmServer() as server:
        url = server.url
    error = await raised_at(url, 30)
    assert isinstance(error, Unavailable)
    assert "cannot be reached" in error.reason


async def test_a_reason_to_end_that_nobody_knows_is_no_failure(server: LlmServer) -> None:
    server.then(says("fine", finish="something_new"))
    llm = OpenAiLlm(LlmAccess(server.url, "m-1", KEY), mask=str)
    reply = await llm.complete("s", "d", schema=None)
    assert (reply.text, reply.finish_reason) == ("fine", "something_new")


async def test_a_key_of_another_setting_is_called_by_its_name(server: LlmServer) -> None:
    server.then(fails(401), fails(402))
    access = LlmAccess(server.url, "m-1", KEY, "ANTHROPIC_API_KEY")
    for _ in range(2):
        with pytest.raises(PortError) as error:
            await OpenAiLlm(access, mask=str).complete("s", "d", schema=None)
        assert "ANTHROPIC_API_KEY" in error.value.remedy


async def test_a_call_that_is_given_up_leaves_no_task_behind(server: LlmServer) -> None:
    server.then(silent())
    before = asyncio.all_tasks()
    llm = OpenAiLlm(LlmAccess(server.url, "m-1", KEY), mask=str)
    call = asyncio.create_task(llm.complete("s", "d", schema=None))
    await asyncio.wait_for(server.heard.wait(), 20)
    call.cancel()
    with suppress(asyncio.CancelledError):
        await call
    await asyncio.wait_for(server.left.wait(), 20)
    ours = {task for task in asyncio.all_tasks() - before if "_serve" not in repr(task)}
    assert ours == set()

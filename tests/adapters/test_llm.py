"""The client of a chat-completions endpoint, against one that misbehaves in every way seen."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import logging
import subprocess
import sys
import tracemalloc
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import SecretStr

from adapters.llm import Formats, LlmAccess, OpenAiLlm
from bot.cli.models import ChosenLlm
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.llm import Usage
from bot.core.masking import LearningMasker
from bot.settings import Settings
from tests.fakes.llm_server import (
    Behaviour,
    LlmServer,
    answers,
    cut,
    endless,
    fails,
    half,
    says,
    silent,
    trickles,
    without_format,
)

KEY = "sk-test-0123456789"
SCHEMA: dict[str, object] = {"type": "object", "properties": {"a": {"type": "integer"}}}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client honours proxies; the endpoint here is on this machine."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer(says("hello")) as server:
        yield server


def client(server: LlmServer, *, timeout: float = 30, model: str = "m-1") -> OpenAiLlm:
    return OpenAiLlm(LlmAccess(server.url, model, KEY), mask=mask, timeout=timeout)


def mask(text: str) -> str:
    return text.replace("hunter2", "[MASKED:CANARY]")


async def failure(server: LlmServer, behaviour: Behaviour, limit: float = 30) -> PortError:
    server.then(behaviour)
    with pytest.raises(PortError) as error:
        await client(server, timeout=limit).complete("s", "d", schema=None)
    assert error.value.remedy
    assert len(server.asked) <= 1, "trying again is not for the client to decide"
    return error.value


@pytest.mark.covers("G-RULE-SCAN-7")
async def test_the_system_text_and_the_data_go_as_two_messages_with_model_and_key(
    server: LlmServer,
) -> None:
    await client(server).complete("rules", "データ", schema=None)
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": "データ"},
        ],
    }


async def test_what_the_environment_holds_for_another_account_stays_here(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-canary")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-canary")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-canary")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other-canary")
    others = "authorization: Bearer sk-gateway-canary\nX-Api-Key: sk-second-canary"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", others)
    for key in (KEY, ""):
        access = LlmAccess(server.url, "m-1", key)
        await OpenAiLlm(access, mask=mask).complete("rules", "data", schema=None)
        assert server.asked[-1].headers["authorization"] == f"Bearer {key or 'none'}"
    assert "canary" not in str([asked.headers for asked in server.asked])


async def test_text_that_is_no_unicode_is_asked_all_the_same(server: LlmServer) -> None:
    await client(server).complete("s", "name \udcff", schema=None)
    assert server.asked[0].texts == ("s", "name ?")


@pytest.mark.covers("G-RULE-LOG-1", "G-SEC-1", "R-SECRET-RULE-1")
async def test_secrets_reach_neither_the_endpoint_nor_the_log(
    server: LlmServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.then(says("it is hunter2"))
    with caplog.at_level(logging.INFO):
        await client(server).complete("s hunter2", "d hunter2", schema=None)
    assert "hunter2" not in json.dumps(server.asked[0].body)
    assert "hunter2" not in str(vars(caplog.records[-1]))


# --- what comes back ---


TOLD: dict[str, Behaviour] = {
    "no answer at all": answers(b""),
    "half an answer": answers(b'{"choices": [{"mess'),
    "another kind of thing": answers([1, 2]),
    "a number": answers(b"17"),
    "a deep well": answers(b"[" * 100_000),
    "a web page": answers(b"<!doctype html><title>Welcome</title>", kind="text/html"),
    "an event stream": answers(b"data: {}\n\n", kind="text/event-stream"),
    "no choices": answers({"choices": []}),
    "null choices": answers({"choices": None}),
    "an empty object": answers({}),
    "a null choice": answers({"choices": [None]}),
    "a choice that is text": answers({"choices": ["hello"]}),
    "a choice without message": answers({"choices": [{"finish_reason": "stop"}]}),
    "null content": says(None),
    "empty content": says(""),
    "blank content": says(" \n"),
    "only thoughts": says("<think>hm</think>\n"),
    "thoughts without end": says("<think>hm, well"),
    "content that is a number": says(5),
    "no reason why it ended": says("{}", finish=None),
    "a reason that is no word": says("{}", finish=3),
    "a compression nobody knows": answers(b"x", headers={"Content-Encoding": "br"}),
    "a tool call": says(None, finish="tool_calls"),
    "an error in an answer that says 200": answers({"error": {"message": "overloaded"}}),
    "a rate limit in an answer that says 200": answers({"error": {"code": 429, "message": "x"}}),
    "a connection that is cut": cut(),
    "a connection that is cut half way": half(),
    "a body that is not what it says": answers(b"{}", headers={"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("kind", TOLD)
async def test_asking_again_may_help_after(kind: str, server: LlmServer) -> None:
    assert isinstance(await failure(server, TOLD[kind]), Unavailable)


async def test_a_web_page_is_told_as_one(server: LlmServer) -> None:
    error = await failure(server, TOLD["a web page"])
    assert "web page" in error.reason
    assert "OPENAI_BASE_URL" in error.remedy


async def test_an_unreadable_answer_keeps_its_cause(server: LlmServer) -> None:
    assert (await failure(server, TOLD["half an answer"])).__cause__ is not None
    assert (await failure_again(server, cut())).__cause__ is not None


async def failure_again(server: LlmServer, behaviour: Behaviour) -> PortError:
    server.asked.clear()
    return await failure(server, behaviour)


async def test_an_answer_cut_off_at_its_limit_is_refused_and_never_mended(
    server: LlmServer,
) -> None:
    error = await failure(server, says('{"tasks": [1, 2', finish="length"))
    assert isinstance(error, Refused)
    assert "cut off" in error.reason


async def test_a_withheld_answer_is_refused(server: LlmServer) -> None:
    assert isinstance(await failure(server, says("", finish="content_filter")), Refused)


async def test_a_model_that_declines_is_refused(server: LlmServer) -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot."}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    assert isinstance(await failure(server, answers({"choices": choices})), Refused)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>a\nb</think>\n\n{}", "{}"),
        ("<think>a</think><think>b</think>{}", "{}"),
        ("<thinking>a</thinking>{}", "{}"),
        ("a thought whose beginning stood in the prompt</think>{}", "{}"),
        ('{"a": "write <think>x</think>"}', '{"a": "write <think>x</think>"}'),
        ('```json\n{"a": "</think>"}\n```', '```json\n{"a": "</think>"}\n```'),
        ([{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "{}"}], "{}"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, None], "ab"),
    ],
)
async def test_thoughts_are_taken_off_the_front(
    content: object, text: str, server: LlmServer
) -> None:
    server.then(says(content))
    assert (await client(server).complete("s", "d", schema=None)).text == text


async def test_an_end_nobody_knows_is_no_failure(server: LlmServer) -> None:
    server.then(says("text", finish="eos"))
    assert (await client(server).complete("s", "d", schema=None)).text == "text"


# --- what must not be read, or sent on ---

HUGE = 64 * 1024 * 1024
"""Bytes that a bomb of 64 kB unpacks to."""


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("kind", ["without end", "a bomb"])
async def test_an_answer_is_read_to_a_bound_however_it_is_sent(
    kind: str, status: int, server: LlmServer
) -> None:
    bomb = gzip.compress(bytes(HUGE))
    behaviour = {
        "without end": endless(status),
        "a bomb": answers(bomb, status=status, headers={"Content-Encoding": "gzip"}),
    }[kind]
    tracemalloc.start()
    error = await failure(server, behaviour)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(error, Unavailable)
    assert "without end" in error.reason
    assert most < HUGE / 2, "of what comes beyond the bound nothing is kept"


async def test_an_answer_that_was_packed_unasked_is_read_all_the_same(server: LlmServer) -> None:
    body = json.dumps({"choices": [{"finish_reason": "stop", "message": {"content": "hi"}}]})
    packed = gzip.compress(body.encode())
    server.then(answers(packed, headers={"Content-Encoding": "gzip"}))
    assert (await client(server).complete("s", "d", schema=None)).text == "hi"
    assert server.asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_question_is_not_sent_on_to_where_a_redirect_leads(
    status: int, server: LlmServer
) -> None:
    async with LlmServer(says("stolen")) as other:
        to = f"{other.url}/chat/completions?signature=canary"
        error = await failure(server, answers(b"", status=status, headers={"Location": to}))
        assert other.asked == []
    assert isinstance(error, Refused)
    assert other_origin(to) in error.reason
    assert "canary" not in error.reason + error.remedy


def other_origin(address: str) -> str:
    return address.partition("/v1")[0]


async def test_the_cost_is_what_the_endpoint_reports(server: LlmServer) -> None:
    server.then(says("x", usage={"prompt_tokens": 120, "completion_tokens": 7}))
    reply = await client(server).complete("s", "d", schema=None)
    assert reply.usage == Usage(calls=1, prompt_tokens=120, reply_tokens=7)
    assert reply.model == "m-1"


@pytest.mark.parametrize(
    "usage",
    [None, {}, "many", {"prompt_tokens": None}, {"prompt_tokens": "9"}, {"prompt_tokens": -1}],
)
async def test_a_cost_that_is_not_reported_is_estimated_by_bytes(
    usage: object, server: LlmServer
) -> None:
    server.then(says("四字熟語!", usage=usage))
    reply = await client(server).complete("ab", "日本", schema=None)
    assert reply.usage == Usage(calls=1, prompt_tokens=3, reply_tokens=5)


# --- refusals ---


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (fails(401, message="Incorrect API key"), "refuses the key"),
        (fails(403, message="forbidden"), "refuses the key"),
        (fails(404, message="The model m-1 does not exist"), "no model m-1"),
        (answers(b"<html>not found</html>", status=404, kind="text/html"), "no model m-1"),
        (fails(400, code="model_not_found"), "no model m-1"),
        (fails(400, code="context_length_exceeded", message="x"), "too long"),
        (fails(400, message="This model's maximum context length is 8192 tokens"), "too long"),
        (answers({"error": {"code": "context_length_exceeded"}}), "too long"),
        (fails(413), "too long"),
        (
            fails(400, message="what is this"),
            "does not accept the request (HTTP 400): what is this",
        ),
        (answers({"detail": [{"loc": ["body"]}]}, status=422), "does not accept the request"),
        (answers(b"", status=405), "does not accept the request (HTTP 405)"),
    ],
)
async def test_what_a_person_must_change_is_refused(
    behaviour: Behaviour, reason: str, server: LlmServer
) -> None:
    error = await failure(server, behaviour)
    assert isinstance(error, Refused)
    assert reason in error.reason


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_an_endpoint_in_trouble_is_unavailable(status: int, server: LlmServer) -> None:
    error = await failure(server, fails(status, message="later"))
    assert isinstance(error, Unavailable)
    assert str(status) in error.reason
    assert error.retry_after is None


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        *(("7", 7), ("0.5", 0.5), ("3600", 3600), ("9" * 400, None), ("86400", 3600)),
        *(("-3", None), ("soon", None), ("nan", None), ("inf", None), ("", None), ("1e3", None)),
        ("Wed, 21 Oct 99999999999999 07:28:00 GMT", None),
    ],
)
async def test_the_wait_an_endpoint_asks_for_is_passed_on_up_to_an_hour(
    told: str, seconds: float | None, server: LlmServer
) -> None:
    error = await failure(server, fails(429, {"Retry-After": told}))
    assert isinstance(error, Unavailable)
    assert error.retry_after == seconds


async def test_the_wait_may_be_a_date(server: LlmServer) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=9), usegmt=True)
    error = await failure(server, fails(503, {"Retry-After": date}))
    assert isinstance(error, Unavailable)
    assert error.retry_after == 3600
    assert "in 60 minutes" in error.remedy


async def test_a_date_is_reckoned_by_the_clock_of_the_server(server: LlmServer) -> None:
    dates = {
        "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
        "Retry-After": "Wed, 21 Oct 2015 07:29:30 GMT",
    }
    error = await failure(server, fails(503, dates))
    assert isinstance(error, Unavailable)
    assert error.retry_after == 90


@pytest.mark.parametrize(
    "behaviour",
    [fails(429, code="insufficient_quota"), fails(429, type="insufficient_quota"), fails(402)],
)
async def test_an_empty_account_says_that_a_person_must_act(
    behaviour: Behaviour, server: LlmServer
) -> None:
    error = await failure(server, behaviour)
    assert isinstance(error, Unavailable)
    assert "quota" in error.reason
    assert "person must act" in error.remedy


async def test_a_refusal_that_quotes_the_key_or_a_secret_is_told_without(server: LlmServer) -> None:
    error = await failure(server, fails(401, message=f"no: {KEY} hunter2\n" + "x" * 5000))
    assert KEY not in str(error)
    assert "hunter2" not in str(error)
    assert len(error.reason) < 400


# --- time ---


@pytest.mark.parametrize("behaviour", [silent(), trickles()], ids=["silent", "trickling"])
async def test_the_time_limit_is_for_the_whole_call(
    behaviour: Behaviour, server: LlmServer
) -> None:
    error = await failure(server, behaviour, 0.5)
    assert isinstance(error, Unavailable)
    assert "within 0.5 seconds" in error.reason


async def test_a_call_given_up_hangs_up(server: LlmServer) -> None:
    server.then(silent())
    call = asyncio.create_task(client(server).complete("s", "d", schema=None))
    await asyncio.wait_for(server.heard.wait(), 20)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.wait_for(server.left.wait(), 20)


async def test_an_answered_call_leaves_no_connection_open(server: LlmServer) -> None:
    server.keeps_alive = True
    await client(server).complete("s", "d", schema=None)
    await asyncio.wait_for(server.left.wait(), 20)


async def test_nobody_at_the_address_is_unavailable() -> None:
    async with LlmServer() as server:
        url = server.url
    llm = OpenAiLlm(LlmAccess(url, "m", KEY), mask=mask)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await llm.complete("s", "d", schema=None)


# --- settings ---


@pytest.mark.covers("G-US1.3", "G-RULE-AI-1", "G-RULE-AI-2", "G-RULE-AI-3", "G-ASSUME-1")
async def test_without_settings_it_names_them_and_goes_on_as_soon_as_they_are_there(
    server: LlmServer,
) -> None:
    settings = [Settings.model_construct()]
    llm = ChosenLlm(lambda: settings[-1], LearningMasker({}), {})
    with pytest.raises(Unavailable, match="AI settings are required") as missing:
        await llm.complete("s", "d", schema=None)
    for name in ("OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"):
        assert name in missing.value.remedy
    for model, key in (("m-1", KEY), ("m-2", "another")):
        settings.append(
            Settings.model_construct(
                openai_base_url=server.url, openai_model=model, openai_api_key=SecretStr(key)
            )
        )
        assert (await llm.complete("s", "d", schema=None)).text == "hello"
        assert server.asked[-1].body["model"] == model
        assert server.asked[-1].headers["authorization"] == f"Bearer {key}"


@pytest.mark.covers("G-RULE-AI-1", "G-SEC-1")
@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("", KEY),
        ("localhost:11434", KEY),
        ("ftp://127.0.0.1/v1", KEY),
        ("http://", KEY),
        ("http://127.0.0.1:99999/v1", KEY),
        ("http://127.0.0.1:9/v1", "two\nlines"),
        ("http://127.0.0.1:9/v1", "鍵"),
    ],
)
async def test_settings_that_cannot_work_are_refused_without_telling_the_key(
    url: str, key: str
) -> None:
    llm = OpenAiLlm(LlmAccess(url, "m", key), mask=mask)
    with pytest.raises(Refused) as error:
        await llm.complete("s", "d", schema=None)
    assert "OPENAI_" in error.value.reason
    assert key not in str(error.value) + error.value.remedy


@pytest.mark.covers("G-SEC-1")
def test_a_key_is_not_shown_with_its_settings() -> None:
    assert KEY not in repr(LlmAccess("http://127.0.0.1/v1", "m", KEY))


async def test_a_local_endpoint_needs_no_key(server: LlmServer) -> None:
    llm = OpenAiLlm(LlmAccess(server.url, "m", ""), mask=mask)
    assert (await llm.complete("s", "d", schema=None)).text == "hello"


# --- asking for JSON ---


async def test_a_schema_is_sent_as_such(server: LlmServer) -> None:
    await client(server).complete("s", "d", schema=SCHEMA)
    wanted = cast("dict[str, Any]", server.asked[0].body["response_format"])
    assert wanted["type"] == "json_schema"
    assert wanted["json_schema"]["schema"] == SCHEMA


@pytest.mark.parametrize("status", [400, 404, 422])
@pytest.mark.parametrize(
    ("refused", "tried"),
    [
        (("json_schema",), ["json_schema", "json_object", "json_object"]),
        (("json_schema", "json_object"), ["json_schema", "json_object", "", ""]),
    ],
)
async def test_a_format_an_endpoint_turns_down_is_not_tried_again_there(
    status: int, refused: tuple[str, ...], tried: list[str], server: LlmServer
) -> None:
    server.then(without_format(*refused, status=status))
    llm = client(server)
    for _ in range(2):
        reply = await llm.complete("s", "d", schema=SCHEMA)
        assert reply.text == "{}"
        assert reply.usage.calls == 1
    assert [asked.format for asked in server.asked] == tried


async def test_what_is_known_of_one_model_is_not_held_against_another(server: LlmServer) -> None:
    server.then(without_format("json_schema"))
    formats = Formats()
    for model in ("m-1", "m-1", "m-2"):
        llm = OpenAiLlm(LlmAccess(server.url, model, KEY), mask=mask, formats=formats)
        await llm.complete("s", "d", schema=SCHEMA)
    tried = [(asked.body["model"], asked.format) for asked in server.asked]
    assert tried == [
        ("m-1", "json_schema"),
        ("m-1", "json_object"),
        ("m-1", "json_object"),
        ("m-2", "json_schema"),
        ("m-2", "json_object"),
    ]


async def test_a_format_named_deep_in_the_refusal_is_understood(server: LlmServer) -> None:
    deep = answers({"detail": [{"loc": ["body", "response_format", "type"]}]}, status=422)
    server.then(deep, says("{}"))
    assert (await client(server).complete("s", "d", schema=SCHEMA)).text == "{}"


@pytest.mark.parametrize("status", [401, 429, 500])
async def test_other_failures_do_not_change_the_format(status: int, server: LlmServer) -> None:
    server.then(fails(status, message="response_format"), says("{}"))
    llm = client(server)
    with pytest.raises(PortError):
        await llm.complete("s", "d", schema=SCHEMA)
    await llm.complete("s", "d", schema=SCHEMA)
    assert [asked.format for asked in server.asked] == ["json_schema"] * 2


ECHO = json.dumps(SCHEMA)


@pytest.mark.parametrize(
    "useless",
    [says(""), says("I like turtles."), says("{"), says("[1]"), says(ECHO), says("{" * 9000 + "}")],
    ids=["nothing", "prose", "a broken object", "a list", "the schema itself", "a deep well"],
)
async def test_a_format_that_twice_brings_nothing_of_use_is_not_tried_again_there(
    useless: Behaviour, server: LlmServer
) -> None:
    server.then(useless, useless, says('{"a": 1}'))
    llm = client(server)
    for _ in range(4):
        with contextlib.suppress(Unavailable):
            await llm.complete("s", "d", schema=SCHEMA)
    tried = [asked.format for asked in server.asked]
    assert tried == ["json_schema", "json_schema", "json_object", "json_object"]


async def test_a_format_that_fails_now_and_then_is_kept(server: LlmServer) -> None:
    good, bad = says('{"a": 1}'), says("I like turtles.")
    server.then(bad, good, bad, says(json.dumps({"properties": 1})), bad, good)
    llm = client(server)
    for _ in range(6):
        await llm.complete("s", "d", schema=SCHEMA)
    assert {asked.format for asked in server.asked} == {"json_schema"}


async def test_a_plain_text_question_says_nothing_about_the_formats(server: LlmServer) -> None:
    server.then(says(""), says(""), says("turtles"), says("turtles"), says("{}"))
    llm = client(server)
    for _ in range(4):
        with contextlib.suppress(Unavailable):
            await llm.complete("s", "d", schema=None)
    await llm.complete("s", "d", schema=SCHEMA)
    assert [asked.format for asked in server.asked] == ["", "", "", "", "json_schema"]


@pytest.mark.covers("G-FR-013")
async def test_an_endpoint_that_turns_everything_down_is_refused(server: LlmServer) -> None:
    server.then(fails(400, message="response_format it is not"))
    with pytest.raises(Refused):
        await client(server).complete("s", "d", schema=SCHEMA)
    assert [asked.format for asked in server.asked] == ["json_schema", "json_object", ""]


# --- the log, the start ---


@pytest.mark.covers("G-RULE-LOG-1", "G-RULE-LOG-2", "G-FR-025", "B-STORE-5")
async def test_every_call_is_one_record_with_prompt_and_reply(
    server: LlmServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.then(says("hello"), fails(503), silent())
    with caplog.at_level(logging.INFO):
        await client(server).complete("rules", "data", schema=None)
        with pytest.raises(Unavailable):
            await client(server).complete("rules", "data", schema=None)
        with pytest.raises(Unavailable):
            await client(server, timeout=0.1).complete("rules", "data", schema=None)
    records = [one for one in caplog.records if one.name == "agent.master.llm"]
    answered, refused, late = (cast("dict[str, Any]", vars(one)["data"]) for one in records)
    assert (answered["system"], answered["data"], answered["text"]) == ("rules", "data", "hello")
    assert answered["usage"]["calls"] == 1
    assert answered["seconds"] >= 0
    assert "503" in refused["failed"]
    assert "0.1 seconds" in late["failed"]
    assert KEY not in str([vars(one) for one in caplog.records])


@pytest.mark.covers("G-RULE-LOG-1")
async def test_a_call_given_up_is_in_the_log_too(
    server: LlmServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.then(silent())
    with caplog.at_level(logging.INFO):
        call = asyncio.create_task(client(server).complete("s", "d", schema=None))
        await asyncio.wait_for(server.heard.wait(), 20)
        call.cancel()
        await asyncio.wait({call})
    (record,) = [one for one in caplog.records if one.name == "agent.master.llm"]
    assert vars(record)["data"]["failed"] == "it was given up"


def test_the_library_is_loaded_only_by_the_first_call() -> None:
    code = "import sys, adapters.llm; print('openai' in sys.modules)"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout == "False\n"

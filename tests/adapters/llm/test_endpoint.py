"""The client of a chat-completions endpoint over a real socket: what is sent, and what is made of all that may come back."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import logging
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import cycle
from typing import Any, cast

import pytest
from pydantic import SecretStr

from adapters.llm import Capabilities, LlmAccess, OpenAiLlm, Windows
from bot.cli.models import ChosenLlm
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.llm import Tool, Turn, Usage
from bot.core.masking import LearningMasker
from bot.settings import Settings
from tests.fakes.llm_server import (
    Behaviour,
    LlmServer,
    Talk,
    answers,
    cut,
    delta,
    endless,
    fails,
    half,
    says,
    silent,
    streams,
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


def mask(text: str) -> str:
    return text.replace("hunter2", "[MASKED:CANARY]")


def client(
    server: LlmServer,
    *,
    timeout: float = 30,
    most: float = 60,
    model: str = "m-1",
    key: str = KEY,
    windows: Windows | None = None,
) -> OpenAiLlm:
    access = LlmAccess(server.url, model, key)
    return OpenAiLlm(access, mask=mask, timeout=timeout, most_seconds=most, windows=windows)


async def answered(server: LlmServer, *behaviour: Behaviour) -> str:
    server.then(*behaviour)
    return (await client(server).complete("s", "d", schema=None)).text


async def failure(
    server: LlmServer, behaviour: Behaviour, limit: float = 30, most: float = 60
) -> PortError:
    server.then(behaviour)
    server.asked.clear()
    with pytest.raises(PortError) as error:
        await client(server, timeout=limit, most=most).complete("s", "d", schema=None)
    assert error.value.remedy
    assert len(server.asked) <= 1, "trying again is not for the client to decide"
    assert KEY not in str(error.value) + error.value.remedy
    return error.value


# --- what is sent ---


@pytest.mark.covers("G-RULE-SCAN-7")
async def test_the_system_text_and_the_data_go_as_two_messages_with_model_and_key(
    server: LlmServer,
) -> None:
    await client(server).complete("rules", "データ \udcff", schema=None)
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    roles = [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "データ ?"},  # what is no Unicode is asked all the same
    ]
    streamed = {"stream": True, "stream_options": {"include_usage": True}}
    assert asked.body == {"model": "m-1", "messages": roles, **streamed}


async def test_what_the_environment_holds_for_another_account_stays_here(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ORG_ID", "PROJECT_ID", "ADMIN_KEY", "API_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", f"{name}-canary")
    others = "authorization: Bearer sk-gateway-canary\nX-Api-Key: sk-second-canary"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", others)
    for key in (KEY, ""):  # a local endpoint needs none
        await client(server, key=key).complete("rules", "data", schema=None)
        assert server.asked[-1].headers["authorization"] == f"Bearer {key or 'none'}"
    assert "canary" not in str([asked.headers for asked in server.asked])


@pytest.mark.covers("G-RULE-LOG-1", "G-SEC-1", "R-SECRET-RULE-1")
async def test_secrets_reach_neither_the_endpoint_nor_the_log(
    server: LlmServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.then(says("it is hunter2"))
    with caplog.at_level(logging.INFO):
        await client(server).complete("s hunter2", "d hunter2", schema=None)
    assert "hunter2" not in json.dumps(server.asked[0].body)
    assert "hunter2" not in str(vars(caplog.records[-1]))


@pytest.mark.covers("G-RULE-LOG-1", "G-RULE-LOG-2", "G-FR-025", "B-STORE-5")
async def test_every_call_is_one_record_with_prompt_and_reply(
    server: LlmServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.then(says("hello"), fails(503), silent())
    with caplog.at_level(logging.INFO):
        await client(server).complete("rules", "data", schema=None)
        for limit in (30, 0.1):
            with pytest.raises(Unavailable):
                await client(server, timeout=limit).complete("rules", "data", schema=None)
        await given_up(server)
    records = [one for one in caplog.records if one.name == "agent.master.llm"]
    told, refused, late, left = (cast("dict[str, Any]", vars(one)["data"]) for one in records)
    assert (told["system"], told["data"], told["text"]) == ("rules", "data", "hello")
    assert (told["usage"]["calls"], told["seconds"] >= 0) == (1, True)
    for record, why in (
        (refused, "503"),
        (late, "silent for 0.1 seconds"),
        (left, "it was given up"),
    ):
        assert why in record["failed"]
    assert KEY not in str([vars(one) for one in caplog.records])


async def given_up(server: LlmServer) -> None:
    server.then(silent())
    server.heard.clear()
    server.left.clear()
    call = asyncio.create_task(client(server).complete("s", "d", schema=None))
    await asyncio.wait_for(server.heard.wait(), 20)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_call_given_up_hangs_up_and_leaves_no_task_behind(server: LlmServer) -> None:
    before = asyncio.all_tasks()
    await given_up(server)
    await asyncio.wait_for(server.left.wait(), 20)
    assert {one for one in asyncio.all_tasks() - before if "_serve" not in repr(one)} == set()


async def test_an_answered_call_leaves_no_connection_open(server: LlmServer) -> None:
    server.keeps_alive = True
    await client(server).complete("s", "d", schema=None)
    await asyncio.wait_for(server.left.wait(), 20)


# --- what comes back: one row for each thing an endpoint may do ---


@dataclass(frozen=True)
class Row:
    """What is raised, with these words in its reason and these in its remedy."""

    does: Behaviour
    raised: type[PortError]
    reason: str
    remedy: str = ""
    retry_after: float | None = None


LATER = format_datetime(datetime.now(UTC) + timedelta(hours=9), usegmt=True)
PAST = "Wed, 21 Oct 2015 07:28:00 GMT"
MOMENT = {"Date": PAST, "Retry-After": "Wed, 21 Oct 2015 07:29:30 GMT"}
DECLINES = {"finish_reason": "stop", "message": {"content": None, "refusal": "I cannot."}}
AGAIN, AN_HOUR = "again by itself", "again by itself in 60 minutes, as the endpoint asks"
A_PERSON, KEY_SETTING = "A person must act", "OPENAI_API_KEY"
ASK, URL, MODEL = "asks again", "OPENAI_BASE_URL", "OPENAI_MODEL"
NOTHING, NO_MESSAGE, AWAY = "answered with nothing", "without a message", "cannot be reached"


def waits(text: str, status: int = 429) -> Behaviour:
    return fails(status, {"Retry-After": text}, message="slow down")


def web_page(status: int = 200) -> Behaviour:
    return answers(b"<!doctype html><title>Welcome</title>", status=status, kind="text/html")


ROWS: dict[str, Row] = {
    # 200, but no answer
    "no answer at all": Row(answers(b""), Unavailable, "empty answer", ASK),
    "half an answer": Row(answers(b'{"choices": [{"mess'), Unavailable, "cannot be read", ASK),
    "another kind of thing": Row(answers([1, 2]), Unavailable, ""),
    "a number": Row(answers(b"17"), Unavailable, ""),
    "a deep well": Row(answers(b"[" * 100_000), Unavailable, ""),
    "a web page": Row(web_page(), Unavailable, "a web page", URL),
    "an event stream": Row(answers(b"data: {}\n\n", kind="text/event-stream"), Unavailable, ""),
    "no choices": Row(answers({"choices": []}), Unavailable, NO_MESSAGE, ASK),
    "null choices": Row(answers({"choices": None}), Unavailable, NO_MESSAGE, ASK),
    "an empty object": Row(answers({}), Unavailable, ""),
    "a null choice": Row(answers({"choices": [None]}), Unavailable, ""),
    "a choice that is text": Row(answers({"choices": ["hello"]}), Unavailable, ""),
    "a choice without message": Row(answers({"choices": [{"finish_reason": "stop"}]}), Unavailable, ""),
    "null content": Row(says(None), Unavailable, NOTHING, ASK),
    "empty content": Row(says(""), Unavailable, ""),
    "blank content": Row(says(" \n"), Unavailable, ""),
    "only thoughts": Row(says("<think>hm</think>\n"), Unavailable, ""),
    "thoughts without end": Row(says("<think>hm, well"), Unavailable, ""),
    "content that is a number": Row(says(5), Unavailable, ""),
    "no reason why it ended": Row(says("{}", finish=None), Unavailable, ""),
    "a reason that is no word": Row(says("{}", finish=3), Unavailable, ""),
    "a tool call": Row(says(None, finish="tool_calls"), Unavailable, ""),
    "an error that says 200": Row(answers({"error": {"message": "overloaded"}}), Unavailable, "overloaded", AGAIN),
    "a limit that says 200": Row(answers({"error": {"code": 429, "message": "x"}}), Unavailable, ""),
    "an error that says 200, with its status": Row(answers({"error": {"message": "no such model", "code": 404}}), Refused, "no model m-1", MODEL),
    "too long, and says 200": Row(answers({"error": {"code": "context_length_exceeded"}}), Refused, "too long"),
    "cut off in the middle of its thoughts": Row(says("<think>hm", finish="length"), Refused, "cut off", "output limit"),
    "a withheld answer": Row(says("", finish="content_filter"), Refused, "withheld", "differently"),
    "a model that declines": Row(answers({"choices": [DECLINES]}), Refused, ""),
    # the connection
    "a connection that is cut": Row(cut(), Unavailable, AWAY, AGAIN),
    "a connection that is cut half way": Row(half(), Unavailable, AWAY, AGAIN),
    "a compression nobody knows": Row(answers(b"x", headers={"Content-Encoding": "br"}), Unavailable, ""),
    "a body that is not what it says": Row(answers(b"{}", headers={"Content-Encoding": "gzip"}), Unavailable, ""),
    "silence": Row(silent(), Unavailable, "silent for 0.5 seconds", AGAIN),
    "a body that trickles": Row(trickles(), Unavailable, "within 0.5 seconds", AGAIN),
    # a person must change something
    "400": Row(fails(400, message="bad"), Refused, "does not accept the request (HTTP 400): bad", URL),
    "400 model_not_found": Row(fails(400, code="model_not_found"), Refused, "no model m-1", MODEL),
    "400 context_length_exceeded": Row(fails(400, code="context_length_exceeded"), Refused, "too long", MODEL),
    "400 in words": Row(fails(400, message="This model's maximum context length is 8192 tokens"), Refused, "too long"),
    "401": Row(fails(401, message="who?"), Refused, "refuses the key", KEY_SETTING),
    "402": Row(fails(402, message="pay"), Unavailable, "no quota", A_PERSON, 60),
    "403": Row(fails(403, message="no"), Refused, "refuses the key", KEY_SETTING),
    "404": Row(fails(404, message="no"), Refused, "no model m-1", MODEL),
    "404 as a web page": Row(web_page(404), Refused, "no model m-1"),
    "405": Row(answers(b"", status=405), Refused, "does not accept the request (HTTP 405)"),
    "413": Row(fails(413), Refused, "too long"),
    "422": Row(answers({"detail": [{"loc": ["body"]}]}, status=422), Refused, "does not accept the request"),
    # it passes
    "408": Row(fails(408), Unavailable, "408", AGAIN),
    "409": Row(fails(409), Unavailable, "409", AGAIN),
    "429": Row(fails(429, message="slow down"), Unavailable, "429): slow down", AGAIN),
    "429 insufficient_quota": Row(fails(429, code="insufficient_quota"), Unavailable, "no quota", A_PERSON, 60),
    "429 insufficient_quota by type": Row(fails(429, type="insufficient_quota"), Unavailable, "no quota", A_PERSON, 60),
    "429 for seconds": Row(waits("7"), Unavailable, "429", AGAIN, 7),
    "429 for half a second": Row(waits("0.5"), Unavailable, "429", AGAIN, 0.5),
    "429 for a day": Row(waits("86400"), Unavailable, "429", AN_HOUR, 3600),
    "429 for nobody knows how long": Row(waits("9" * 400), Unavailable, "429", AGAIN),
    "429 until a date gone by": Row(waits(PAST), Unavailable, "429", AGAIN, 0),
    "429 soon": Row(waits("soon"), Unavailable, "429", AGAIN),
    "500": Row(fails(500, message="oops"), Unavailable, "500): oops", AGAIN),
    "502 as a web page": Row(web_page(502), Unavailable, "502", AGAIN),
    "503 for seconds": Row(waits("7", 503), Unavailable, "503", AGAIN, 7),
    "503 until a date": Row(waits(LATER, 503), Unavailable, "503", AN_HOUR, 3600),
    "503 by the server's clock": Row(fails(503, MOMENT), Unavailable, "503", "", 90),
    "529": Row(fails(529), Unavailable, "529", AGAIN),
}  # fmt: skip


@pytest.mark.parametrize("does", ROWS)
async def test_whatever_an_endpoint_does_is_told_in_plain_words(
    does: str, server: LlmServer
) -> None:
    row = ROWS[does]
    silence = 0.5 if "silent" in row.reason else 30
    error = await failure(server, row.does, silence, 0.5 if "within" in row.reason else 60)
    assert type(error).__mro__.index(row.raised) <= 1
    assert row.reason in error.reason
    assert row.remedy in error.remedy
    assert getattr(error, "retry_after", None) == row.retry_after


async def test_an_unreadable_answer_keeps_its_cause(server: LlmServer) -> None:
    for behaviour in (ROWS["half an answer"].does, cut()):
        assert (await failure(server, behaviour)).__cause__ is not None


@pytest.mark.parametrize(("content", "text"), [
    ("<think>a\nb</think>\n\n{}", "{}"),
    ("<think>a</think><think>b</think>{}", "{}"),
    ("<thinking>a</thinking>{}", "{}"),
    ("a thought whose beginning stood in the prompt</think>{}", "{}"),
    ('{"a": "write <think>x</think>"}', '{"a": "write <think>x</think>"}'),
    ('```json\n{"a": "</think>"}\n```', '```json\n{"a": "</think>"}\n```'),
    ([{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "{}"}], "{}"),
    ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, None], "ab"),
])  # fmt: skip
async def test_thoughts_are_taken_off_the_front(
    content: object, text: str, server: LlmServer
) -> None:
    assert await answered(server, says(content)) == text


async def test_a_reason_to_end_that_nobody_knows_is_no_failure(server: LlmServer) -> None:
    server.then(says("fine", finish="something_new"))
    reply = await client(server).complete("s", "d", schema=None)
    assert (reply.text, reply.finish_reason, reply.model) == ("fine", "something_new", "m-1")


HUGE = 64 * 1024 * 1024
"""Bytes that a bomb of 64 kB unpacks to."""


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("kind", ["without end", "a bomb"])
async def test_an_answer_is_read_to_a_bound_however_it_is_sent(
    kind: str, status: int, server: LlmServer
) -> None:
    bomb = gzip.compress(bytes(HUGE))
    packed = answers(bomb, status=status, headers={"Content-Encoding": "gzip"})
    tracemalloc.start()
    error = await failure(server, packed if kind == "a bomb" else endless(status))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(error, Unavailable)
    assert "without end" in error.reason
    assert most < HUGE / 2, "of what comes beyond the bound nothing is kept"


async def test_an_answer_that_was_packed_unasked_is_read_all_the_same(server: LlmServer) -> None:
    body = json.dumps({"choices": [{"finish_reason": "stop", "message": {"content": "hi"}}]})
    packed = answers(gzip.compress(body.encode()), headers={"Content-Encoding": "gzip"})
    assert await answered(server, packed) == "hi"
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
    assert to.partition("/v1")[0] in error.reason
    assert "canary" not in error.reason + error.remedy


@pytest.mark.parametrize(("usage", "prompt", "reply"), [
    ({"prompt_tokens": 120, "completion_tokens": 7}, 120, 7),
    # not reported, it is estimated by bytes
    (None, 3, 5), ({}, 3, 5), ("many", 3, 5), ({"prompt_tokens": None}, 3, 5), ({"prompt_tokens": "9"}, 3, 5),
    ({"prompt_tokens": -1}, 3, 5),
])  # fmt: skip
async def test_the_cost_is_what_the_endpoint_reports_or_an_estimate(
    usage: object, prompt: int, reply: int, server: LlmServer
) -> None:
    server.then(says("四字熟語!", usage=usage))
    told = await client(server).complete("ab", "日本", schema=None)
    assert told.usage == Usage(calls=1, prompt_tokens=prompt, reply_tokens=reply)


async def test_a_refusal_that_quotes_the_key_or_a_secret_is_told_without(server: LlmServer) -> None:
    error = await failure(server, fails(401, message=f"no: {KEY} hunter2\n" + "x" * 5000))
    assert "hunter2" not in str(error)
    assert len(error.reason) < 400


async def test_a_key_of_another_setting_is_called_by_its_name(server: LlmServer) -> None:
    server.then(fails(401), fails(402))
    access = LlmAccess(server.url, "m-1", KEY, "ANTHROPIC_API_KEY")
    for _ in range(2):
        with pytest.raises(PortError) as error:
            await OpenAiLlm(access, mask=str).complete("s", "d", schema=None)
        assert "ANTHROPIC_API_KEY" in error.value.remedy


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
@pytest.mark.parametrize(("url", "key", "raised"), [
    ("", KEY, Refused), ("localhost:11434", KEY, Refused), ("ftp://127.0.0.1/v1", KEY, Refused),
    ("http://", KEY, Refused), ("http://127.0.0.1:99999/v1", KEY, Refused),
    ("http://127.0.0.1:9/v1", "two\nlines", Refused), ("http://127.0.0.1:9/v1", "鍵", Refused),
    ("http://a..b:9/v1", KEY, PortError), (f"http://{'x' * 64}.test:9/v1", KEY, PortError),
    ("http://127.0.0.1:1/v1", KEY, Unavailable),
])  # fmt: skip
async def test_settings_that_cannot_work_are_told_without_the_key(
    url: str, key: str, raised: type[PortError]
) -> None:
    access = LlmAccess(url, "m", key)
    assert key not in repr(access)
    with pytest.raises(raised) as error:
        await OpenAiLlm(access, mask=mask).complete("s", "d", schema=None)
    told = error.value.reason + error.value.remedy
    assert "OPENAI_" in told or "cannot be reached" in told
    assert key not in str(error.value) + told


# --- asking for JSON ---


async def test_a_schema_is_sent_as_such(server: LlmServer) -> None:
    await client(server).complete("s", "d", schema=SCHEMA)
    wanted = cast("dict[str, Any]", server.asked[0].body["response_format"])
    assert (wanted["type"], wanted["json_schema"]["schema"]) == ("json_schema", SCHEMA)


@pytest.mark.covers("G-FR-013")
@pytest.mark.parametrize("status", [400, 404, 422])
@pytest.mark.parametrize(("refused", "tried"), [
    (("json_schema",), ["json_schema", "json_object", "json_object"]),
    (("json_schema", "json_object"), ["json_schema", "json_object", "", ""]),
])  # fmt: skip
async def test_a_format_an_endpoint_turns_down_is_not_tried_again_there(
    status: int, refused: tuple[str, ...], tried: list[str], server: LlmServer
) -> None:
    server.then(without_format(*refused, status=status))
    llm = client(server)
    for _ in range(2):
        reply = await llm.complete("s", "d", schema=SCHEMA)
        assert (reply.text, reply.usage.calls) == ("{}", 1)
    assert [asked.format for asked in server.asked] == tried


async def test_what_is_known_of_one_model_is_not_held_against_another(server: LlmServer) -> None:
    server.then(without_format("json_schema"))
    capabilities = Capabilities()
    for model in ("m-1", "m-1", "m-2"):
        llm = OpenAiLlm(LlmAccess(server.url, model, KEY), mask=mask, capabilities=capabilities)
        await llm.complete("s", "d", schema=SCHEMA)
    tried = [(asked.body["model"], asked.format) for asked in server.asked]
    first = [("m-1", "json_schema"), ("m-1", "json_object"), ("m-1", "json_object")]
    assert tried == [*first, ("m-2", "json_schema"), ("m-2", "json_object")]


async def test_a_format_named_deep_in_the_refusal_is_understood(server: LlmServer) -> None:
    deep = answers({"detail": [{"loc": ["body", "response_format", "type"]}]}, status=422)
    server.then(deep, says("{}"))
    assert (await client(server).complete("s", "d", schema=SCHEMA)).text == "{}"


ECHO, GOOD, TURTLES = says(json.dumps(SCHEMA)), says('{"a": 1}'), says("I like turtles.")
WELL = says("{" * 9000 + "}")
TWICE = ["json_schema", "json_schema", "json_object", "json_object"]
FORMATS: dict[str, tuple[list[Behaviour], list[str]]] = {
    # what twice brings nothing of use is not tried again there
    "nothing": ([says(""), says(""), GOOD], TWICE),
    "prose": ([TURTLES, TURTLES, GOOD], TWICE),
    "a broken object": ([says("{"), says("{"), GOOD], TWICE),
    "a list": ([says("[1]"), says("[1]"), GOOD], TWICE),
    "the schema itself": ([ECHO, ECHO, GOOD], TWICE),
    "a deep well": ([WELL, WELL, GOOD], TWICE),
    # else it is kept
    "now and then": ([TURTLES, GOOD, TURTLES, says('{"properties": 1}')], ["json_schema"] * 4),
    "a key": ([fails(401, message="response_format"), says("{}")], ["json_schema"] * 4),
    "a limit": ([fails(429, message="response_format"), says("{}")], ["json_schema"] * 4),
    "trouble": ([fails(500, message="response_format"), says("{}")], ["json_schema"] * 4),
    "everything turned down": ([fails(400, message="response_format it is not")], ["json_schema", "json_object", "", "", "", ""]),
}  # fmt: skip


@pytest.mark.parametrize("kind", FORMATS)
async def test_a_format_is_given_up_only_where_it_brings_nothing_of_use(
    kind: str, server: LlmServer
) -> None:
    does, tried = FORMATS[kind]
    server.then(*does)
    llm = client(server)
    for _ in range(4):
        with contextlib.suppress(PortError):
            await llm.complete("s", "d", schema=SCHEMA)
    assert [asked.format for asked in server.asked][: len(tried)] == tried


async def test_a_plain_text_question_says_nothing_about_the_formats(server: LlmServer) -> None:
    server.then(says(""), says(""), says("turtles"), says("turtles"), says("{}"))
    llm = client(server)
    for _ in range(4):
        with contextlib.suppress(Unavailable):
            await llm.complete("s", "d", schema=None)
    await llm.complete("s", "d", schema=SCHEMA)
    assert [asked.format for asked in server.asked] == ["", "", "", "", "json_schema"]


# --- turns and tools ---

READ = Tool(name="read", description="Shows a file.", parameters={"type": "object"})
TURNS = (Turn(answer="one", then="again"), Turn(answer="", then="once more"))


def calls(*functions: object, content: object = None, finish: str = "tool_calls") -> Behaviour:
    listed = [{"id": "c", "type": "function", "function": one} for one in functions]
    message = {"role": "assistant", "content": content, "tool_calls": listed}
    return answers({"choices": [{"finish_reason": finish, "message": message}]})


async def test_turns_follow_the_data_which_stays_as_it_was(server: LlmServer) -> None:
    llm = client(server)
    for turns in ((), TURNS[:1], TURNS):
        await llm.complete("rules", "data", schema=None, turns=turns)
    first, second, third = (cast("list[Any]", asked.body["messages"]) for asked in server.asked)
    assert third[: len(second)] == second
    assert second[: len(first)] == first, "what begins alike is cached"
    assert [(one["role"], one["content"]) for one in third[2:]] == [
        ("assistant", "one"), ("user", "again"),
        ("assistant", "(nothing)"), ("user", "once more"),  # some endpoints refuse an empty one
    ]  # fmt: skip


async def test_secrets_in_turns_reach_neither_the_endpoint_nor_the_log(
    server: LlmServer, caplog: pytest.LogCaptureFixture
) -> None:
    turn = Turn(answer="it is hunter2 \udcff", then="say hunter2 again")
    with caplog.at_level(logging.INFO):
        await client(server).complete("s", "d", schema=None, turns=[turn])
    assert "again" in str(server.asked[0].body)
    assert "hunter2" not in json.dumps(server.asked[0].body)
    assert "again" in str(vars(caplog.records[-1]))
    assert "hunter2" not in str(vars(caplog.records[-1]))


@pytest.mark.parametrize(("behaviour", "looks"), [
    (calls({"name": "read", "arguments": '{"path": "a.py"}'}), [{"path": "a.py", "tool": "read"}]),
    (calls({"name": "read", "arguments": '{"path": "割引.py"}'}, content="I look.", finish="stop"), [{"path": "割引.py", "tool": "read"}]),
    (calls({"name": "read", "arguments": ""}, {"name": "list", "arguments": {"folder": "x"}}), [{"tool": "read"}, {"folder": "x", "tool": "list"}]),
    (calls({"name": "read", "arguments": '{"path": "a'}), [{"tool": "read", "arguments": '{"path": "a'}]),
    (calls({"name": "read", "arguments": "[1]"}), [{"tool": "read", "arguments": "[1]"}]),
    (calls({"name": "read", "arguments": '{"tool": "rm"}'}), [{"tool": "read"}]),
    (calls(None, {"name": 3}, "x", {"name": "read"}), [{"tool": "read"}]),
    (answers({"choices": [{"finish_reason": "function_call", "message": {"function_call": {"name": "read", "arguments": "{}"}}}]}), [{"tool": "read"}]),
])  # fmt: skip
async def test_calls_of_tools_become_the_text_that_a_model_without_tools_would_write(
    behaviour: Behaviour, looks: list[object], server: LlmServer
) -> None:
    server.then(behaviour)
    reply = await client(server).complete("s", "d", schema=SCHEMA, tools=[READ])
    assert json.loads(reply.text) == {"look": looks}
    assert server.asked[0].texts == ("s", "d"), "the endpoint describes its tools by itself"
    assert server.asked[0].body["tools"] == [{"type": "function", "function": READ.model_dump()}]


async def test_with_tools_of_its_own_an_endpoint_is_not_held_to_a_schema(server: LlmServer) -> None:
    """Servers that enforce one leave the model no way to call a tool."""
    server.then(says('{"a": 1}'))
    reply = await client(server).complete("s", "d", schema=SCHEMA, tools=[READ])
    assert (reply.text, server.asked[0].format) == ('{"a": 1}', "")


async def test_a_call_of_a_tool_that_nobody_offered_is_no_answer(server: LlmServer) -> None:
    error = await failure(server, calls({"name": "read", "arguments": "{}"}))
    assert NOTHING in error.reason


@pytest.mark.parametrize(("status", "message"), [
    (400, "registry/x does not support tools"),
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (404, "No endpoints found that support tool use."),
    (422, "functions: extra fields not permitted"),
    (500, "tools param requires --jinja flag"),
])  # fmt: skip
async def test_an_endpoint_that_refuses_tools_is_asked_without_from_then_on(
    status: int, message: str, server: LlmServer
) -> None:
    server.then(fails(status, message=message), says('{"look": []}'))
    llm = client(server)
    for _ in range(2):
        reply = await llm.complete("s", "d", schema=SCHEMA, tools=[READ])
        assert reply.text == '{"look": []}'
    assert ["tools" in asked.body for asked in server.asked] == [True, False, False]
    for asked in server.asked[1:]:
        assert asked.texts[0] == "s"
        assert asked.format == "json_object", "a schema would leave no way to look"
    await llm.complete("s", "d", schema=SCHEMA)
    assert (server.asked[-1].texts[0], server.asked[-1].format) == ("s", "json_schema")


async def test_a_question_that_is_too_long_is_no_refusal_of_tools(server: LlmServer) -> None:
    long = "maximum context length is 8192 tokens: 8000 in the messages, 1000 in the functions"
    server.then(fails(400, message=long))
    with pytest.raises(Refused, match="too long"):
        await client(server).complete("s", "d", schema=None, tools=[READ])
    assert len(server.asked) == 1


# --- answers in pieces ---

STOP = delta(finish="stop")
USAGE: dict[str, object] = {"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 7}}


@pytest.mark.parametrize("events", [
    (delta("四字"), delta("熟語"), STOP, USAGE),
    (delta(""), delta("四字熟語", reasoning_content="hm"), delta(finish="stop"), USAGE),
    (b": still thinking\r\n\r\n", delta(reasoning_content="hm"), delta("<think>a"), delta("</think>四字熟語"), STOP, USAGE),
    (b"event: x\nid: 1\ndata: " + json.dumps(delta("四字熟語")).encode() + b"\r\n\r\n", STOP, USAGE),
    (b'data:{"choices": [{"delta":\ndata: {"content": "' + "四字熟語".encode() + b'"}}]}\n\n', STOP, USAGE),
    (delta([{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "四字熟語"}]), STOP, USAGE),
    ({"choices": [{"message": {"content": "四字熟語"}, "finish_reason": "stop"}]}, USAGE),
    (delta("四字熟語"), {"choices": [{"index": 1, "delta": {"content": "x"}}]}, delta(finish="stop", role="assistant"), USAGE),
])  # fmt: skip
async def test_a_streamed_answer_is_put_together(
    events: tuple[object, ...], server: LlmServer
) -> None:
    server.then(streams(*events))
    reply = await client(server).complete("s", "d", schema=None)
    assert (reply.text, reply.model, reply.finish_reason) == ("四字熟語", "m-1", "stop")
    assert (reply.usage.prompt_tokens, reply.usage.reply_tokens) == (120, 7)


async def test_a_streamed_answer_ends_where_it_says_so(server: LlmServer) -> None:
    server.keeps_alive = True
    assert await answered(server, streams(delta("hi"), STOP)) == "hi"


async def test_calls_of_tools_are_put_together_too(server: LlmServer) -> None:
    def piece(index: int, **function: str) -> dict[str, object]:
        return delta(tool_calls=[{"index": index, "function": function}])

    server.then(
        streams(
            piece(0, name="read", arguments=""),
            piece(0, arguments='{"path": '),
            piece(1, name="list", arguments="{}"),
            piece(0, arguments='"a.py"}'),
            delta(finish="tool_calls"),
        )
    )
    reply = await client(server).complete("s", "d", schema=None, tools=[READ])
    assert json.loads(reply.text) == {"look": [{"path": "a.py", "tool": "read"}, {"tool": "list"}]}


STREAMS: dict[str, tuple[Behaviour, type[PortError], str]] = {
    "nothing": (streams(end=False), Unavailable, NO_MESSAGE),
    "only its end": (streams(), Unavailable, NO_MESSAGE),
    "no text": (streams(delta(""), STOP), Unavailable, NOTHING),
    "no end": (streams(delta("hal"), end=False), Unavailable, "complete"),
    "a broken piece": (streams(delta("hal"), b"data: {\n\n"), Unavailable, "cannot be read"),
    "half a piece": (streams(delta("hal"), b'data: {"cho', end=False), Unavailable, "cannot be read"),
    "no pieces": (streams(b"data: 5\n\n", b"data: [1]\n\n"), Unavailable, NO_MESSAGE),
    "an error": (streams(delta("hal"), {"error": {"message": "overloaded"}}), Unavailable, "overloaded"),
    "an error as an event": (streams(b'event: error\ndata: {"message": "overloaded"}\n\n'), Unavailable, "overloaded"),
    "an error with its status": (streams({"error": {"message": "who?", "code": 401}}), Refused, "refuses the key"),
    "the filter": (streams(delta("hal", finish="content_filter")), Refused, "content filter"),
    "no wish to answer": (streams(delta(refusal="I can"), delta(refusal="not."), STOP), Refused, "declines"),
}  # fmt: skip


@pytest.mark.parametrize("does", STREAMS)
async def test_a_streamed_answer_that_is_none_is_told_in_plain_words(
    does: str, server: LlmServer
) -> None:
    behaviour, raised, reason = STREAMS[does]
    error = await failure(server, behaviour)
    assert type(error).__mro__.index(raised) <= 1
    assert reason in error.reason


def slowly(*pieces: bytes, seconds: float, forever: bool = False) -> Behaviour:
    """A stream that waits so long before each piece."""

    async def behave(talk: Talk) -> None:
        await streams(end=False)(talk)
        for piece in cycle(pieces) if forever else pieces:
            if await talk.useless(seconds):
                return
            talk.writer.write(piece)
            await talk.writer.drain()
        await streams_rest(talk)

    async def streams_rest(talk: Talk) -> None:
        for event in (delta("hi"), STOP):
            talk.writer.write(b"data: " + json.dumps(event).encode() + b"\n\n")

    return behave


LIFE = (b": queued\n\n", b"data: " + json.dumps(delta(reasoning="hm")).encode() + b"\n\n")


async def test_an_endpoint_that_thinks_aloud_is_given_its_time(server: LlmServer) -> None:
    server.then(slowly(*LIFE * 8, seconds=0.05))
    reply = await client(server, timeout=0.6).complete("s", "d", schema=None)
    assert reply.text == "hi", "all together took longer than a silence may"


async def test_an_endpoint_that_falls_silent_in_the_middle_is_left(server: LlmServer) -> None:
    error = await failure(server, slowly(*LIFE, seconds=5), 0.2)
    assert "silent for 0.2 seconds" in error.reason


async def test_an_endpoint_that_thinks_for_ever_is_left(server: LlmServer) -> None:
    error = await failure(server, slowly(*LIFE, seconds=0.02, forever=True), 30, 0.4)
    assert "within 0.4 seconds" in error.reason


async def test_of_a_stream_no_more_is_kept_than_of_an_answer_in_one_piece(
    server: LlmServer,
) -> None:
    many = streams(*[delta("x" * 65536)] * 200)
    for behaviour in (many, streams(b"data: " + b"x" * 20_000_000)):
        error = await failure(server, behaviour)
        assert "without end" in error.reason
    thoughts = streams(*[delta(reasoning="x" * 65536)] * 200, delta("hi"), STOP)
    assert await answered(server, thoughts) == "hi", "reasoning is not kept"


@pytest.mark.parametrize(("refused", "streamed"), [
    ("Unknown field: stream_options", [(True, True), (True, False), (True, False)]),
    ("streaming is not supported", [(True, True), (False, False), (False, False)]),
])  # fmt: skip
@pytest.mark.parametrize("status", [400, 422])
async def test_an_endpoint_that_refuses_to_stream_is_not_asked_to_again(
    refused: str, streamed: list[tuple[bool, bool]], status: int, server: LlmServer
) -> None:
    server.then(fails(status, message=refused), says("hi"))
    llm = client(server)
    for _ in range(2):
        assert (await llm.complete("s", "d", schema=None)).text == "hi"
    found = [("stream" in asked.body, "stream_options" in asked.body) for asked in server.asked]
    assert found == streamed


# --- how long an answer may be ---


async def test_an_answer_that_was_cut_off_is_continued_where_it_stopped(server: LlmServer) -> None:
    server.then(
        says('{"a": [1, 2', finish="length", usage={"prompt_tokens": 10, "completion_tokens": 4}),
        streams(delta(", 3, "), delta(finish="length")),
        says("<think>where was I?</think>4]}", usage={"prompt_tokens": 20, "completion_tokens": 3}),
    )
    reply = await client(server).complete("s", "d", schema=SCHEMA, turns=TURNS[:1], tools=[READ])
    assert json.loads(reply.text) == {"a": [1, 2, 3, 4]}
    assert (reply.finish_reason, reply.usage.calls) == ("stop", 3)
    assert reply.usage.prompt_tokens >= 30
    last = server.asked[-1]
    assert last.texts[:4] == server.asked[0].texts
    assert last.texts[4] == '{"a": [1, 2, 3, '
    assert "exactly where it stopped" in last.texts[5]
    assert ("tools" in last.body, last.format) == (False, ""), "the rest of an object is none"


async def test_what_a_continuation_repeats_is_left_out(server: LlmServer) -> None:
    server.then(
        says("The discount is taken off before tax is add", finish="length"),
        says("taken off before tax is added."),
    )
    reply = await client(server).complete("s", "d", schema=None)
    assert reply.text == "The discount is taken off before tax is added."


async def test_an_answer_without_end_is_continued_three_times_and_then_told(
    server: LlmServer,
) -> None:
    server.then(says("la ", finish="length"))
    reply = await client(server).complete("s", "d", schema=None)
    assert (reply.text, reply.finish_reason) == ("la la la la", "length")
    assert len(server.asked) == 4


async def test_an_answer_that_cannot_be_continued_is_told_to_be_cut_off(server: LlmServer) -> None:
    server.then(says("half", finish="length"), fails(400, code="context_length_exceeded"))
    reply = await client(server).complete("s", "d", schema=None)
    assert (reply.text, reply.finish_reason) == ("half", "length")


def bounds(server: LlmServer) -> list[tuple[object, object]]:
    """What was asked for at most, by the name of the field."""
    fields = ("max_tokens", "max_completion_tokens")
    return [tuple(asked.body.get(name) for name in fields) for asked in server.asked]  # pyright: ignore[reportReturnType]


@pytest.mark.parametrize(("model", "wanted"), [
    ("m-1", None), ("gpt-5.2", None), ("deepseek-chat", 8192), ("anthropic/claude-3-haiku", 4096),
    ("claude-sonnet-4-6", 32_000),  # of 64,000: accounts are limited by what is asked for
])  # fmt: skip
async def test_an_answer_is_bounded_only_where_the_endpoint_would_stop_earlier(
    model: str, wanted: int | None, server: LlmServer
) -> None:
    await client(server, model=model).complete("s", "d", schema=None)
    assert bounds(server) == [(wanted, None)]


@pytest.mark.parametrize(("message", "limit"), [
    ("max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.", 4096),
    ("max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for m", 4096),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 4096]", 4096),
    ("`max_tokens` must be less than or equal to `4,096`", 4096),
    ("max_tokens must be in the range from 1 (inclusive) to 4097 (exclusive)", 4096),
    ("max_tokens: nobody knows what is wrong with it", None),
])  # fmt: skip
async def test_an_output_limit_that_an_error_names_is_kept_and_is_no_window(
    message: str, limit: int | None, server: LlmServer
) -> None:
    windows = Windows()
    server.then(fails(400, message=message), says("hi"))
    llm = client(server, model="deepseek-chat", windows=windows)
    for _ in range(2):
        assert (await llm.complete("s", "d", schema=None)).text == "hi"
    assert bounds(server) == [(8192, None), (limit, None), (limit, None)]
    assert windows.learnt((server.url, "deepseek-chat")) == 0


async def test_the_field_is_called_as_the_endpoint_wants_it(server: LlmServer) -> None:
    other = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    needed = fails(422, message="max_tokens: field required")
    server.then(needed, fails(400, message=other), says("hi"))
    llm = client(server)
    for _ in range(2):
        assert (await llm.complete("s", "d", schema=None)).text == "hi"
    assert bounds(server) == [(None, None), (8192, None), (None, 8192), (None, 8192)]


async def test_an_endpoint_that_wants_a_bound_and_refuses_each_is_left(server: LlmServer) -> None:
    server.then(fails(400, message="max_tokens is required"))
    with pytest.raises(Refused, match="does not accept"):
        await client(server).complete("s", "d", schema=None)
    assert len(server.asked) < 6


async def test_an_answer_may_not_be_longer_than_the_window_has_room(server: LlmServer) -> None:
    windows = Windows()
    windows.learn((server.url, "deepseek-chat"), 9000)
    llm = client(server, model="deepseek-chat", windows=windows)
    for size in (3000, 15_000, 24_000):
        await llm.complete("s", "x" * size, schema=None)
    assert bounds(server) == [(7749, None), (2749, None), (None, None)]


async def test_where_question_and_answer_were_too_long_the_answer_is_left_to_the_endpoint(
    server: LlmServer,
) -> None:
    windows = Windows()
    long = "This model's maximum context length is 9000 tokens. However, you requested 10000 tokens (1808 in the messages, 8192 in the completion)."
    server.then(fails(400, message=long), says("hi"))
    llm = client(server, model="deepseek-chat", windows=windows)
    assert (await llm.complete("s", "d", schema=None)).text == "hi"
    assert bounds(server) == [(8192, None), (None, None)]
    assert windows.learnt((server.url, "deepseek-chat")) == 9000

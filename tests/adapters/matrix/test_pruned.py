"""Whatever others write: it can be read on, and written down."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as some

from adapters.matrix.client import MAX_JSON_DEPTH, Json, json_answer, prune_json
from bot.core.errors import Unavailable

words = some.text(some.characters(codec=None, categories=None), max_size=5)
values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | words,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(words, inner, max_size=3),
)


@given(values)
def test_it_can_be_written_down(value: Any) -> None:
    json.dumps(prune_json(value), ensure_ascii=False).encode()


@given(some.recursive(some.integers() | some.text(), some.lists))
def test_what_means_something_stays_as_it_is(value: Any) -> None:
    assert prune_json(value) == value


def test_what_lies_too_deep_is_nothing() -> None:
    value: Any = "core"
    for _ in range(MAX_JSON_DEPTH + 1):
        value = {"in": [value]}
    text = json.dumps(prune_json(value))
    assert "core" not in text
    assert text.count("in") == MAX_JSON_DEPTH // 2
    assert "null" in text


def test_half_a_character_is_a_question_mark() -> None:
    assert prune_json({"\udc00": ["a\ud800b", "😀"]}) == {"?": ["a?b", "😀"]}


async def answered(body: str) -> Json:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body)

    app = web.Application()
    app.router.add_get("/", answer)
    async with TestServer(app) as server, ClientSession() as http:
        return await json_answer("Asking", http.get(server.make_url("/")))


async def test_whatever_a_homeserver_answers_is_pruned() -> None:
    body = '{"half": "\\ud800", "deep": %s1%s}' % ("[" * 300, "]" * 300)  # noqa: UP031 - it is full of braces
    told = await answered(body)
    assert told["half"] == "?"
    assert "1" not in json.dumps(told)


async def test_what_no_program_can_read_is_no_homeservers() -> None:
    with pytest.raises(Unavailable, match="is no Matrix homeserver"):
        await answered('{"deep": ' + "[" * 5000 + "]" * 5000 + "}")

"""How large the window of a model is: from its endpoint, its errors, or the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from adapters.llm import LlmAccess, Windows, limit_in, window_in_table
from adapters.llm.windows import KEPT, ask_endpoint, is_own_server

LOCAL = "http://127.0.0.1:1/v1"
PUBLIC = "https://llm.example.com/v1"

ANSWERS: dict[str, tuple[str, dict[str, Any], int]] = {
    "vLLM": (LOCAL, {"api models": {"data": [{"id": "m", "max_model_len": 32768}]}}, 32_768),
    "OpenRouter": (
        PUBLIC,
        {"api models": {"data": [{"id": "m", "context_length": 131072}]}},
        131_072,
    ),
    "Mistral": (PUBLIC, {"api models/m": {"id": "m", "max_context_length": 256000}}, 256_000),
    "Anthropic": (PUBLIC, {"api models/m": {"id": "m", "max_input_tokens": 1000000}}, 1_000_000),
    "Gemini": (
        PUBLIC,
        {"api models": {"models": [{"name": "m", "inputTokenLimit": 1048576}]}},
        1_048_576,
    ),
    "OpenAI says nothing": (PUBLIC, {"api models/m": {"id": "m", "object": "model"}}, 0),
    "llama.cpp": (
        LOCAL,
        {"root props": {"default_generation_settings": {"n_ctx": 8192, "n_ctx_train": 131072}}},
        8_192,
    ),
    "Ollama, loaded": (
        LOCAL,
        {
            "root api/show": {
                "parameters": "num_ctx 16384",
                "model_info": {"x.context_length": 131072},
            },
            "root api/ps": {"models": [{"name": "m", "context_length": 8192}]},
        },
        8_192,
    ),
    "Ollama, set": (LOCAL, {"root api/show": {"parameters": "stop x\nnum_ctx   16384"}}, 16_384),
    "Ollama, nothing set": (
        LOCAL,
        {"root api/show": {"model_info": {"x.context_length": 131072}}},
        4_096,
    ),
    "another model only": (
        LOCAL,
        {"api models": {"data": [{"id": "n", "max_model_len": 32768}]}},
        0,
    ),
    "nonsense": (LOCAL, {"api models": {"data": [{"id": "m", "max_model_len": -1}, 3, None]}}, 0),
    "text": (LOCAL, {"api models": "no"}, 0),
    "silence": (LOCAL, {}, 0),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_each_server_is_asked_in_its_own_way(name: str) -> None:
    base_url, answers, wanted = ANSWERS[name]
    asked: list[str] = []

    async def ask(base: str, path: str, posted: Mapping[str, object] | None) -> object:
        asked.append(f"{base} {path}")
        return answers.get(f"{base} {path}")

    found = await ask_endpoint(LlmAccess(base_url, "m", "key"), ask)
    assert found.window == wanted
    if base_url == PUBLIC:
        assert not [one for one in asked if one.startswith("root")]


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("http://localhost:8080/v1", True),
        ("http://192.168.1.5/v1", True),
        ("http://gpu.lan/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
    ],
)
def test_only_servers_of_ones_own_are_asked_beside_the_api(url: str, own: bool) -> None:
    assert is_own_server(url) is own


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        (
            "This model's maximum context length is 128000 tokens. However, you requested 130,000",
            128_000,
        ),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("the request exceeds the available context size (n_ctx=4096)", 4_096),
        ("max_tokens is too large: 50000. This model supports at most 16384 completion tokens", 0),
        ("too long", 0),
        ("maximum context length is 7 tokens", 0),
    ],
)
def test_the_limit_is_read_from_what_an_endpoint_refuses(message: str, wanted: int) -> None:
    assert limit_in(message) == wanted


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("gpt-5.4-mini", 272_000),
        ("anthropic/claude-sonnet-4-6", 1_000_000),
        ("claude-haiku-4-5", 200_000),
        ("google/gemini-2.5-pro", 1_048_576),
        ("o3-mini", 200_000),
        ("my-own-model", 0),
    ],
)
def test_families_are_in_the_table(model: str, wanted: int) -> None:
    assert window_in_table(model) == wanted


async def test_an_endpoint_is_asked_once_an_hour_and_counts_more_than_what_was_learnt() -> None:
    asked: list[str] = []

    async def models(request: web.Request) -> web.Response:
        asked.append(request.headers["Authorization"])
        return web.json_response({"data": [{"id": "gpt-5", "max_model_len": 9_000}]})

    app = web.Application()
    app.router.add_get("/v1/models", models)
    now = 0.0
    windows = Windows(lambda: now)
    async with TestServer(app) as server:
        access = LlmAccess(str(server.make_url("/v1")), "gpt-5", "sk-key")
        windows.learn((access.base_url, "gpt-5"), 5_000)
        assert [await windows.of(access) for _ in range(3)] == [9_000] * 3
        assert asked == ["Bearer sk-key"]
        now = KEPT + 1
        assert await windows.of(access) == 9_000
        assert len(asked) == 2


async def test_an_endpoint_that_is_away_leaves_what_was_learnt_and_then_the_table() -> None:
    windows = Windows()
    access = LlmAccess("http://127.0.0.1:9/v1", "claude-opus-4-6", "")
    assert await windows.of(access) == 1_000_000
    windows.learn(("http://127.0.0.1:9/v1", "claude-opus-4-6"), 150_000)
    assert await windows.of(access) == 150_000

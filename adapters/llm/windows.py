"""Finds how many tokens a model accepts at once, and how many it writes: asks its endpoint, reads its errors, or looks in
a small table.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from ipaddress import ip_address
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import quote, urlsplit

from adapters.llm.client import (
    LlmAccess,
    bounded_client,
    remove_foreign_headers,
    trusted_certificates,
)
from bot.core.errors import PortError
from bot.core.llm import estimate_tokens

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger("bot.llm")
SECONDS = 5.0
"""The time-out for all questions about one model together."""
KEPT = 3600.0
"""Seconds after which an endpoint is asked again, because a server may be restarted with another window."""
LEAST, MOST = 1_000, 20_000_000
"""Numbers outside of this range are not windows."""

TABLE = (
    (r"gpt-4\.1", 1_047_576),
    # of 400k tokens 272k may be input; from 5.4 on more is possible, and costs more
    (r"gpt-5", 272_000),
    (r"gpt-4o|gpt-4-turbo", 128_000),
    (r"o[134](?:-|$)", 200_000),
    (r"claude-(?:opus|sonnet)-(?:4-[6-9]|[5-9])", 1_000_000),
    (r"claude", 200_000),
    (r"gemini-(?:2\.5|3)", 1_048_576),
    (r"mistral-medium-3\.5", 256_000),
    (r"mistral-large", 128_000),
    (r"qwen3-max", 262_144),
    (r"qwen3-coder-plus", 1_000_000),
    (r"deepseek", 64_000),
)
"""Windows of model families, as of November 2026. Tables age and hosts cap, so whatever else is known counts more."""

OUTPUT_TABLE = (
    (r"claude-opus-4-[5-9]|claude-sonnet-4|claude-haiku-4", 64_000),
    (r"claude-opus-4", 32_000),
    (r"claude-3-[57]", 8_192),
    (r"claude-3", 4_096),
    (r"deepseek-chat", 8_192),
)
"""The most that models write, as of November 2026, where an endpoint may stop earlier unless it is named.

Others write as much as they can by themselves.
"""
MOST_OUTPUT = 32_000
"""Tokens that are asked for at most: accounts are charged or limited by what is asked for."""
LEAST_OUTPUT = 1_000
"""A lower bound than this would cut off most answers: then none is set."""

_FIELDS = (
    *("max_model_len", "max_input_tokens", "inputTokenLimit", "loaded_context_length"),
    *("context_length", "max_context_length", "context_window"),
)
"""The field names of vLLM, Anthropic, Gemini, LM Studio, OpenRouter, Mistral and Groq."""
_OUTPUT_FIELDS = (
    *("max_output_tokens", "outputTokenLimit", "max_completion_tokens", "max_tokens"),
    "top_provider",
)
"""The field names of LiteLLM, Gemini, Groq, Anthropic, and OpenRouter."""
_LIMITS = (
    re.compile(r"maximum context length (?:is|of) ([\d,]+)", re.IGNORECASE),
    re.compile(r"prompt is too long: [\d,]+ tokens > ([\d,]+) maximum", re.IGNORECASE),
    re.compile(r"context (?:size|window|length)[^\d]{0,40}?([\d,]+) tokens", re.IGNORECASE),
    re.compile(r"n_ctx['\"]?\s*[:=(]\s*([\d,]+)", re.IGNORECASE),
)
_OUTPUT = re.compile(r"max_(?:completion_|output_|new_)?tokens", re.IGNORECASE)
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.MULTILINE)
_OLLAMA_DEFAULT = 4_096
"""The window Ollama uses by default on machines with less than 24 GiB of video memory."""

Ask = Callable[[str, str, Mapping[str, object] | None], Awaitable[object]]
"""Sends one HTTP request: the base (`api` or `root`), the path below it, and the JSON to post (None:

GET). Returns None on any error.
"""


def window_in_table(model: str) -> int:
    """Return the window of a model's family, or 0 if it is not in the table."""
    return _in_table(TABLE, model)


def _in_table(table: tuple[tuple[str, int], ...], model: str) -> int:
    name = model.rpartition("/")[2].lower()
    return next((tokens for pattern, tokens in table if re.match(pattern, name)), 0)


def limit_in(message: str) -> int:
    """Return the window named in an error message, or 0.

    A message that refuses an *output* limit looks similar and names none.
    """
    if _OUTPUT.search(message) and "context" not in message.lower():
        return 0
    for pattern in _LIMITS:
        if found := pattern.search(message):
            return _plausible(int(found[1].replace(",", "")))
    return 0


class Limits(NamedTuple):
    """What an endpoint reports of a model, in tokens; 0 if unknown."""

    window: int = 0
    output: int = 0


class Windows:
    """The known windows and output limits of endpoints and models."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._asked: dict[tuple[str, str], tuple[float, Limits]] = {}
        self._reported: dict[tuple[str, str], int] = {}
        self._outputs: dict[tuple[str, str], int] = {}

    async def of(self, access: LlmAccess) -> int:
        """Return the window in tokens, or 0 if it is unknown. Never fails, and takes at most `SECONDS`."""
        key = (access.base_url, access.model)
        known = self._asked.get(key)
        if known is None or self._clock() - known[0] > KEPT:
            known = self._asked[key] = (self._clock(), await _asked(access))
        return self.known(access)

    def known(self, access: LlmAccess) -> int:
        """Return the window as far as it is known without asking, else 0."""
        key = (access.base_url, access.model)
        _, asked = self._asked.get(key, (0.0, Limits()))
        return asked.window or self.learnt(key) or window_in_table(access.model)

    def output(self, access: LlmAccess, question: str) -> int:
        """Return how many tokens the answer may have, as they are to be asked for; 0 if that is left to the endpoint."""
        key = (access.base_url, access.model)
        _, asked = self._asked.get(key, (0.0, Limits()))
        named = _in_table(OUTPUT_TABLE, access.model)
        most = min(self._outputs.get(key, MOST_OUTPUT), asked.output or MOST_OUTPUT, MOST_OUTPUT)
        if window := self.known(access):
            most = min(most, window - int(estimate_tokens(question) * 1.25))
        wanted = min(most, named) if named else most if key in self._outputs else 0
        return wanted if wanted >= LEAST_OUTPUT else 0

    def learn_output(self, key: tuple[str, str], tokens: int) -> None:
        """Record the output limit that an error message has named."""
        if tokens:
            self._outputs[key] = tokens

    def learn(self, key: tuple[str, str], tokens: int) -> None:
        """Record the window that an error message or a CLI has reported."""
        if _plausible(tokens):
            self._reported[key] = tokens

    def learnt(self, key: tuple[str, str]) -> int:
        return self._reported.get(key, 0)


async def _asked(access: LlmAccess) -> Limits:
    found = Limits()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SECONDS), await asyncio.to_thread(_client) as client:
            found = await ask_endpoint(access, _asking(client, access))
    if any(found):
        told = {"model": access.model, "tokens": found.window, "output": found.output}
        log.info("context window", extra={"data": told})
    return found


async def ask_endpoint(access: LlmAccess, ask: Ask) -> Limits:
    """Return what the endpoint reports for its model. Self-hosted servers are also asked in their own ways."""
    for path in (f"models/{quote(access.model, safe='')}", "models"):
        told = await ask("api", path, None)
        if window := _of_model(told, access.model, _FIELDS):
            return Limits(window, _of_model(told, access.model, _OUTPUT_FIELDS))
    if not is_own_server(access.base_url):
        return Limits()
    settings = _part(await ask("root", "props", None), "default_generation_settings")
    if tokens := _plausible(settings.get("n_ctx")):
        return Limits(tokens)
    shown = _object(await ask("root", "api/show", {"model": access.model}))
    if not shown:
        return Limits()
    running = _listed(await ask("root", "api/ps", None), "models")
    allotted = next(
        (one.get("context_length") for one in running if one.get("name") == access.model), None
    )
    told = _NUM_CTX.search(str(shown.get("parameters", "")))
    return Limits(_plausible(allotted) or (int(told[1]) if told else 0) or _OLLAMA_DEFAULT)


def is_own_server(base_url: str) -> bool:
    """Whether the endpoint is in a private network. Only there are paths outside of the OpenAI API tried."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan"))


def _of_model(answer: object, model: str, fields: tuple[str, ...]) -> int:
    """Read one of the fields from the description of one model or from a list of models, whose entries are named by `id` or
    `name`.
    """
    told = _object(answer)
    listed = [*_listed(told, "data"), *_listed(told, "models")]
    meant = (
        [one for one in listed if model in (one.get("id"), one.get("name"))] if listed else [told]
    )
    for one in meant:
        for name in fields:
            value = one.get(name)
            if isinstance(value, dict):
                value = _object(cast("object", value)).get("max_completion_tokens")
            if tokens := _plausible(value):
                return tokens
    return 0


def _plausible(tokens: object) -> int:
    whole = isinstance(tokens, int) and not isinstance(tokens, bool)
    return cast("int", tokens) if whole and LEAST <= cast("int", tokens) <= MOST else 0


def _object(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _part(value: object, name: str) -> Mapping[str, object]:
    return _object(_object(value).get(name))


def _listed(value: object, name: str) -> Iterator[Mapping[str, object]]:
    found = _object(value).get(name)
    if isinstance(found, list):
        yield from (_object(one) for one in cast("list[object]", found))


def _client() -> httpx2.AsyncClient:
    return bounded_client()(
        verify=trusted_certificates(),
        event_hooks={"request": [remove_foreign_headers]},
        follow_redirects=False,
        timeout=SECONDS,
    )


def _asking(client: httpx2.AsyncClient, access: LlmAccess) -> Ask:
    api = access.base_url.rstrip("/")
    parts = urlsplit(api)
    bases = {"api": api, "root": f"{parts.scheme}://{parts.netloc}"}
    headers = {"Authorization": f"Bearer {access.api_key or 'none'}", "Accept-Encoding": "identity"}

    async def ask(base: str, path: str, posted: Mapping[str, object] | None) -> object:
        import httpx2

        address = f"{bases[base]}/{path}"
        try:
            if posted is None:
                answer = await client.get(address, headers=headers)
            else:
                answer = await client.post(address, headers=headers, json=dict(posted))
            return json.loads(answer.content) if answer.status_code == 200 else None
        except (httpx2.HTTPError, PortError, ValueError, RecursionError):
            return None

    return ask

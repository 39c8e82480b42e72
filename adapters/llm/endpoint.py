"""Asks an OpenAI-compatible endpoint once, within one time limit. The caller decides about retries."""

from __future__ import annotations

import asyncio
import logging
import ssl
import zlib
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import AnyHttpUrl, TypeAdapter, ValidationError

from adapters.llm.answers import CallLog, EmptyAnswer, MaskText, Question, read_answer
from adapters.llm.capabilities import Capabilities, Request
from adapters.llm.errors import Problem, error_for, read_problem
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.llm import Reply, Tool, Turn

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionMessageParam


@dataclass(frozen=True)
class LlmAccess:
    """Address, model name and key."""

    base_url: str
    model: str
    api_key: str = field(repr=False)
    key_setting: str = "OPENAI_API_KEY"
    """The setting that holds the key, named in error messages."""


class OpenAiLlm:
    """The `Llm` port over chat completions.

    `capabilities` holds what was learned about endpoints; `learn_limit` receives their message when a question was too long.
    """

    def __init__(
        self,
        access: LlmAccess,
        *,
        mask: MaskText,
        timeout: float = 120.0,
        capabilities: Capabilities | None = None,
        learn_limit: Callable[[str], None] = lambda _message: None,
        log: logging.Logger | None = None,
    ) -> None:
        self._access = access
        self._learn_limit = learn_limit
        self._timeout = timeout
        self._capabilities = capabilities or Capabilities()
        self._calls = CallLog(mask, log)

    async def complete(
        self,
        system: str,
        data: str,
        *,
        schema: dict[str, object] | None,
        turns: Sequence[Turn] = (),
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """Return the answer to `system` about `data` and the turns; every call is logged, whatever its result."""
        _check(self._access)

        async def ask(question: Question) -> Reply:
            return await self._in_time(question, schema, tools)

        question = Question(system, data, tuple(turns))
        return await self._calls.record(self._access.base_url, question, ask)

    async def _in_time(
        self, question: Question, schema: dict[str, object] | None, tools: Sequence[Tool]
    ) -> Reply:
        access = self._access
        client = await asyncio.to_thread(new_client, access.base_url, access.api_key, self._timeout)
        try:
            # the library's own limit is per read, so a slowly trickling body would never exceed it
            async with client, asyncio.timeout(self._timeout):
                return await self._ask(client, question, schema, tools)
        except TimeoutError as error:
            raise Unavailable(
                f"the LLM endpoint did not answer within {self._timeout:g} seconds",
                "The bot tries again by itself.",
            ) from error

    async def _ask(
        self,
        client: AsyncOpenAI,
        question: Question,
        schema: dict[str, object] | None,
        tools: Sequence[Tool],
    ) -> Reply:
        """Ask in the best way the endpoint accepts, and remember which that is."""
        key, known = (self._access.base_url, self._access.model), self._capabilities
        while True:
            request = known.request(key, schema, tools)
            asked = replace(question, system=question.system + request.description)
            try:
                answer = await self._once(client, asked, request)
            except EmptyAnswer:
                known.record_answer(request, "")
                raise
            if isinstance(answer, Reply):
                known.record_answer(request, answer.text)
                return answer
            if known.record_refusal(request, answer):
                continue
            if answer.is_too_long:
                self._learn_limit(answer.message)
            raise error_for(
                self._masked_problem(answer), self._access.model, self._access.key_setting
            )

    async def _once(
        self, client: AsyncOpenAI, question: Question, request: Request
    ) -> Reply | Problem:
        import openai  # imported late, because it takes a good part of a second, and only calls should pay for that

        try:
            # the raw response, because the library returns web pages and errors as if they were completions
            raw = await client.chat.completions.with_raw_response.create(
                model=self._access.model, messages=_messages(question), extra_body=request.fields
            )
        except openai.APIStatusError as error:
            return read_problem(error.status_code, error.body, error.response.headers)
        except openai.APITimeoutError as error:
            raise TimeoutError from error
        except openai.APIError as error:
            if isinstance(error.__cause__, PortError):
                raise error.__cause__ from error  # our own client has reported what is wrong
            raise Unavailable(
                f"the LLM endpoint cannot be reached ({_cause(error)})",
                "Check OPENAI_BASE_URL and the network; the bot tries again by itself.",
            ) from error
        return read_answer(
            raw.content, question=question.text, model=self._access.model, tools=request.native
        )

    def _masked_problem(self, problem: Problem) -> Problem:
        # Masked, because some endpoints quote the key they refuse.
        key = self._access.api_key
        message = problem.message.replace(key, "…") if key else problem.message
        return replace(problem, message=self._calls.mask(message), whole="")


def _messages(question: Question) -> list[ChatCompletionMessageParam]:
    """Return the messages in their order; what was sent before stays as it is, so that its prefix is cached."""
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": question.system},
        {"role": "user", "content": question.data},
    ]
    for one in question.turns:
        # some endpoints refuse an empty message
        messages.append({"role": "assistant", "content": one.answer or "(nothing)"})
        messages.append({"role": "user", "content": one.then})
    return messages


def _check(access: LlmAccess) -> None:
    try:
        TypeAdapter(AnyHttpUrl).validate_python(access.base_url)
    except ValidationError as error:
        raise Refused(
            "OPENAI_BASE_URL is not a web address", "Set it to one, for example https://…/v1."
        ) from error
    if not (access.api_key.isascii() and access.api_key.isprintable()):
        raise Refused(
            f"{access.key_setting} holds characters that no key has", "Set it anew, on one line."
        )


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__


# The HTTP client of one call: only our own headers, no redirects, and a limit on the size of an answer.

MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Bytes of an unpacked answer.

`bot.steps.asking` reads 400,000 characters; the rest is room for escapes and reasoning.
"""

_SENT = frozenset(
    {
        *("host", "connection", "accept", "accept-encoding", "user-agent"),
        *("authorization", "content-type", "content-length", "transfer-encoding"),
    }
)
_OF_THE_LIBRARY = "x-stainless-"
_ABOUT_THE_TRANSFER = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_AGAIN = "The bot tries again by itself."


class _OutgoingRequest(Protocol):
    """The part of a request that is used here."""

    @property
    def headers(self) -> MutableMapping[str, str]: ...


async def remove_foreign_headers(request: _OutgoingRequest) -> None:
    # The library reads OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS by itself and would send them, with
    # whatever account or key they name, to every endpoint.
    for name in [*request.headers]:
        if name.lower() not in _SENT and not name.lower().startswith(_OF_THE_LIBRARY):
            del request.headers[name]


@cache
def trusted_certificates() -> ssl.SSLContext:
    # Cached: loading the certificates is most of the cost of a client, in time and in memory that is not freed.
    import httpx2

    return httpx2.create_ssl_context()


def new_client(base_url: str, api_key: str, timeout: float) -> AsyncOpenAI:
    """Return a client for one call; a connection kept for the next one would probably be dead by then.

    Call it in a thread, because it is slow.
    """
    import openai

    headers = {
        # set explicitly, so that no header from the environment replaces it
        "Authorization": f"Bearer {api_key or 'none'}",
        # 300 kB of gzip can unpack to 300 MB, and answers are small, so there is nothing to gain
        "Accept-Encoding": "identity",
    }
    try:
        return openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            default_headers=headers,
            max_retries=0,
            timeout=timeout,
            http_client=bounded_client()(
                verify=trusted_certificates(),
                event_hooks={"request": [remove_foreign_headers]},
                # the library follows redirects by default, and sends the whole question along
                follow_redirects=False,
            ),
        )
    except (ImportError, ValueError) as error:
        raise Refused(
            f"the LLM cannot be asked: {error}", "Check OPENAI_BASE_URL and the proxy settings."
        ) from error


@cache
def bounded_client() -> Callable[..., httpx2.AsyncClient]:
    """The library's client, but every answer, errors too, is read here and to a bound. A class made late: see `trusted`."""
    import httpx2
    import openai

    class Bounded(openai.DefaultAsyncHttpxClient):
        async def send(
            self, request: httpx2.Request, *, stream: bool = False, **how: Any
        ) -> httpx2.Response:
            answer = await super().send(request, stream=True, **how)
            try:
                body = await _read_body(answer)
            finally:
                await answer.aclose()
            kept = [
                (name, value)
                for name, value in answer.headers.multi_items()
                if name.lower() not in _ABOUT_THE_TRANSFER
            ]
            return httpx2.Response(
                answer.status_code, headers=kept, content=body, request=answer.request
            )

    return Bounded


async def _read_body(answer: httpx2.Response) -> bytes:
    unpack, body = _make_unpacker(answer.headers), bytearray()
    async for piece in answer.aiter_raw():
        body += unpack(piece, MAX_ANSWER_BYTES + 1 - len(body))
        if len(body) > MAX_ANSWER_BYTES:
            raise Unavailable(
                f"the LLM endpoint sent an answer without end (over {MAX_ANSWER_BYTES // 1024**2} MB)",
                f"Look at what OPENAI_BASE_URL leads to. {_AGAIN}",
            )
    return bytes(body)


def _make_unpacker(headers: Mapping[str, str]) -> Callable[[bytes, int], bytes]:
    """Return a function that unpacks a piece up to a limit. Some servers compress even though it was not requested."""
    packed = headers.get("content-encoding", "identity").strip().lower()
    if packed in {"", "identity"}:
        return lambda piece, _most: piece
    if packed not in {"gzip", "x-gzip", "deflate"}:
        raise Unavailable(
            "the LLM endpoint sent an answer in a compression that was not asked for",
            f"Look at any proxy in between. {_AGAIN}",
        )
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: detect gzip or zlib

    def unpack(piece: bytes, most: int) -> bytes:
        try:
            return unpacker.decompress(piece, most)
        except zlib.error as error:
            raise Unavailable(
                "the LLM endpoint sent an answer that cannot be unpacked",
                f"Look at any proxy in between. {_AGAIN}",
            ) from error

    return unpack

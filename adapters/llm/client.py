"""The HTTP client of one call: only our own headers, no redirects, and a limit on the size of an answer."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from adapters.llm.streams import StreamedAnswer
from bot.core.errors import Refused, Unavailable

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI


@dataclass(frozen=True)
class LlmAccess:
    """Address, model name and key."""

    base_url: str
    model: str
    api_key: str = field(repr=False)
    key_setting: str = "OPENAI_API_KEY"
    """The setting that holds the key, named in error messages."""


MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Bytes of an unpacked answer.

`bot.steps.asking` reads 400,000 characters; the rest is room for escapes and reasoning.
"""

MAX_STREAM_BYTES = 8 * MAX_ANSWER_BYTES
"""Bytes of a streamed answer, of which little is kept: each token comes in an object of its own, reasoning too."""

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
    """The library's client, but every answer, errors too, is read here and to a bound. A class made late: see `trusted`.

    A streamed answer is put together here, so that everybody else reads one kind of answer.
    """
    import httpx2
    import openai

    class Bounded(openai.DefaultAsyncHttpxClient):
        async def send(
            self, request: httpx2.Request, *, stream: bool = False, **how: Any
        ) -> httpx2.Response:
            answer = await super().send(request, stream=True, **how)
            try:
                body = await (_read_stream if _is_stream(answer) else _read_body)(answer)
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


def _is_stream(answer: httpx2.Response) -> bool:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return answer.status_code == 200 and kind == "text/event-stream"


async def _read_stream(answer: httpx2.Response) -> bytes:
    """Return the pieces of a streamed answer as the body of a whole one."""
    read = StreamedAnswer(MAX_ANSWER_BYTES)
    async for piece in _pieces(answer, MAX_STREAM_BYTES):
        read.feed(piece)
        if read.exceeds_limit:
            raise _endless()
        if read.ended:
            break  # some servers keep the connection open
    return read.whole()


async def _read_body(answer: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in _pieces(answer, MAX_ANSWER_BYTES):
        body += piece
    return bytes(body)


async def _pieces(answer: httpx2.Response, limit: int) -> AsyncIterator[bytes]:
    """Yield the unpacked bytes of an answer. Raises Unavailable when there are more than `limit`."""
    unpack, size = _make_unpacker(answer.headers), 0
    async for packed in answer.aiter_raw():
        piece = unpack(packed, limit + 1 - size)
        size += len(piece)
        if size > limit:
            raise _endless()
        yield piece


def _endless() -> Unavailable:
    return Unavailable(
        f"the LLM endpoint sent an answer without end (over {MAX_ANSWER_BYTES // 1024**2} MB)",
        f"Look at what OPENAI_BASE_URL leads to. {_AGAIN}",
    )


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

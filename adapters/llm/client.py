"""The HTTP client of one call: our own headers only, no redirects, and no more of an answer than any model says."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Callable, Mapping, MutableMapping
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from bot.errors import Refused, Unavailable

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

LARGEST = 8 * 1024 * 1024
"""Bytes of an answer, unpacked. `brain.asking` reads 400,000 characters; the rest is room for escapes and thoughts."""

_SENT = frozenset(
    {
        *("host", "connection", "accept", "accept-encoding", "user-agent"),
        *("authorization", "content-type", "content-length", "transfer-encoding"),
    }
)
_OF_THE_LIBRARY = "x-stainless-"
_ABOUT_THE_TRANSFER = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_AGAIN = "The bot tries again by itself."


class _Going(Protocol):
    """A request on its way out."""

    @property
    def headers(self) -> MutableMapping[str, str]: ...


async def only_ours(request: _Going) -> None:
    """The library reads OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS by itself, and would send them,
    with whatever account or key they name, to every endpoint."""
    for name in [*request.headers]:
        if name.lower() not in _SENT and not name.lower().startswith(_OF_THE_LIBRARY):
            del request.headers[name]


@cache
def trusted() -> ssl.SSLContext:
    """Whose certificates are believed. Read once: that is most of what a client costs, and of what memory it leaves behind."""
    import httpx2

    return httpx2.create_ssl_context()


def new_client(base_url: str, api_key: str, timeout: float) -> AsyncOpenAI:
    """A client for one call: a connection kept for the next would as likely be dead by then. Slow, so in a thread."""
    import openai

    headers = {
        # Said outright, so that no header of the environment takes its place.
        "Authorization": f"Bearer {api_key or 'none'}",
        # 300 kB of gzip can unpack to 300 MB. Answers are small: there is nothing to gain.
        "Accept-Encoding": "identity",
    }
    try:
        return openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            default_headers=headers,
            max_retries=0,
            timeout=timeout,
            http_client=_bounded()(
                verify=trusted(),
                event_hooks={"request": [only_ours]},
                # The library follows by default, and sends the whole question along.
                follow_redirects=False,
            ),
        )
    except (ImportError, ValueError) as error:
        raise Refused(
            f"the LLM cannot be asked: {error}", "Check OPENAI_BASE_URL and the proxy settings."
        ) from error


@cache
def _bounded() -> Callable[..., httpx2.AsyncClient]:
    """The library's client, but every answer, errors too, is read here and to a bound. A class made late: see `trusted`."""
    import httpx2
    import openai

    class Bounded(openai.DefaultAsyncHttpxClient):
        async def send(
            self, request: httpx2.Request, *, stream: bool = False, **how: Any
        ) -> httpx2.Response:
            answer = await super().send(request, stream=True, **how)
            try:
                body = await _read(answer)
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


async def _read(answer: httpx2.Response) -> bytes:
    unpack, body = _unpacking(answer.headers), bytearray()
    async for piece in answer.aiter_raw():
        body += unpack(piece, LARGEST + 1 - len(body))
        if len(body) > LARGEST:
            raise Unavailable(
                f"the LLM endpoint sent an answer without end (over {LARGEST // 1024**2} MB)",
                f"Look at what OPENAI_BASE_URL leads to. {_AGAIN}",
            )
    return bytes(body)


def _unpacking(headers: Mapping[str, str]) -> Callable[[bytes, int], bytes]:
    """From a piece and the most that is wanted to what was packed in it. Some servers pack whatever was asked for."""
    packed = headers.get("content-encoding", "identity").strip().lower()
    if packed in {"", "identity"}:
        return lambda piece, _most: piece
    if packed not in {"gzip", "x-gzip", "deflate"}:
        raise Unavailable(
            "the LLM endpoint sent an answer in a compression that was not asked for",
            f"Look at any proxy in between. {_AGAIN}",
        )
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: it finds out which of the two it is

    def unpack(piece: bytes, most: int) -> bytes:
        try:
            return unpacker.decompress(piece, most)
        except zlib.error as error:
            raise Unavailable(
                "the LLM endpoint sent an answer that cannot be unpacked",
                f"Look at any proxy in between. {_AGAIN}",
            ) from error

    return unpack

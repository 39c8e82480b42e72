"""An aiohttp session for the APIs of chats: answers are read up to a limit, and redirects are refused."""

from __future__ import annotations

from http import HTTPStatus

from aiohttp import (
    ClientError,
    ClientHandlerType,
    ClientRequest,
    ClientResponse,
    ClientSession,
    ClientTimeout,
)

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Bytes, unpacked. The first sync of an account in many rooms has about ten million."""
_PIECE = 64 * 1024
_REDIRECTS = range(HTTPStatus.MULTIPLE_CHOICES, HTTPStatus.BAD_REQUEST)


class BoundedResponse(ClientResponse):
    """`read()`, and so `text()` and `json()`, fail on an answer above the limit. Streaming `content` is not limited."""

    async def read(self) -> bytes:
        if self._body is None:
            held = bytearray()
            async for piece in self.content.iter_chunked(_PIECE):
                held += piece
                if len(held) > MAX_ANSWER_BYTES:
                    self.close()
                    raise ClientError(f"an answer of more than {MAX_ANSWER_BYTES // 1024**2} MB")
            self._body = bytes(held)
        return await super().read()


def new_session(below: str, limits: ClientTimeout) -> ClientSession:
    """Return a session that refuses redirects for addresses starting with `below`, because requests contain private
    messages.
    """

    async def not_sent_on(request: ClientRequest, ask: ClientHandlerType) -> ClientResponse:
        answer = await ask(request)
        if answer.status in _REDIRECTS and str(request.url).startswith(below):
            answer.close()
            raise ClientError(f"a redirect ({answer.status})")
        return answer

    return ClientSession(timeout=limits, response_class=BoundedResponse, middlewares=(not_sent_on,))

"""How an answer leaves: whole and in one piece, or the way a fault wants it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from aiohttp import web

from tests.beds.github.faults import Fault, Mishap
from tests.beds.github.names import DOCS

_PAGE = "<!doctype html><html><head><title>Sign in</title></head><body>Welcome to the network</body></html>"
_PIECES = 20


@dataclass
class Reply:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])


async def instead(
    request: web.Request, fault: Fault | None, closing: asyncio.Event
) -> web.StreamResponse | None:
    """What happens before anything is done; None: go on."""
    if fault is None:
        return None
    if fault.mishap is Mishap.SLOW:
        await _pause(closing, fault.seconds)
    elif fault.mishap is Mishap.HANG:
        await closing.wait()
        return cut(request)
    elif fault.mishap is Mishap.DROPPED:
        return cut(request)
    elif fault.mishap is Mishap.HTML:
        return web.Response(text=_PAGE, content_type="text/html")
    elif fault.mishap is Mishap.STATUS:
        return _refusal(fault)
    return None


async def send(
    request: web.Request, reply: Reply, fault: Fault | None, closing: asyncio.Event
) -> web.StreamResponse:
    """Everything was done; now say so, if that may be."""
    mishap = fault.mishap if fault else None
    if fault is None or mishap is Mishap.SLOW:
        return web.Response(status=reply.status, body=reply.body, headers=reply.headers)
    if mishap is Mishap.LOST:
        return cut(request)
    if mishap is Mishap.LATE_STATUS:
        return _refusal(fault)
    if mishap is Mishap.BROKEN:
        body = reply.body[: max(1, len(reply.body) // 2)] + b"\xff{"
        return web.Response(status=reply.status, body=body, headers=reply.headers)
    return await _piecemeal(request, reply, fault, closing)


def cut(request: web.Request) -> web.Response:
    """Drop the connection; what is answered after it reaches nobody."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _piecemeal(
    request: web.Request, reply: Reply, fault: Fault, closing: asyncio.Event
) -> web.StreamResponse:
    answer = web.StreamResponse(status=reply.status, headers=reply.headers)
    answer.content_length = len(reply.body)
    await answer.prepare(request)
    if fault.mishap is Mishap.HALF:
        await answer.write(reply.body[: len(reply.body) // 2])
        cut(request)
        return answer
    step = max(1, len(reply.body) // _PIECES)
    for at in range(0, len(reply.body), step):
        await answer.write(reply.body[at : at + step])
        await _pause(closing, fault.seconds / _PIECES)
    return answer


async def _pause(closing: asyncio.Event, seconds: float) -> None:
    """Wait, but no longer than the bed lives."""
    waiting = asyncio.ensure_future(closing.wait())
    await asyncio.wait({waiting}, timeout=seconds)
    waiting.cancel()


def _refusal(fault: Fault) -> web.Response:
    if fault.status >= 500:
        page = f"<html><body><h1>{fault.status} {fault.message}</h1></body></html>"
        return web.Response(status=fault.status, text=page, content_type="text/html")
    body = {"message": fault.message, "documentation_url": DOCS, "status": str(fault.status)}
    return web.json_response(body, status=fault.status, headers=dict(fault.headers))

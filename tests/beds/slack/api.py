"""The Web API: who asks, may they, does it go wrong, and only then what was asked; every call is on record."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.beds.slack.faults import Fault, Faults, Mishap
from tests.beds.slack.methods import METHODS
from tests.beds.slack.methods.arguments import Arguments, arguments_of
from tests.beds.slack.names import APP_TOKEN, BOT_TOKEN, Json, Refusal
from tests.beds.slack.sockets import Sockets
from tests.beds.slack.workspace import Workspace

_OF_APP_TOKEN = ("apps.connections.open",)


@dataclass
class Call:
    """One call of the Web API. Tokens are not kept."""

    method: str
    args: Json
    at: float
    status: int = 200
    answer: Json = field(default_factory=dict[str, Any])
    """Empty until it was answered."""
    ordered: bool = False
    """It was refused because a test wanted that, whatever it asked for."""

    @property
    def error(self) -> str:
        return self.answer.get("error", "")


class Api:
    def __init__(self, world: Workspace, sockets: Sockets, faults: Faults) -> None:
        self._world = world
        self._sockets = sockets
        self._faults = faults
        self.calls: list[Call] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        args = await arguments_of(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        token = args.given.pop("token", "") or token
        call = Call(request.match_info["method"], args.given, time.time())
        self.calls.append(call)
        channel = args.text("channel") or args.text("channel_id")
        if self._faults.hangs(call.method):
            if self._faults.hangs_when_done:
                call.answer = self._answer(call, args, token)
            self._faults.hanging.set()
            await asyncio.Event().wait()
        fault = self._faults.next_for(call.method, channel, time.monotonic())
        if fault and fault.mishap is Mishap.SLOW:
            await asyncio.sleep(fault.seconds)
        elif fault and fault.mishap is not Mishap.LOST:
            return _spoilt(request, call, fault)
        call.answer = self._answer(call, args, token)
        if fault and fault.mishap is Mishap.LOST:
            _cut(request)
        scopes = ",".join(sorted(self._world.grants.scopes))
        return web.json_response(call.answer, headers={"x-oauth-scopes": scopes})

    async def upload(self, request: web.Request) -> web.Response:
        """The bytes of a file, as they are or in a form."""
        file = self._world.files.get(request.match_info["file"])
        content = await _content(request)
        if file is None or len(content) != file.length:
            return web.Response(status=400, text="wrong file or length")
        file.content = content
        return web.Response(text=f"OK - {len(content)}")

    def _answer(self, call: Call, args: Arguments, token: str) -> Json:
        try:
            self._admit(call.method, args, token)
            if call.method in _OF_APP_TOKEN:
                ticket = self._sockets.ticket()
                base = self._world.base.replace("http", "ws", 1)
                return {"ok": True, "url": f"{base}/link?ticket={ticket}&app_id=1"}
            return {"ok": True, **METHODS[call.method](self._world, args)}
        except Refusal as refusal:
            return refusal.answer

    def _admit(self, method: str, args: Arguments, token: str) -> None:
        if method not in METHODS and method not in _OF_APP_TOKEN:
            raise Refusal("unknown_method", req_method=method)
        if not token:
            raise Refusal("not_authed")
        if token not in (BOT_TOKEN, APP_TOKEN):
            raise Refusal("invalid_auth")
        if (token == APP_TOKEN) != (method in _OF_APP_TOKEN):
            raise Refusal("not_allowed_token_type")
        if method in METHODS:
            named = args.text("channel") or args.text("channel_id")
            channel = self._world.channels.get(named)
            self._world.grants.demand(method, channel.scope if channel else "channels")


def _spoilt(request: web.Request, call: Call, fault: Fault) -> web.StreamResponse:
    """An answer without anything done."""
    if fault.mishap is Mishap.DROPPED:
        _cut(request)
    if fault.mishap is Mishap.ERROR:
        call.answer, call.ordered = {"ok": False, "error": fault.error}, True
        return web.json_response(call.answer)
    call.status = fault.status
    if fault.status == web.HTTPTooManyRequests.status_code:
        call.answer = {"ok": False, "error": "ratelimited"}
        headers = {"Retry-After": str(int(fault.seconds))}
        return web.json_response(call.answer, status=fault.status, headers=headers)
    return web.Response(status=fault.status, text="<html>upstream error</html>")


def _cut(request: web.Request) -> None:
    """Drop the connection; what is answered after it reaches nobody."""
    if request.transport is not None:
        request.transport.abort()


async def _content(request: web.Request) -> bytes:
    if not request.content_type.startswith("multipart/"):
        return await request.read()
    for value in (await request.post()).values():
        if isinstance(value, web.FileField):
            return value.file.read()
    return b""

"""The played model's server: one address for all dialects; it writes down what it was asked."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.clis.model import dialects
from tests.clis.model.dialects import Dialect
from tests.clis.model.script import Fail, Say, Step, Wait


@dataclass(frozen=True)
class Asked:
    """One request of an agent at work; what a CLI asks for its own purposes (titles …) is not among them."""

    path: str
    body: dict[str, Any]

    @property
    def text(self) -> str:
        return json.dumps(self.body, ensure_ascii=False)


class Model:
    """`script`: the steps still to come. When it is over, it says so to everything."""

    def __init__(self) -> None:
        self.script: list[Step] = []
        self.asked: list[Asked] = []
        self.others: list[Asked] = []
        self.url = ""

    def plays(self, *steps: Step) -> None:
        """From now on; what was left of an earlier script is forgotten."""
        self.script[:] = steps

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/{path:.*}", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        dialect = dialects.of(request.path)
        if request.method != "POST" or dialect is None:
            return web.json_response({})
        body = await request.json()
        asked = Asked(request.path, body)
        if not dialect.at_work(body):
            self.others.append(asked)
            return await _send(request, dialect, Say('{"title": "A task"}'), body)
        self.asked.append(asked)
        return await _send(request, dialect, self._next(), body)

    def _next(self) -> Step:
        if not self.script:
            return Say("There is nothing left to do.")
        # an error stays: the CLI tries again as often as it likes
        return self.script[0] if isinstance(self.script[0], Fail) else self.script.pop(0)


async def _send(
    request: web.Request, dialect: Dialect, step: Step, body: dict[str, Any]
) -> web.StreamResponse:
    if isinstance(step, Fail):
        return web.json_response(
            dialect.error(step), status=step.status, headers=dict(step.headers)
        )
    if isinstance(step, Wait):
        await step.go.wait()
        step = Say(step.text)
    if not dialect.streamed(request.path, body):
        return web.json_response(dialect.whole(step))
    answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await answer.prepare(request)
    for event in dialect.events(step):
        await answer.write(_event(event))
    await answer.write_eof()
    return answer


def _event(event: dict[str, Any] | str) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    named = f"event: {event['type']}\n" if "type" in event else ""
    return f"{named}data: {json.dumps(event)}\n\n".encode()


@asynccontextmanager
async def playing() -> AsyncGenerator[Model]:
    model = Model()
    runner = web.AppRunner(model.app(), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = _address(runner.addresses)
    model.url = f"http://{host}:{port}"
    try:
        yield model
    finally:
        await runner.cleanup()


def _address(addresses: Sequence[Any]) -> tuple[str, int]:
    host, port = addresses[0][:2]
    return str(host), int(port)

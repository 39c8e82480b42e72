"""The window's server: a page, what is to be seen, what is done. It listens on 127.0.0.1 and to nobody else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.beds.slack import MIKA, PUBLIC, SlackBed
from tests.looks.live.done import do
from tests.looks.live.seen import seen
from tests.looks.page.frame import STYLE

_HERE = Path(__file__).parent


class Window:
    """Used as `async with Window(bed) as window:`; then `window.url` can be opened."""

    def __init__(self, bed: SlackBed, port: int = 0) -> None:
        self._bed = bed
        self._port = port
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[_only_here])
        app.router.add_get("/", self._page)
        app.router.add_get("/seen", self._seen)
        app.router.add_post("/do", self._do)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._runner:
            await self._runner.cleanup()

    async def _page(self, request: web.Request) -> web.Response:
        page = (_HERE / "window.html").read_text(encoding="utf-8")
        style = STYLE.read_text(encoding="utf-8")
        script = (_HERE / "window.js").read_text(encoding="utf-8")
        whole = page.replace("/*STYLE*/", style).replace("/*SCRIPT*/", script)
        return web.Response(text=whole, content_type="text/html")

    async def _seen(self, request: web.Request) -> web.Response:
        asked = request.query
        user, channel = asked.get("user", MIKA), asked.get("channel", PUBLIC)
        return web.json_response(seen(self._bed, user, channel, asked.get("thread", "")))

    async def _do(self, request: web.Request) -> web.Response:
        return web.json_response({"problem": await do(self._bed, await request.json())})


@web.middleware
async def _only_here(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """A page of some other site shall neither look nor act here."""
    host = request.headers.get("Host", "")
    origin = request.headers.get("Origin", "")
    if not host.startswith("127.0.0.1:") or (origin and origin != f"http://{host}"):
        raise web.HTTPForbidden
    return await handler(request)

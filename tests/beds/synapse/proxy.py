"""A way to the homeserver that can be spoiled: errors, limits, lost answers, slowness, nobody there at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from aiohttp import ClientError, ClientSession, ClientTimeout, web
from yarl import URL

from tests.beds.synapse.server import free_port

_FOREVER = -1
_KEPT = ("Authorization", "Content-Type", "Accept", "User-Agent")

Answer = Callable[[web.Request], web.StreamResponse]


@dataclass
class Fault:
    """What happens to requests whose path contains `where`, so many times (-1: until told)."""

    where: str
    left: int
    answer: Answer | None = None
    """Given instead of the homeserver's."""
    loses: bool = False
    delay: float = 0
    met: int = 0
    """How many requests it has hit."""

    def hits(self, path: str) -> bool:
        if not self.left or self.where not in path:
            return False
        self.left -= self.left > 0
        self.met += 1
        return True


class Proxy:
    """Passes everything on, but for what it was told to spoil. The first fault that fits is the one."""

    def __init__(self, homeserver: str) -> None:
        self._homeserver = homeserver
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.seen: list[str] = []
        """Method and path of all requests, in order."""
        self.bodies: list[bytes] = []
        """What they brought."""
        self._faults: list[Fault] = []
        self._runner: web.AppRunner | None = None
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Let connections in, at the same place as before."""
        self._session = ClientSession(timeout=ClientTimeout(total=None), auto_decompress=False)
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._pass)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.01, handler_cancellation=True
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True).start()

    async def close(self) -> None:
        """Nobody is there any more: open requests break off, new ones are refused."""
        if self._runner:
            await self._runner.cleanup()
            self._runner = None
        if self._session:
            await self._session.close()
            self._session = None

    def fail(self, times: int = _FOREVER, *, status: int = 502, where: str = "") -> Fault:
        """An error page of some machine in between, which is not JSON."""
        page = f"<html><body><h1>{status}</h1></body></html>"
        return self._spoil(
            Fault(
                where,
                times,
                lambda _: web.Response(status=status, text=page, content_type="text/html"),
            )
        )

    def limit(self, times: int = _FOREVER, *, retry_after_ms: int = 100, where: str = "") -> Fault:
        """Too many requests."""
        body = {
            "errcode": "M_LIMIT_EXCEEDED",
            "error": "Too Many Requests",
            "retry_after_ms": retry_after_ms,
        }
        return self._spoil(Fault(where, times, lambda _: web.json_response(body, status=429)))

    def refuse(self, times: int = _FOREVER, *, status: int, errcode: str, where: str = "") -> Fault:
        """An error of Matrix."""
        body = {"errcode": errcode, "error": "It was spoilt on the way."}
        return self._spoil(Fault(where, times, lambda _: web.json_response(body, status=status)))

    def lose(self, times: int = 1, *, where: str = "") -> Fault:
        """The request arrives and is carried out; the answer is lost with the connection.

        aiohttp asks once more by itself where a kept connection breaks under a GET, PUT or DELETE: lose two to be noticed.
        """
        return self._spoil(Fault(where, times, loses=True))

    def slow(self, seconds: float, times: int = _FOREVER, *, where: str = "") -> Fault:
        """The answer takes so much longer."""
        return self._spoil(Fault(where, times, delay=seconds))

    def heal(self) -> None:
        """No faults any more."""
        self._faults.clear()

    def count(self, where: str) -> int:
        """How many requests had that in their path."""
        return sum(where in one for one in self.seen)

    def _spoil(self, fault: Fault) -> Fault:
        self._faults.append(fault)
        return fault

    async def _pass(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(f"{request.method} {request.path_qs}")
        self.bodies.append(await request.read())
        fault = next((one for one in self._faults if one.hits(request.path_qs)), None)
        if fault and fault.answer:
            return fault.answer(request)
        answer = await self._forward(request)
        if fault and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault and fault.loses and request.transport:
            request.transport.abort()
        return answer

    async def _forward(self, request: web.Request) -> web.Response:
        assert self._session, "the proxy is closed"
        headers = {name: request.headers[name] for name in _KEPT if name in request.headers}
        url = self._homeserver + request.raw_path
        body = await request.read()
        try:
            async with self._session.request(
                request.method, URL(url, encoded=True), headers=headers, data=body
            ) as answer:
                kind = {"Content-Type": answer.headers.get("Content-Type", "text/plain")}
                return web.Response(status=answer.status, body=await answer.read(), headers=kind)
        except ClientError:
            return web.Response(status=502, text="The homeserver does not answer.")

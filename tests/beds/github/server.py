"""A GitHub on the loopback: starts, stops, and fails the test when it had to say what GitHub never says."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.beds.github.accounts import Token
from tests.beds.github.api import Api, Call
from tests.beds.github.faults import Faults, GitFaults
from tests.beds.github.hosted import Hosted
from tests.beds.github.names import TOKEN
from tests.beds.github.smart_http import GitCall, SmartHttp
from tests.beds.github.world import Quota, World


class GithubBed:
    """Used as `async with GithubBed(folder) as bed:`. `prefix` is `/api/v3` on an enterprise server."""

    def __init__(self, folder: Path, *, prefix: str = "") -> None:
        self.world = World(folder, prefix)
        self.faults = Faults()
        self.git_faults = GitFaults()
        self.rights = self.world.accounts.tokens[TOKEN]
        """The token of the app: what it may do can be changed."""
        self.api = Api(self.world, self.faults)
        self.smart_http = SmartHttp(self.world, self.git_faults)
        self._graphql = (prefix.removesuffix("/v3") if prefix else "") + "/graphql"
        self._closing = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._port = 0

    async def __aenter__(self) -> Self:
        await self.come_back()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.go_away()
        self.api.close()
        if error is None:
            assert not self.complaints, "\n".join(self.complaints)

    async def come_back(self) -> None:
        """Serve; after `go_away` again at the same port."""
        app = web.Application(client_max_size=200_000_000)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._closing.clear()
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        self.world.base = f"http://127.0.0.1:{self._port}"

    async def go_away(self) -> None:
        """Nobody answers any more."""
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def url(self) -> str:
        """For `Github(base_url=…)`; every address in an answer begins so."""
        return self.world.api

    @property
    def token(self) -> str:
        return self.rights.value

    @property
    def quota(self) -> Quota:
        return self.world.quota

    @property
    def calls(self) -> list[Call]:
        return self.api.calls

    @property
    def git_calls(self) -> list[GitCall]:
        return self.smart_http.calls

    @property
    def complaints(self) -> list[str]:
        """What fails the test at its end; a test that provoked it clears it."""
        return self.api.complaints

    def called(self, method: str, end: str = "") -> list[Call]:
        """The requests of that method whose path ends so."""
        return [one for one in self.calls if one.method == method and one.path.endswith(end)]

    def allow(self, *patterns: tuple[str, str]) -> None:
        """From now on a request that fits no (method, path) fails the test."""
        self.api.allowed = list(patterns)

    def repository(self, full_name: str, seed: Path | None = None) -> Hosted:
        """A new repository with the branches of a local one, or with one commit."""
        with self.world.lock:
            return Hosted(self.world, self.world.create(full_name, seed))

    def renew_token(self) -> str:
        """The app's token is another one now; the old one is worth nothing."""
        old = self.rights
        count = len(self.world.accounts.tokens)
        self.rights = Token(f"{TOKEN[:-4]}{count:04d}", old.login, dict(old.rights))
        self.world.accounts.tokens[self.rights.value] = self.rights
        del self.world.accounts.tokens[old.value]
        return self.token

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if self.smart_http.takes(request.path):
            return await self.smart_http.handle(request, self._closing)
        if request.path.startswith("/_logs/"):
            return self._log(request.path)
        if request.path == self._graphql:
            return await self.api.handle(request, "/graphql", self._closing)
        if not request.path.startswith(self.world.prefix + "/"):
            return web.Response(status=404, text="Not Found")
        path = request.path.removeprefix(self.world.prefix)
        return await self.api.handle(request, path, self._closing)

    def _log(self, path: str) -> web.Response:
        """What a job printed; whoever knows the address may read it."""
        _, _, owner, name, number = path.split("/")
        repository = self.world.repository(f"{owner}/{name}")
        found = [one for one in repository.checks if str(one.id) == number]
        return web.Response(text=found[0].log if found else "", status=200 if found else 404)

"""A strict Slack on the loopback: starts, stops, and says what stands in it; people act through its methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.beds.slack import invariants
from tests.beds.slack.api import Api, Call
from tests.beds.slack.commands import Commands
from tests.beds.slack.deliveries import Courier, Delivery
from tests.beds.slack.faults import Faults
from tests.beds.slack.leeway import Leeway
from tests.beds.slack.messages import Message
from tests.beds.slack.names import SIGNING_SECRET, Json
from tests.beds.slack.request_url import RequestUrl
from tests.beds.slack.scopes import Grants
from tests.beds.slack.screens import Screen
from tests.beds.slack.shelf import Sharing, Shelf
from tests.beds.slack.sockets import Sockets
from tests.beds.slack.submissions import respond
from tests.beds.slack.workspace import File, View, Workspace


class SlackBed(Sharing, Screen, Commands):
    """Used as `async with SlackBed() as bed:`. Without `grants`, the manifest says what the app may. What must be true
    after every test is looked at in the end, unless it is not to be `checked`: `leeway` says what is allowed."""

    def __init__(
        self,
        *,
        grants: Grants | None = None,
        ack_seconds: float = 3,
        trigger_seconds: float = 3,
        time_scale: float = 0.01,
        text_budget: int = 13_000,
        checked: bool = True,
    ) -> None:
        self.leeway = Leeway(checked)
        self.faults = Faults()
        self.courier = Courier(self.faults, ack_seconds, time_scale)
        self.world = Workspace(
            grants or Grants.of_manifest(), self.courier, trigger_seconds, text_budget
        )
        self.sockets = Sockets(self.courier, self.faults)
        self.api = Api(self.world, self.sockets, self.faults)
        self.shelf = Shelf(self.world)
        self.request_url: RequestUrl | None = None
        self._runner: web.AppRunner | None = None
        self._port = 0
        super().__init__(self.world, self.courier)

    async def __aenter__(self) -> Self:
        self.courier.carry = self.sockets.carry
        await self.come_back()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.courier.close()
        if self.request_url:
            await self.request_url.close()
        await self.go_away()
        if kind is None:
            invariants.check_at_the_end(self)

    async def come_back(self) -> None:
        """Serve; after `go_away` again at the same port."""
        app = web.Application(client_max_size=20_000_000)
        app.router.add_route("*", "/api/{method}", self.api.handle)
        app.router.add_get("/link", self.sockets.accept)
        app.router.add_post("/upload/{file}", self.api.upload)
        app.router.add_get("/files-pri/{file}/download/{name}", self.shelf.hand_over)
        app.router.add_post("/response/{response}", self._respond)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        self.world.base = f"http://127.0.0.1:{self._port}"

    async def go_away(self) -> None:
        """Nobody answers any more, neither calls nor sockets."""
        if self._runner is not None:
            await self.sockets.close()
            await self._runner.cleanup()
            self._runner = None

    def deliver_to(self, url: str, secret: str = SIGNING_SECRET) -> RequestUrl:
        """From now on by signed posts to this url instead of sockets."""
        self.request_url = RequestUrl(url, secret, self.courier)
        self.courier.carry = self.request_url.carry
        return self.request_url

    @property
    def api_url(self) -> str:
        return f"{self.world.base}/api/"

    @property
    def calls(self) -> list[Call]:
        return self.api.calls

    @property
    def deliveries(self) -> list[Delivery]:
        return self.courier.deliveries

    @property
    def files(self) -> list[File]:
        return list(self.world.files.values())

    @property
    def views(self) -> list[View]:
        """The forms that are open, the newest last."""
        return list(self.world.views.values())

    def dm(self, user: str) -> str:
        """The channel in which somebody talks to the bot alone."""
        return self.world.dm(user).id

    def home(self, user: str) -> View | None:
        return self.world.homes.get(user)

    def thread(self, channel: str, root: str) -> list[Message]:
        """The root and what was answered to it, in order."""
        return self.world.messages.thread(channel, root)

    def messages(self, channel: str) -> list[Message]:
        return [one for one in self.world.messages if one.channel == channel]

    def ephemerals(self, user: str) -> list[Message]:
        """What only this person was shown."""
        return [one.message for one in self.world.ephemerals if one.user == user]

    def reactions(self, ts: str) -> dict[str, list[str]]:
        message = self.world.messages.named(ts)
        return {name: who for name, who in message.reactions.items() if who} if message else {}

    def session(self, channel: str, thread: str) -> Json:
        return self.world.sessions.get((channel, thread), {})

    def session_status(self, channel: str, thread: str) -> str:
        return self.session(channel, thread).get("status", "")

    def called(self, method: str) -> list[Call]:
        return [one for one in self.calls if one.method == method]

    async def connected(self, count: int = 1, seconds: float = 120) -> None:
        """Wait until the app has so many sockets open, of those it was not asked to leave."""
        await self.until(
            lambda: sum(not one.leaving for one in self.sockets.open) >= count, seconds
        )

    async def all_acked(self, seconds: float = 120) -> None:
        """Wait until nothing is on its way any more; nothing may have been given up."""
        await self.until(lambda: all(one.over.is_set() for one in self.deliveries), seconds)
        lost = [one.event or one.payload.get("type") for one in self.deliveries if one.lost]
        assert not lost, f"never acked: {lost}"

    async def until(self, seen: Callable[[], object], seconds: float = 120) -> None:
        """Wait until what stands in Slack is as wanted: in a whole story ever more seldom, since to look takes long as well."""
        pause = 0.01
        async with asyncio.timeout(seconds):
            while not seen():
                await asyncio.sleep(pause)
                pause = min(1.2 * pause, 0.2)

    async def _respond(self, request: web.Request) -> web.Response:
        return await respond(self.world, request)

"""Hearing Slack by signed requests: what is not signed by Slack, or is old, is turned away."""

from __future__ import annotations

import asyncio

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.app.async_app import AsyncApp

from adapters.chat.slack.access import SlackAccess
from bot.errors import Refused

PATH = "/slack/events"
_DRAINING = 3.0


class Requests:
    """Listens on host and port for as long as `listen` runs."""

    def __init__(self, access: SlackAccess, app: AsyncApp) -> None:
        self._access = access
        self._app = app
        self.port = 0
        """Where it really listens, as soon as it does."""

    async def listen(self) -> None:
        if not self._access.signing_secret:
            raise Refused(
                "Requests of Slack cannot be told from forged ones.",
                "Set SLACK_SIGNING_SECRET: it stands under «Basic Information» of the app.",
            )
        server = web.Application()
        server.router.add_post(PATH, self._answer)
        runner = web.AppRunner(server, access_log=None, shutdown_timeout=_DRAINING)
        await runner.setup()
        try:
            await self._open(runner)
            await asyncio.get_running_loop().create_future()
        finally:
            await runner.cleanup()

    async def _open(self, runner: web.AppRunner) -> None:
        host, port = self._access.host, self._access.port
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise Refused(
                f"Slack cannot be heard on {host}:{port}: {error.strerror}.",
                "Is another program, or another bot, listening there? Set SLACK_HTTP_PORT to a free port.",
            ) from error
        self.port = runner.addresses[0][1]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        answer = await self._app.async_dispatch(await to_bolt_request(request))
        return await to_aiohttp_response(answer)

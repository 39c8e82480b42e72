"""Hearing Slack through a socket that stays open: watched from outside, as it may die without a word."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic, time
from typing import Any

from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.access import asking, library_log, meaning_of
from adapters.chat.slack.health import Health
from bot.errors import Refused, Unavailable

log = logging.getLogger("bot.slack")
_GOODBYE = 1.0


@dataclass(frozen=True)
class Rhythm:
    """Seconds."""

    ping: float = 4.0
    look: float = 0.25
    """Between two looks at the connection."""
    dead_url: float = 3.0
    """So long without a connection, and the address it is tried at is given up."""
    rebuild: float = 60.0
    """So long without one, and everything is built anew."""
    keep_alive: float = 60.0
    """Between two calls that show both sides that the other is there."""
    failures: int = 3
    """So many of these calls in a row may fail."""
    gap: float = 10.0
    """Longer out of touch, and something may have been missed."""
    draining: float = 3.0


def _no_matter(since: float) -> None:
    return


def out_of_touch(proof: float | None, now: float, gap: float) -> float | None:
    """Since when something may have been missed; None: nothing. After the clock was set back nobody knows how long it
    was, so it may have been long."""
    if proof is None or abs(now - proof) <= gap:
        return None
    return min(proof, now)


class Socket:
    """`on_gap` is told since when (seconds of the clock) something may have been missed."""

    def __init__(
        self,
        client: AsyncWebClient,
        app_token: str,
        app: AsyncApp,
        *,
        on_gap: Callable[[float], None] = _no_matter,
        rhythm: Rhythm | None = None,
        health: Health | None = None,
    ) -> None:
        self._client = client
        self._app_token = app_token
        self._app = app
        self._on_gap = on_gap
        self._rhythm = rhythm or Rhythm()
        self._health = health or Health()
        self._proof: float | None = None
        """When Slack was last known to be there."""
        self._epoch = ""
        self.connected = False

    async def listen(self) -> None:
        """Until cancelled; Refused as soon as Slack does not want this app any more."""
        while True:
            line = Line(self._client, self._app_token, self._app, self._rhythm)
            try:
                await self._serve(line)
            finally:
                self._lost()
                await line.end()
            log.warning("the connection to Slack is built anew")

    async def _serve(self, line: Line) -> None:
        """Returns when this line is beyond hope."""
        tasks = [
            asyncio.create_task(self._watch(line), name="slack: watch"),
            asyncio.create_task(self._keep_alive(), name="slack: keep alive"),
        ]
        connecting = asyncio.create_task(line.connect(), name="slack: connect")
        try:
            done, _ = await asyncio.wait(
                [line.refused, *tasks], return_when=asyncio.FIRST_COMPLETED
            )
            for one in done:
                one.result()
        finally:
            await _gone([*tasks, connecting])

    async def _watch(self, line: Line) -> None:
        """The library tries a dead address for ever; without one it asks for a new one."""
        last = given_up = monotonic()
        while monotonic() - last < self._rhythm.rebuild:
            await asyncio.sleep(self._rhythm.look)
            self.connected = await line.is_connected()
            if self.connected:
                last = given_up = monotonic()
                await self._note(line)
                continue
            self._lost()
            if monotonic() - given_up > self._rhythm.dead_url:
                given_up = monotonic()
                line.wss_uri = None

    def _lost(self) -> None:
        self.connected = False
        self._health.lost()

    async def _note(self, line: Line) -> None:
        """A new connection after a while without any: Slack does not keep what was said meanwhile."""
        epoch = await line.session_id()
        self._health.connected(epoch)
        if epoch != self._epoch:
            self._epoch = epoch
            log.info("connected to Slack", extra={"data": {"epoch": epoch}})
            since = out_of_touch(self._proof, time(), self._rhythm.gap)
            if since is not None:
                self._on_gap(since)
            self._proof = time()
        self._proof = max(self._proof or 0.0, line.last_ping_pong_time or 0.0)

    async def _keep_alive(self) -> None:
        """Sockets through which nothing comes any more have come back to life with any call."""
        failed = 0
        while failed < self._rhythm.failures:
            await asyncio.sleep(self._rhythm.keep_alive)
            try:
                with asking("keeping in touch"):
                    await self._client.auth_test()
            except Unavailable as problem:
                failed += 1
                log.warning("Slack does not answer", extra={"data": {"reason": problem.reason}})
            else:
                failed = 0


class Line(SocketModeClient):
    """The library's client; its tasks are kept, and it tells when Slack refuses for good."""

    def __init__(
        self, client: AsyncWebClient, app_token: str, app: AsyncApp, rhythm: Rhythm
    ) -> None:
        super().__init__(
            app_token=app_token,
            web_client=client,
            logger=library_log(),
            ping_interval=rhythm.ping,
        )
        self._app = app
        self._rhythm = rhythm
        self._handling: set[asyncio.Task[None]] = set()
        self.refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.socket_mode_request_listeners.append(self._hear)

    async def issue_new_wss_url(self) -> str:
        """The library would ask again for ever."""
        try:
            return await super().issue_new_wss_url()
        except SlackApiError as error:
            problem = meaning_of(error, "opening a socket")
            if isinstance(problem, Refused) and not self.refused.done():
                problem.__cause__ = error
                self.refused.set_exception(problem)
            raise

    async def process_message(self) -> None:
        raw: str = await self.message_queue.get()
        message: dict[str, Any] = json.loads(raw) if raw.startswith("{") else {}
        handling = asyncio.create_task(self.run_message_listeners(message, raw))
        self._handling.add(handling)
        handling.add_done_callback(self._handling.discard)

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        connections = message.get("num_connections", 1)
        if message.get("type") == "hello" and connections > 1:
            # each word goes to one of them only; for a moment it may be the bot's own last one
            log.warning(
                "not the only connection: does another bot run with the same app token?",
                extra={"data": {"connections": connections}},
            )
        if message.get("reason") == "too_many_websockets":
            log.warning("too many connections: does another bot run with the same app token?")
            await asyncio.sleep(self._rhythm.ping)
        await super().run_message_listeners(message, raw_message)

    async def end(self) -> None:
        """What is being taken is still acknowledged; then nothing of it is left."""
        own = (self.message_receiver, self.current_session_monitor, self.message_processor)
        await _gone(task for task in own if task)
        if self._handling:
            await asyncio.wait(self._handling, timeout=self._rhythm.draining)
            await _gone(self._handling)
        with suppress(TimeoutError):  # the other side may be mute
            async with asyncio.timeout(_GOODBYE):
                await self.disconnect()
        await self.close()
        if not self.refused.cancel() and not self.refused.cancelled():
            self.refused.exception()  # whoever waited has been told

    async def _hear(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        answer = await run_async_bolt_app(self._app, request)
        await send_async_response(client, request, answer, time())


async def _gone(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """End them, and see them ended."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)

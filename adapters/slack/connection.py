"""Listens to Slack through a socket (Socket Mode) or for signed HTTP requests, and records how far each channel has
been read.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, time
from typing import Any

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import (
    ConnectionHealth,
    SlackAccess,
    library_log,
    port_error,
    slack_errors,
)
from adapters.state_files import JsonFile
from bot.core.errors import Refused, Unavailable
from bot.core.facts import Fact

# Socket Mode. The connection is watched from outside, because it may die silently.

log = logging.getLogger("bot.slack")
_GOODBYE_SECONDS = 1.0


@dataclass(frozen=True)
class SocketTiming:
    """Intervals in seconds, except `failures`."""

    ping: float = 4.0
    look: float = 0.25
    """Interval between checks of the connection."""
    dead_url: float = 3.0
    """After this long without a connection the current socket address is discarded."""
    rebuild: float = 60.0
    """After this long without a connection the client is rebuilt."""
    keep_alive: float = 60.0
    """Interval between API calls that keep the connection alive."""
    failures: int = 3
    """Number of consecutive keep-alive failures after which the client is rebuilt."""
    gap: float = 10.0
    """After a longer interruption events may have been missed."""
    draining: float = 3.0


def _ignore_gap(since: float) -> None:
    return


def missed_since(last_seen: float | None, now: float, gap: float) -> float | None:
    """Return since when events may have been missed, or None.

    If the clock was set back, the length of the gap is unknown and events are assumed to be missed.
    """
    if last_seen is None or abs(now - last_seen) <= gap:
        return None
    return min(last_seen, now)


class SocketMode:
    """Listens in Socket Mode.

    `on_gap` receives the time (seconds of the clock) since when events may have been missed.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        app_token: str,
        app: AsyncApp,
        *,
        on_gap: Callable[[float], None] = _ignore_gap,
        timing: SocketTiming | None = None,
        health: ConnectionHealth | None = None,
    ) -> None:
        self._client = client
        self._app_token = app_token
        self._app = app
        self._on_gap = on_gap
        self._timing = timing or SocketTiming()
        self._health = health or ConnectionHealth()
        self._proof: float | None = None
        """When Slack was last known to be connected."""
        self._epoch = ""
        self.connected = False

    async def listen(self) -> None:
        """Listen until cancelled. Raises Refused as soon as Slack no longer accepts the app."""
        while True:
            line = SocketConnection(self._client, self._app_token, self._app, self._timing)
            try:
                await self._serve(line)
            finally:
                self._lost()
                await line.end()
            log.warning("the connection to Slack is built anew")

    async def _serve(self, connection: SocketConnection) -> None:
        """Run the connection until it has to be rebuilt; raises Refused if Slack refuses for good."""
        tasks = [
            asyncio.create_task(self._watch(connection), name="slack: watch"),
            asyncio.create_task(self._keep_alive(), name="slack: keep alive"),
        ]
        connecting = asyncio.create_task(connection.connect(), name="slack: connect")
        try:
            done, _ = await asyncio.wait(
                [connection.refused, *tasks], return_when=asyncio.FIRST_COMPLETED
            )
            for one in done:
                one.result()
        finally:
            await _end_tasks([*tasks, connecting])

    async def _watch(self, connection: SocketConnection) -> None:
        # The library retries a dead address for ever; without an address it asks for a new one.
        last = given_up = monotonic()
        while monotonic() - last < self._timing.rebuild:
            await asyncio.sleep(self._timing.look)
            self.connected = await connection.is_connected()
            if self.connected:
                last = given_up = monotonic()
                await self._note_connection(connection)
                continue
            self._lost()
            if monotonic() - given_up > self._timing.dead_url:
                given_up = monotonic()
                connection.wss_uri = None

    def _lost(self) -> None:
        self.connected = False
        self._health.lost()

    async def _note_connection(self, connection: SocketConnection) -> None:
        # Slack does not keep events for the time without a connection, so a reconnect after a gap is reported.
        epoch = await connection.session_id()
        self._health.connected(epoch)
        if epoch != self._epoch:
            self._epoch = epoch
            log.info("connected to Slack", extra={"data": {"epoch": epoch}})
            since = missed_since(self._proof, time(), self._timing.gap)
            if since is not None:
                self._on_gap(since)
            self._proof = time()
        self._proof = max(self._proof or 0.0, connection.last_ping_pong_time or 0.0)

    async def _keep_alive(self) -> None:
        # Sockets that had silently stopped delivering events came back to life with any API call.
        failed = 0
        while failed < self._timing.failures:
            await asyncio.sleep(self._timing.keep_alive)
            try:
                with slack_errors("keeping in touch"):
                    await self._client.auth_test()
            except Unavailable as problem:
                failed += 1
                log.warning("Slack does not answer", extra={"data": {"reason": problem.reason}})
            else:
                failed = 0


class SocketConnection(SocketModeClient):
    """The library's client, which also keeps track of its tasks and reports when Slack refuses for good."""

    def __init__(
        self, client: AsyncWebClient, app_token: str, app: AsyncApp, timing: SocketTiming
    ) -> None:
        super().__init__(
            app_token=app_token,
            web_client=client,
            logger=library_log(),
            ping_interval=timing.ping,
        )
        self._app = app
        self._timing = timing
        self._handling: set[asyncio.Task[None]] = set()
        self.refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.socket_mode_request_listeners.append(self._handle_request)

    async def issue_new_wss_url(self) -> str:
        # The library would retry for ever after a refusal.
        try:
            return await super().issue_new_wss_url()
        except SlackApiError as error:
            problem = port_error(error, "opening a socket")
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
            # Slack delivers each event to one connection only; for a moment the other may be the bot's own previous one
            log.warning(
                "not the only connection: does another bot run with the same app token?",
                extra={"data": {"connections": connections}},
            )
        if message.get("reason") == "too_many_websockets":
            log.warning("too many connections: does another bot run with the same app token?")
            await asyncio.sleep(self._timing.ping)
        await super().run_message_listeners(message, raw_message)

    async def end(self) -> None:
        """Finish the events being handled and acknowledge them, then close the connection."""
        own = (self.message_receiver, self.current_session_monitor, self.message_processor)
        await _end_tasks(task for task in own if task)
        if self._handling:
            await asyncio.wait(self._handling, timeout=self._timing.draining)
            await _end_tasks(self._handling)
        with suppress(TimeoutError):  # the other side may not respond
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await self.disconnect()
        await self.close()
        if not self.refused.cancel() and not self.refused.cancelled():
            self.refused.exception()  # the waiting caller has received the exception

    async def _handle_request(
        self, client: AsyncBaseSocketModeClient, request: SocketModeRequest
    ) -> None:
        answer = await run_async_bolt_app(self._app, request)
        await send_async_response(client, request, answer, time())


async def _end_tasks(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel the tasks and wait for their end."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


# Signed HTTP requests: unsigned or old requests are rejected.

EVENTS_PATH = "/slack/events"
_DRAIN_SECONDS = 3.0


class HttpMode:
    """Listens for HTTP requests while `listen` runs."""

    def __init__(self, access: SlackAccess, app: AsyncApp) -> None:
        self._access = access
        self._app = app
        self.port = 0
        """The actual port, set once it is listening."""

    async def listen(self) -> None:
        if not self._access.signing_secret:
            raise Refused(
                "Requests of Slack cannot be told from forged ones.",
                "Set SLACK_SIGNING_SECRET: it stands under «Basic Information» of the app.",
            )
        server = web.Application()
        server.router.add_post(EVENTS_PATH, self._answer)
        runner = web.AppRunner(server, access_log=None, shutdown_timeout=_DRAIN_SECONDS)
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


# How far each channel has been read, kept in a small file. A mark is never later than what was really accepted.

_TIMESTAMP_STEP = 1e-6


class _SavedMarks(Fact):
    channels: dict[str, float]


@dataclass
class _ChannelMark:
    newest: float = 0.0
    """Timestamp of the newest accepted message."""
    held: float | None = None
    """Messages after this time may have been missed."""
    arrived: set[float] = field(default_factory=set[float])
    """Timestamps of messages being processed."""
    failed: set[float] = field(default_factory=set[float])
    """Timestamps of messages that could not be accepted."""

    @property
    def mark(self) -> float:
        limits = [self.newest, *(when - _TIMESTAMP_STEP for when in self.arrived | self.failed)]
        return min(limits if self.held is None else [*limits, self.held])


class ChannelMarks:
    """Per-channel read marks, as Slack timestamps in seconds.

    The file may lag behind; then messages are read again, under the same ids.
    """

    def __init__(self, path: Path) -> None:
        self._file = JsonFile(path, _SavedMarks)
        saved = self._file.read()
        # a damaged file counts as missing: the bot listens from now on
        self._saved: dict[str, float] = dict(saved.channels) if saved else {}
        self._channels = {
            name: _ChannelMark(newest=mark, held=mark) for name, mark in self._saved.items()
        }

    def mark(self, channel: str) -> float | None:
        """Return the time up to which everything was accepted, or None if nothing was ever received there."""
        return self._channels[channel].mark if channel in self._channels else None

    def channels(self) -> tuple[str, ...]:
        return tuple(self._channels)

    @contextmanager
    def processing(self, channel: str, ts: str) -> Iterator[None]:
        """Context for processing a message. If it fails, the mark stays before the message."""
        when = float(ts)
        known = self._channels.setdefault(channel, _ChannelMark(newest=when - _TIMESTAMP_STEP))
        known.arrived.add(when)
        try:
            yield
        except BaseException:
            known.failed.add(when)
            raise
        else:
            known.failed.discard(when)
            known.newest = max(known.newest, when)
        finally:
            known.arrived.discard(when)

    def begin(self, channels: Iterable[str], now: float) -> None:
        """Start marks at `now` for channels without one."""
        for channel in channels:
            self._channels.setdefault(channel, _ChannelMark(newest=now))

    def rewind(self, when: float) -> None:
        """Record for every channel that messages after `when` may have been missed."""
        for known in self._channels.values():
            known.held = min(known.mark, when)

    def caught_up(self, channel: str) -> None:
        """Record that everything missed in the channel has been read again and accepted."""
        if channel in self._channels:
            self._channels[channel].held = None
            self._channels[channel].failed.clear()

    @property
    def channels_behind(self) -> tuple[str, ...]:
        """Return the channels in which something has to be read again."""
        return tuple(
            name for name, one in self._channels.items() if one.failed or one.held is not None
        )

    def save(self) -> None:
        """Write the marks atomically, if they changed."""
        marks = {name: one.mark for name, one in self._channels.items()}
        if marks != self._saved or not self._file.path.exists():
            self._file.write(_SavedMarks(channels=marks))
            self._saved = marks

"""Socket Mode: single-use urls, hello, envelopes out and acks in, and every way a socket can fail."""

from __future__ import annotations

import json
import socket
import struct
from dataclasses import dataclass
from typing import Any

from aiohttp import WSMsgType, web

from tests.beds.slack.deliveries import Attempt, Courier
from tests.beds.slack.faults import Faults
from tests.beds.slack.names import APP, Json

MOST_CONNECTIONS = 10


@dataclass(eq=False)
class Connection:
    id: str
    request: web.Request
    ws: web.WebSocketResponse
    leaving: bool = False
    """The app was asked to connect anew: nothing more goes here."""
    muted: bool = False
    """It takes everything and answers nothing."""

    def reset(self) -> None:
        """Cut the connection, so that the other side sees a reset."""
        transport = self.request.transport
        if transport is None:
            return
        raw = transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()


class Sockets:
    def __init__(self, courier: Courier, faults: Faults) -> None:
        self._courier = courier
        self._faults = faults
        self._tickets: set[str] = set()
        self.opened = 0
        """How many sockets were ever opened."""
        self.issued = 0
        self.open: list[Connection] = []
        self.strange: list[str] = []
        """What came in that is no ack."""

    def ticket(self) -> str:
        """The name of a socket that may be opened once; after `dead_urls` it is none."""
        self.issued += 1
        ticket = f"ticket-{self.issued}"
        if self._faults.dead_urls:
            self._faults.dead_urls -= 1
        else:
            self._tickets.add(ticket)
        return ticket

    async def accept(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=404)
        self._tickets.remove(ticket)
        ws = web.WebSocketResponse(autoping=False, timeout=0.2)
        await ws.prepare(request)
        self.opened += 1
        connection = Connection(f"s{self.opened}", request, ws)
        await ws.send_json(self._hello(connection))
        if len(self.open) >= MOST_CONNECTIONS:
            await ws.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            connection.leaving = True
        self.open.append(connection)
        try:
            await self._listen(connection)
        finally:
            self.open.remove(connection)
        return ws

    async def carry(self, attempt: Attempt, envelope: Json) -> bool:
        """One of the connections gets it, a different one each time."""
        ready = [one for one in self.open if not (one.leaving or one.ws.closed)]
        if not ready:
            return False
        connection = ready[len(self._courier.deliveries) % len(ready)]
        attempt.via = connection.id
        try:
            for _ in range(1 + self._faults.echoes):
                if not connection.muted:
                    await connection.ws.send_json(envelope)
        except ConnectionError:
            return False
        return True

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Ask the app to connect anew: `warning`, `refresh_requested`, `too_many_websockets`."""
        for connection in [one for one in self.open if not one.ws.closed]:
            connection.leaving = reason != "warning"
            await connection.ws.send_json(
                {"type": "disconnect", "reason": reason, "debug_info": {"host": connection.id}}
            )

    def reset(self) -> None:
        for connection in list(self.open):
            connection.reset()

    def mute(self) -> None:
        for connection in self.open:
            connection.muted = True

    async def close(self) -> None:
        for connection in list(self.open):
            if connection.muted:
                connection.reset()
            await connection.ws.close()

    def _hello(self, connection: Connection) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.open) + 1,
            "connection_info": {"app_id": APP},
            "debug_info": {"host": connection.id, "approximate_connection_time": 18060},
        }

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.ws:
            if connection.muted:
                continue
            if message.type is WSMsgType.PING:
                await connection.ws.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._take(connection, message.data)

    def _take(self, connection: Connection, text: str) -> None:
        try:
            told: Json = json.loads(text)
            envelope_id: str = told["envelope_id"]
        except (ValueError, KeyError):
            self.strange.append(text)
            return
        via = None if self._faults.acks_elsewhere else connection.id
        self._courier.heard(envelope_id, told.get("payload") or dict[str, Any](), via)

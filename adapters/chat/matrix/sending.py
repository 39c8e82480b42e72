"""Sends to a homeserver: one request a call, and nothing tried again but what it is told to wait for.

Whoever sends has the turn in the room meanwhile, so that waiting changes no order.
"""

from __future__ import annotations

import io
import json
from collections.abc import Awaitable, Callable
from copy import copy
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote

from aiohttp import ClientResponse
from nio import AsyncClient
from nio.api import ReceiptType
from nio.responses import Response

from adapters.chat.matrix import shapes
from adapters.chat.matrix.answers import Json, SignedOut, ask
from adapters.chat.matrix.crypto.attachments import closed
from adapters.chat.matrix.crypto.seal import OPEN, Seal
from adapters.chat.matrix.line import Bounds, Line
from adapters.posting import Urgency
from bot.errors import Refused, Unavailable

_LONGEST_WAIT = 60.0
"""Seconds. Told to wait longer, whoever sends waits elsewhere."""
_SECONDS = 30.0
_UPLOAD_SECONDS = 120.0
_PAGES = 20
_LARGER = "Let the homeserver take larger messages and files."
_FORBIDDEN = "Invite the bot into the room, and let it write there."

T = TypeVar("T")

Call = Callable[[], Awaitable[Response | ClientResponse]]


class TooLarge(Refused):
    """It does not fit through."""


class Twice(Refused):
    """The same reaction stands there already."""


class Sender:
    def __init__(
        self,
        client: AsyncClient,
        seconds: float = _SECONDS,
        *,
        longest_wait: float = _LONGEST_WAIT,
        seal: Seal = OPEN,
        line: Line | None = None,
    ) -> None:
        self._client, self._seconds = client, seconds
        self._bounds = Bounds(once=longest_wait)
        self._seal = seal
        self._line = line or Line()
        self._urgency = Urgency.PERSON

    @property
    def me(self) -> str:
        return self._client.user_id

    def at(self, urgency: Urgency) -> Sender:
        """The same, for what is more or less urgent."""
        other = copy(self)
        other._urgency = urgency
        return other

    async def send(self, room: str, kind: str, content: shapes.Content, transaction: str) -> str:
        """The id of the event; the same for the same transaction. Sealed where the room is encrypted."""
        sealing = partial(self._seal.sealed, room, kind, content)
        kind, content = await self._patiently(sealing)
        path = f"/_matrix/client/v3/rooms/{quote(room, safe='')}/send/{kind}/{transaction}"
        body = json.dumps(content)
        told = await self._told("Writing into the room", self._call("PUT", path, body))
        return str(told["event_id"])

    async def react(self, room: str, event_id: str, key: str, transaction: str) -> None:
        content = shapes.reaction(event_id, key)
        try:
            await self.send(room, "m.reaction", content, transaction)
        except Twice:
            return

    async def redact(self, room: str, event_id: str) -> None:
        transaction = shapes.transaction("redact", event_id)
        await self._told(
            "Taking a message back",
            lambda: self._client.room_redact(room, event_id, tx_id=transaction),
        )

    async def reactions(self, room: str, event_id: str) -> dict[str, str]:
        """The bot's own on a message: their keys, and their events."""
        found: dict[str, str] = {}
        place = f"/_matrix/client/v1/rooms/{quote(room, safe='')}/relations"
        path = f"{place}/{quote(event_id, safe='')}/m.annotation/m.reaction?limit=100"
        since = ""
        for _ in range(_PAGES):
            told = await self._told("Looking at reactions", self._call("GET", path + since))
            for event in told.get("chunk", ()):
                relation: Json = event.get("content", {}).get("m.relates_to", {})
                if event.get("sender") == self.me and "key" in relation:
                    found[str(relation["key"])] = str(event["event_id"])
            if not told.get("next_batch"):
                break
            since = f"&from={quote(str(told['next_batch']), safe='')}"
        return found

    async def is_encrypted(self, room: str) -> bool:
        return await self._patiently(partial(self._seal.is_encrypted, room))

    async def upload(self, room: str, name: str, data: bytes, mimetype: str) -> shapes.Content:
        """Where it is, as a message in that room says it. An encrypted one keeps even its name to itself."""
        if not await self.is_encrypted(room):
            return {"url": await self._upload(name, data, mimetype)}
        cipher, keys = closed(data)
        url = await self._upload("", cipher, "application/octet-stream")
        return {"file": {**keys, "url": url}}

    async def _upload(self, name: str, data: bytes, mimetype: str) -> str:
        """Its address. The size must be right: else nio waits for ever."""

        async def uploading() -> Response:
            answer, _ = await self._client.upload(
                io.BytesIO(data), content_type=mimetype, filename=name or None, filesize=len(data)
            )
            return answer

        told = await self._told("Uploading a file", uploading, _UPLOAD_SECONDS)
        return str(told["content_uri"])

    async def read(self, room: str, event_id: str, root: str) -> None:
        """Let people see that it was read."""
        await self._told(
            "Marking as read",
            lambda: self._client.update_receipt_marker(
                room, event_id, ReceiptType.read, thread_id=root
            ),
        )

    async def typing(self, room: str, *, on: bool) -> None:
        await self._told("Showing that I write", lambda: self._client.room_typing(room, on))

    def _call(self, method: str, path: str, body: str | None = None) -> Call:
        headers = {"Authorization": f"Bearer {self._client.access_token}"}
        return lambda: self._client.send(method, path, body, headers)

    async def _told(self, what: str, call: Call, seconds: float = 0) -> Json:
        return await self._patiently(partial(_asked, what, call, seconds or self._seconds))

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Where the homeserver names a time to wait, it is waited for, within bounds, and the urgent go first."""
        return await self._line.through(self._urgency, call, self._bounds)


async def _asked(what: str, call: Call, seconds: float) -> Json:
    """One request, and more exactly than `ask` why it was refused."""
    kept: list[Response | ClientResponse] = []

    async def keeping() -> Response | ClientResponse:
        kept.append(await call())
        return kept[0]

    try:
        return await ask(what, keeping(), seconds)
    except SignedOut:
        raise
    except Unavailable as error:
        # A machine before the homeserver may think so, too, in words of its own.
        if kept and _wire(kept[0]).status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise TooLarge(error.reason, _LARGER) from error
        raise
    except Refused as error:
        raise await _explained(error, _wire(kept[0])) from error


def _wire(answer: Response | ClientResponse) -> ClientResponse:
    response: Any = answer if isinstance(answer, ClientResponse) else answer.transport_response
    return response


async def _explained(error: Refused, response: ClientResponse) -> Refused:
    code = (await response.json(content_type=None)).get("errcode")
    if code == "M_TOO_LARGE" or response.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return TooLarge(error.reason, _LARGER)
    if code == "M_DUPLICATE_ANNOTATION":
        return Twice(error.reason)
    if response.status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
        return Refused(error.reason, _FORBIDDEN)
    return error

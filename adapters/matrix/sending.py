"""Sends events to a homeserver: one request per call, repeated only after a rate limit."""

from __future__ import annotations

import asyncio
import hashlib
import heapq
import io
import itertools
import json
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote

from aiohttp import ClientResponse
from nio import AsyncClient
from nio.api import ReceiptType
from nio.responses import Response

from adapters.matrix.cards import Attachment, DrawnMessage
from adapters.matrix.client import Json, SignedOut, json_answer
from adapters.matrix.crypto.encrypted_rooms import NO_ENCRYPTOR, Encryptor, encrypt_file
from adapters.posting import Urgency
from bot.core.errors import Refused, Unavailable

# The sender keeps the room's turn while it waits, so that the order does not change.

_MAX_WAIT = 60.0
"""Seconds. For longer rate limits the caller has to wait elsewhere."""
_SEND_SECONDS = 30.0
_UPLOAD_SECONDS = 120.0
_PAGES = 20
_ALLOW_LARGER = "Let the homeserver take larger messages and files."
_LET_WRITE = "Invite the bot into the room, and let it write there."

T = TypeVar("T")

Call = Callable[[], Awaitable[Response | ClientResponse]]


class TooLarge(Refused):
    """The event is too large for the homeserver."""


class DuplicateReaction(Refused):
    """The bot has already added this reaction."""


class EventSender:
    def __init__(
        self,
        client: AsyncClient,
        seconds: float = _SEND_SECONDS,
        *,
        longest_wait: float = _MAX_WAIT,
        encryptor: Encryptor = NO_ENCRYPTOR,
        queue: SendQueue | None = None,
    ) -> None:
        self._client, self._seconds = client, seconds
        self._bounds = WaitBounds(once=longest_wait)
        self._encryptor = encryptor
        self._queue = queue or SendQueue()
        self._urgency = Urgency.PERSON

    @property
    def me(self) -> str:
        return self._client.user_id

    def with_urgency(self, urgency: Urgency) -> EventSender:
        """Return a copy with another urgency."""
        other = copy(self)
        other._urgency = urgency
        return other

    async def send(self, room: str, kind: str, content: EventContent, transaction: str) -> str:
        """Send an event and return its id, which is the same for the same transaction.

        It is encrypted if the room is.
        """
        encrypting = partial(self._encryptor.encrypt, room, kind, content)
        kind, content = await self._with_rate_limit(encrypting)
        path = f"/_matrix/client/v3/rooms/{quote(room, safe='')}/send/{kind}/{transaction}"
        body = json.dumps(content)
        told = await self._request("Writing into the room", self._call("PUT", path, body))
        return str(told["event_id"])

    async def react(self, room: str, event_id: str, key: str, transaction: str) -> None:
        content = reaction_content(event_id, key)
        try:
            await self.send(room, "m.reaction", content, transaction)
        except DuplicateReaction:
            return

    async def redact(self, room: str, event_id: str) -> None:
        transaction = transaction_id("redact", event_id)
        await self._request(
            "Taking a message back",
            lambda: self._client.room_redact(room, event_id, tx_id=transaction),
        )

    async def reactions(self, room: str, event_id: str) -> dict[str, str]:
        """Return the bot's own reactions on a message: event id by key."""
        found: dict[str, str] = {}
        place = f"/_matrix/client/v1/rooms/{quote(room, safe='')}/relations"
        path = f"{place}/{quote(event_id, safe='')}/m.annotation/m.reaction?limit=100"
        since = ""
        for _ in range(_PAGES):
            told = await self._request("Looking at reactions", self._call("GET", path + since))
            for event in told.get("chunk", ()):
                relation: Json = event.get("content", {}).get("m.relates_to", {})
                if event.get("sender") == self.me and "key" in relation:
                    found[str(relation["key"])] = str(event["event_id"])
            if not told.get("next_batch"):
                break
            since = f"&from={quote(str(told['next_batch']), safe='')}"
        return found

    async def is_encrypted(self, room: str) -> bool:
        return await self._with_rate_limit(partial(self._encryptor.is_encrypted, room))

    async def upload(self, room: str, name: str, data: bytes, mimetype: str) -> EventContent:
        """Upload a file and return its reference for a message.

        In an encrypted room not even its name is sent in clear.
        """
        if not await self.is_encrypted(room):
            return {"url": await self._upload(name, data, mimetype)}
        cipher, keys = encrypt_file(data)
        url = await self._upload("", cipher, "application/octet-stream")
        return {"file": {**keys, "url": url}}

    async def _upload(self, name: str, data: bytes, mimetype: str) -> str:
        """Upload the data and return its address. The size must be correct, or nio waits for ever."""

        async def uploading() -> Response:
            answer, _ = await self._client.upload(
                io.BytesIO(data), content_type=mimetype, filename=name or None, filesize=len(data)
            )
            return answer

        told = await self._request("Uploading a file", uploading, _UPLOAD_SECONDS)
        return str(told["content_uri"])

    async def send_receipt(self, room: str, event_id: str, root: str) -> None:
        """Send a read receipt."""
        await self._request(
            "Marking as read",
            lambda: self._client.update_receipt_marker(
                room, event_id, ReceiptType.read, thread_id=root
            ),
        )

    async def typing(self, room: str, *, on: bool) -> None:
        await self._request("Showing that I write", lambda: self._client.room_typing(room, on))

    def _call(self, method: str, path: str, body: str | None = None) -> Call:
        headers = {"Authorization": f"Bearer {self._client.access_token}"}
        return lambda: self._client.send(method, path, body, headers)

    async def _request(self, what: str, call: Call, seconds: float = 0) -> Json:
        return await self._with_rate_limit(
            partial(_request_with_reason, what, call, seconds or self._seconds)
        )

    async def _with_rate_limit(self, call: Callable[[], Awaitable[T]]) -> T:
        # Rate limits are waited out, within bounds; urgent requests go first.
        return await self._queue.send(self._urgency, call, self._bounds)


async def _request_with_reason(what: str, call: Call, seconds: float) -> Json:
    """Make one request, and report more precisely than `ask` why it was refused."""
    kept: list[Response | ClientResponse] = []

    async def keeping() -> Response | ClientResponse:
        kept.append(await call())
        return kept[0]

    try:
        return await json_answer(what, keeping(), seconds)
    except SignedOut:
        raise
    except Unavailable as error:
        # a proxy in front of the homeserver may reject the size, too, with an answer of its own
        if kept and _http_response(kept[0]).status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise TooLarge(error.reason, _ALLOW_LARGER) from error
        raise
    except Refused as error:
        raise await _explained(error, _http_response(kept[0])) from error


def _http_response(answer: Response | ClientResponse) -> ClientResponse:
    response: Any = answer if isinstance(answer, ClientResponse) else answer.transport_response
    return response


async def _explained(error: Refused, response: ClientResponse) -> Refused:
    code = (await response.json(content_type=None)).get("errcode")
    if code == "M_TOO_LARGE" or response.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return TooLarge(error.reason, _ALLOW_LARGER)
    if code == "M_DUPLICATE_ANNOTATION":
        return DuplicateReaction(error.reason)
    if response.status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
        return Refused(error.reason, _LET_WRITE)
    return error


# The contents of the events the bot sends. `m.mentions` is always set, so that no text mentions anybody.

EventContent = dict[str, Any]

_HTML = "org.matrix.custom.html"


def message_content(message: DrawnMessage, root: str, mention: str = "") -> EventContent:
    return _body_content(message, mention) | _in_thread(root)


def edit_content(message: DrawnMessage, event_id: str) -> EventContent:
    """Return the content of an edit. It notifies nobody; clients without support for edits show the plain body."""
    return {
        "msgtype": message.kind,
        "body": f"* {message.body}",
        "m.new_content": _body_content(message),
        "m.mentions": {},
        "m.relates_to": {"rel_type": "m.replace", "event_id": event_id},
    }


def file_content(file: Attachment, place: EventContent, root: str) -> EventContent:
    """Return the content of a file message. `place`: its address and decryption data."""
    return (
        place
        | {
            "msgtype": "m.file",
            "body": file.name,
            "filename": file.name,
            "info": {"size": len(file.data), "mimetype": file.mimetype},
            "m.mentions": {},
        }
        | _in_thread(root)
    )


def reaction_content(event_id: str, key: str) -> EventContent:
    relation = {"rel_type": "m.annotation", "event_id": event_id, "key": key}
    return {"m.relates_to": relation}


def transaction_id(*names: str | int) -> str:
    """Return the id of a request; for a repeated id the homeserver returns the event that exists already."""
    return hashlib.sha256("\0".join(map(str, names)).encode()).hexdigest()[:40]


def _body_content(message: DrawnMessage, mention: str = "") -> EventContent:
    return {
        "msgtype": message.kind,
        "body": message.body,
        "format": _HTML,
        "formatted_body": message.html,
        "m.mentions": {"user_ids": [mention]} if mention else {},
    }


def _in_thread(root: str) -> EventContent:
    """Return the relation to a thread, which clients without threads show as a reply.

    Empty without a root, for the room itself.
    """
    if not root:
        return {}
    relation = {
        "rel_type": "m.thread",
        "event_id": root,
        "is_falling_back": True,
        "m.in_reply_to": {"event_id": root},
    }
    return {"m.relates_to": relation}


# One send queue per account while the homeserver limits its rate, across rooms: urgent requests first. A homeserver
# counts per account. Without a limit nobody waits.

CALM_SECONDS = 1.0
"""Seconds in which a caller that was just served may send more, before the lowest priority has its turn."""


@dataclass(frozen=True)
class WaitBounds:
    """How long a caller waits for rate limits."""

    once: float = 60.0
    """Seconds. For longer rate limits the caller has to wait elsewhere."""
    altogether: float = 600.0


class SendQueue:
    def __init__(self) -> None:
        self._free_from = 0.0
        """When the homeserver accepts requests again, in loop time."""
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._served = False
        """Whether a queued request is under way."""
        self._last = -CALM_SECONDS
        """When a queued request last ended."""
        self._deferred: list[asyncio.Future[None]] = []
        """Callers with the lowest priority."""
        self._wakeup: asyncio.TimerHandle | None = None

    @property
    def is_free(self) -> bool:
        """Whether nobody has to wait now."""
        return not (self._waiting or self._served or self._seconds_left() > 0)

    @property
    def is_calm(self) -> bool:
        """Whether nobody has to wait and no queued caller was served just now."""
        return self.is_free and self._seconds_until_calm() <= 0

    async def send(
        self, urgency: int, call: Callable[[], Awaitable[T]], bounds: WaitBounds = WaitBounds()
    ) -> T:
        """Call as soon as it is this caller's turn, and repeat after rate limits; the place among equal urgencies is
        kept.
        """
        number, waited = next(self._numbers), 0.0
        while True:
            in_line = not self.is_free
            if in_line:
                await self._wait_for_turn(urgency, number)
            try:
                return await call()
            except Unavailable as error:
                wait = error.retry_after
                if wait is None or wait > bounds.once or waited + wait > bounds.altogether:
                    raise
                self.hold(wait)
                waited += wait or 1.0
            finally:
                if in_line:
                    self._served = False
                    self._last = asyncio.get_running_loop().time()
                    self._call_next()

    def hold(self, seconds: float) -> None:
        """Hold all requests for so many seconds."""
        self._free_from = max(self._free_from, asyncio.get_running_loop().time() + seconds)

    async def wait_until_calm(self) -> None:
        """Wait until the queue is calm."""
        while not self.is_calm:
            mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._deferred.append(mine)
            self._call_next()
            await mine

    async def _wait_for_turn(self, urgency: int, number: int) -> None:
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (urgency, number, mine))
        self._call_next()
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                # it was called at the moment it was cancelled
                self._served = False
            self._call_next()
            raise

    def _call_next(self) -> None:
        if self._wakeup:
            self._wakeup.cancel()
            self._wakeup = None
        while self._waiting and self._waiting[0][2].done():
            heapq.heappop(self._waiting)
        if self._served or not (self._waiting or self._deferred):
            return
        left = (
            self._seconds_left()
            if self._waiting
            else max(self._seconds_left(), self._seconds_until_calm())
        )
        if left > 0:
            self._wakeup = asyncio.get_running_loop().call_later(left, self._call_next)
            return
        if self._waiting:
            *_, following = heapq.heappop(self._waiting)
            self._served = True
            following.set_result(None)
            return
        patient, self._deferred = self._deferred, []
        for one in patient:
            if not one.done():
                one.set_result(None)

    def _seconds_left(self) -> float:
        return self._free_from - asyncio.get_running_loop().time()

    def _seconds_until_calm(self) -> float:
        return self._last + CALM_SECONDS - asyncio.get_running_loop().time()

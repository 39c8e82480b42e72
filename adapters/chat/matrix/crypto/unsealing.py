"""What comes in on its way to being heard: opened where it is encrypted, waited for where its key is still to come.

The place in the room moves on meanwhile; what waits is on disk. After some minutes its sender is told, once, what is the
matter, and it is let go.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator

from adapters.chat.matrix.answers import Json, SignedOut
from adapters.chat.matrix.batch import ENCRYPTED, Event
from adapters.chat.matrix.crypto.machine import MEGOLM, Machine
from adapters.chat.matrix.crypto.opening import Opener, Shut
from adapters.chat.matrix.crypto.reasons import CHANGED, CLEAR, LOST, STRANGER, UNSIGNED, known
from adapters.chat.matrix.crypto.rooms import EncryptedRooms
from adapters.chat.matrix.crypto.unseal import Tell
from adapters.chat.matrix.crypto.waiting import Waiting, WaitingRoom
from bot.errors import PortError, Refused

log = logging.getLogger(__name__)

WAIT = 300.0
"""Seconds in which a key may still come."""
_PAUSE = 20.0
"""Seconds between two tries to open the same: each may ask for devices."""
_LONGEST_NAMES = 512
"""Of a room and a key: whoever says that a key is withheld may be anybody."""
_KNOWN_AT_ONCE = (UNSIGNED, CHANGED)
"""No key that may still come mends that."""
_MOST_ASKED = 1000
"""Keys of which it is known that they were asked for. Asking for one again does no harm."""


class Unsealing:
    def __init__(
        self,
        machine: Machine,
        opener: Opener,
        waiting: WaitingRoom,
        rooms: EncryptedRooms,
        tell: Tell,
        *,
        only_encrypted: bool = False,
        wait: float = WAIT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._machine, self._opener, self._waiting, self._rooms = machine, opener, waiting, rooms
        self._tell, self._only_encrypted = tell, only_encrypted
        self._wait, self._clock = wait, clock
        self._tried: dict[str, float] = {}
        self._asked: set[bytes] = set()
        machine.withheld = self._withheld

    async def took(self, told: Json) -> None:
        self._rooms.noticed(told)
        self._machine.take(told)
        self._waiting.keep()

    async def keep_up(self) -> None:
        await self._machine.keep_up()

    async def open(self, room: str, event: Event) -> Event | None:
        if event.get("sender") == self._machine.olm.user_id:
            return event
        if event.get("type") != ENCRYPTED:
            return event if await self._may_be_clear(room, event) else None
        match await self._opener.open(room, event):
            case (Shut.NO_KEY | Shut.STRANGER) as shut:
                await self._keep(room, event, LOST if shut is Shut.NO_KEY else self._strange(event))
            case Shut() as shut:
                self.heard(event)
                log.warning("not heard", extra={"data": {**_named(room, event), "why": shut.name}})
            case clear:
                return clear
        return None

    def heard(self, event: Event) -> None:
        event_id = str(event.get("event_id"))
        self._tried.pop(event_id, None)
        self._waiting.gone(event_id)

    def due(self) -> Iterator[tuple[str, Event]]:
        now = self._clock()
        for one in self._waiting.all():
            if self._has_news(one) and now - self._tried.get(one.id, 0) >= _PAUSE:
                self._tried[one.id] = now
                yield one.room, one.event

    def _has_news(self, one: Waiting) -> bool:
        if self._is_late(one) or self._opener.has_key(one.room, one.session):
            return True
        return not one.told and bool(self._waiting.code(one))

    async def _may_be_clear(self, room: str, event: Event) -> bool:
        if not self._only_encrypted or event.get("type") != "m.room.message":
            return True
        if "state_key" in event or await self._rooms.rotation(room) is None:
            return True
        await self._try_to_tell(room, event, CLEAR)
        return False

    async def _keep(self, room: str, event: Event, why: str) -> None:
        one = self._waiting.find(str(event.get("event_id")))
        if one is None:
            one = Waiting(room, event, self._clock())
            self._waiting.put(one)
            await self._ask_for_key(one)
        code, late = self._waiting.code(one), self._is_late(one)
        said = one.told
        if not said and (code or late or why in _KNOWN_AT_ONCE):
            said = await self._try_to_tell(room, event, known(code) if code else why)
            if said:
                self._waiting.told(one)
        if late and said:
            self.heard(event)

    def _strange(self, event: Event) -> str:
        return self._machine.owners.problem(str(event.get("sender"))) or STRANGER

    def _is_late(self, one: Waiting) -> bool:
        return self._clock() - one.since >= self._wait

    async def _try_to_tell(self, room: str, event: Event, code: str) -> bool:
        """Whether it was said, or never can be."""
        try:
            await self._tell(room, event, code)
        except SignedOut:
            raise
        except PortError as error:
            data = {**_named(room, event), "why": error.reason}
            log.warning("nobody could be told that it was not heard", extra={"data": data})
            return isinstance(error, Refused)
        return True

    async def _ask_for_key(self, one: Waiting) -> None:
        """All devices of the sender, once for a key. Others may name it before its owner does."""
        key = hashlib.sha256(f"{one.sender} {one.room} {one.session}".encode())
        if key.digest() in self._asked:
            return
        if len(self._asked) >= _MOST_ASKED:
            self._asked.clear()
        self._asked.add(key.digest())
        olm = self._machine.olm
        wanted = {
            "algorithm": MEGOLM,
            "room_id": one.room,
            "session_id": one.session,
            "sender_key": str(one.event.get("content", {}).get("sender_key", "")),
        }
        request = {
            "action": "request",
            "body": wanted,
            "request_id": key.hexdigest()[:32],
            "requesting_device_id": olm.device_id,
        }
        try:
            await self._machine.tell_devices("m.room_key_request", {one.sender: {"*": request}})
        except SignedOut:
            raise
        except PortError as error:
            log.info("no key asked for", extra={"data": {"why": error.reason}})

    def _withheld(self, sender: str, content: Json) -> None:
        session, room = content.get("session_id"), content.get("room_id")
        code = content.get("code")
        if not (isinstance(session, str) and isinstance(room, str) and isinstance(code, str)):
            return
        if len(session) + len(room) + len(sender) <= _LONGEST_NAMES:
            code = known(code)
            data = {"room": room, "by": sender, "code": code}
            log.warning("a key is withheld", extra={"data": data})
            self._waiting.withhold(sender, room, session, code)


def _named(room: str, event: Event) -> Json:
    return {"room": room, "event": event.get("event_id"), "by": event.get("sender")}

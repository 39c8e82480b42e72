"""Opens what was encrypted in a room: the clear event comes out, with the sender's device proven to be the sender's.

nio proves that only for devices somebody has verified by hand. Here it is proven for all: the key was made by a device,
the device is one of the sender's, and no message counts a second time under another id.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from enum import Enum, auto

from nio.crypto import InboundGroupSession

from adapters.chat.matrix.answers import Json, SignedOut
from adapters.chat.matrix.batch import Event
from adapters.chat.matrix.crypto.machine import MEGOLM, Machine
from adapters.chat.matrix.crypto.replays import Replays
from adapters.chat.matrix.pruned import pruned
from bot.errors import Refused

log = logging.getLogger(__name__)


class Shut(Enum):
    """Why something stays closed."""

    NO_KEY = auto()
    """The sender's may still come."""
    STRANGER = auto()
    """Nobody knows whose device has made the key."""
    FORGED = auto()
    """It is of another room, or was said before."""
    BROKEN = auto()
    """It can never be opened."""


@dataclass(frozen=True)
class _Cipher:
    session: str
    text: str


class Opener:
    def __init__(self, machine: Machine, replays: Replays) -> None:
        self._machine, self._replays = machine, replays

    async def open(self, room: str, event: Event) -> Event | Shut:
        """The same event in clear. It asks for the sender's devices where they are not known."""
        cipher, sender = _cipher(event), str(event.get("sender", ""))
        if cipher is None:
            return Shut.BROKEN
        if not (sessions := self._sessions(room, cipher.session)):
            return Shut.NO_KEY
        session = self._of_sender(sessions, sender)
        if session is None:
            await self._ask_for_devices(sender)
            session = self._of_sender(sessions, sender)
        if session is None:
            # a key that another has passed on as theirs: the sender's own may still come
            return Shut.NO_KEY if self._is_of_another(sessions, sender) else Shut.STRANGER
        return self._opened(room, event, cipher, session)

    async def _ask_for_devices(self, sender: str) -> None:
        try:
            await self._machine.query([sender])
        except SignedOut:
            raise
        except Refused as error:
            log.warning("no devices", extra={"data": {"of": sender, "why": error.reason}})

    def has_key(self, room: str, session: str) -> bool:
        return bool(self._sessions(room, session))

    def _sessions(self, room: str, session_id: str) -> list[InboundGroupSession]:
        """Keys of that name, from whomever they came: the device that is named in the event may be anyone's."""
        found = self._machine.olm.inbound_group_store[room]
        return [held[session_id] for held in found.values() if session_id in held]

    def _of_sender(
        self, sessions: list[InboundGroupSession], sender: str
    ) -> InboundGroupSession | None:
        told_of = self._machine.olm.device_store[sender].values()
        devices = filter(self._machine.is_theirs, told_of)
        keys = {(device.curve25519, device.ed25519) for device in devices}
        # one that was passed on by others proves nothing
        own = (one for one in sessions if not one.forwarding_chain)
        return next((one for one in own if (one.sender_key, one.ed25519) in keys), None)

    def _is_of_another(self, sessions: list[InboundGroupSession], sender: str) -> bool:
        made_by = {one.sender_key for one in sessions}
        devices = tuple(self._machine.olm.device_store)
        return any(one.curve25519 in made_by and one.user_id != sender for one in devices)

    def _opened(
        self, room: str, event: Event, cipher: _Cipher, session: InboundGroupSession
    ) -> Event | Shut:
        try:
            text, place = session.decrypt(cipher.text)
            plain = pruned(json.loads(text))
        except RecursionError:
            return Shut.BROKEN
        except ValueError as error:
            early = session.first_known_index and "index" in str(error)
            return Shut.NO_KEY if early else Shut.BROKEN
        if not _is_event(plain):
            return Shut.BROKEN
        if plain.get("room_id") != room:
            return Shut.FORGED
        # by whom it was made, too: who was given the key must not be able to use up a place of it
        key = f"{cipher.session} {session.sender_key}"
        if not self._replays.is_first(key, place, str(event.get("event_id"))):
            return Shut.FORGED
        return _clear(event, plain)


def _cipher(event: Event) -> _Cipher | None:
    content = event.get("content")
    if not isinstance(content, dict) or content.get("algorithm") != MEGOLM:
        return None
    session, text = content.get("session_id"), content.get("ciphertext")
    if not isinstance(session, str) or not isinstance(text, str):
        return None
    return _Cipher(session, text)


def _is_event(plain: object) -> bool:
    if not isinstance(plain, dict):
        return False
    kind = plain.get("type")
    # the homeserver takes things back, and only those it is told in clear
    named = isinstance(kind, str) and kind != "m.room.redaction"
    return named and isinstance(plain.get("content"), dict)


def _clear(event: Event, plain: Json) -> Event:
    """What was said, in the words of its sender; where and when, in those of the homeserver."""
    content: Json = dict(plain["content"])
    relation = event["content"].get("m.relates_to")
    if relation and not content.get("m.relates_to"):
        content["m.relates_to"] = relation
    return {**event, "type": plain["type"], "content": content}

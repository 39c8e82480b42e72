"""Decrypts messages in encrypted rooms, waits for keys that have not arrived yet, and tells the sender if none arrives."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cached_property
from pathlib import Path

from nio.crypto import InboundGroupSession

from adapters.files import create_file, make_private
from adapters.matrix.client import Json, SignedOut, prune_json
from adapters.matrix.crypto.encrypted_rooms import (
    CHANGED,
    CLEAR,
    LOST,
    STRANGER,
    UNSIGNED,
    EncryptedRooms,
    NotifySender,
    known_code,
)
from adapters.matrix.crypto.machine import MEGOLM, OlmMachine
from adapters.matrix.events import ENCRYPTED, MatrixEvent
from adapters.state_files import JsonFile
from bot.core.errors import PortError, Refused, Unavailable

# Decryption of incoming messages. The position in the room advances while a key is missing; waiting messages are on
# disk. After some minutes the sender is told the reason, once, and the message is dropped.

log = logging.getLogger(__name__)

KEY_WAIT = 300.0
"""Seconds in which a key may still arrive."""
_RETRY_PAUSE = 20.0
"""Seconds between two tries to decrypt the same message: each try may query devices."""
_MAX_ID_LENGTH = 512
"""The most characters of user, room and session id together: anybody may send a notice that a key is withheld."""
_PERMANENT_PROBLEMS = (UNSIGNED, CHANGED)
"""Problems that no later key can solve, so the sender is told at once."""
_MAX_KEY_REQUESTS = 1000
"""The most key requests remembered. Requesting a key again does no harm."""


class RoomDecryptor:
    def __init__(
        self,
        machine: OlmMachine,
        opener: EventDecryptor,
        waiting: WaitingMessages,
        rooms: EncryptedRooms,
        tell: NotifySender,
        *,
        only_encrypted: bool = False,
        wait: float = KEY_WAIT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._machine, self._opener, self._waiting, self._rooms = machine, opener, waiting, rooms
        self._tell, self._only_encrypted = tell, only_encrypted
        self._wait, self._clock = wait, clock
        self._tried: dict[str, float] = {}
        self._asked: set[bytes] = set()
        machine.withheld = self._note_withheld

    async def process_sync(self, told: Json) -> None:
        self._rooms.note_encryption(told)
        self._machine.process_sync(told)
        self._waiting.save()

    async def send_pending(self) -> None:
        await self._machine.send_pending()

    async def decrypt(self, room: str, event: MatrixEvent) -> MatrixEvent | None:
        if event.get("sender") == self._machine.olm.user_id:
            return event
        if event.get("type") != ENCRYPTED:
            return event if await self._accepts_clear_text(room, event) else None
        match await self._opener.decrypt(room, event):
            case (Undecryptable.NO_KEY | Undecryptable.STRANGER) as shut:
                await self._hold(
                    room,
                    event,
                    LOST if shut is Undecryptable.NO_KEY else self._device_problem(event),
                )
            case Undecryptable() as shut:
                self.mark_handled(event)
                log.warning(
                    "not heard", extra={"data": {**_log_data(room, event), "why": shut.name}}
                )
            case clear:
                return clear
        return None

    def mark_handled(self, event: MatrixEvent) -> None:
        event_id = str(event.get("event_id"))
        self._tried.pop(event_id, None)
        self._waiting.remove(event_id)

    def pending_events(self) -> Iterator[tuple[str, MatrixEvent]]:
        now = self._clock()
        for one in self._waiting.all():
            if self._has_news(one) and now - self._tried.get(one.id, 0) >= _RETRY_PAUSE:
                self._tried[one.id] = now
                yield one.room, one.event

    def _has_news(self, one: WaitingMessage) -> bool:
        if self._is_late(one) or self._opener.has_key(one.room, one.session):
            return True
        return not one.told and bool(self._waiting.withheld_code(one))

    async def _accepts_clear_text(self, room: str, event: MatrixEvent) -> bool:
        if not self._only_encrypted or event.get("type") != "m.room.message":
            return True
        if "state_key" in event or await self._rooms.rotation(room) is None:
            return True
        await self._try_to_tell(room, event, CLEAR)
        return False

    async def _hold(self, room: str, event: MatrixEvent, why: str) -> None:
        one = self._waiting.find(str(event.get("event_id")))
        if one is None:
            one = WaitingMessage(room, event, self._clock())
            self._waiting.put(one)
            await self._ask_for_key(one)
        code, late = self._waiting.withheld_code(one), self._is_late(one)
        said = one.told
        if not said and (code or late or why in _PERMANENT_PROBLEMS):
            said = await self._try_to_tell(room, event, known_code(code) if code else why)
            if said:
                self._waiting.mark_reported(one)
        if late and said:
            self.mark_handled(event)

    def _device_problem(self, event: MatrixEvent) -> str:
        return self._machine.owners.problem(str(event.get("sender"))) or STRANGER

    def _is_late(self, one: WaitingMessage) -> bool:
        return self._clock() - one.since >= self._wait

    async def _try_to_tell(self, room: str, event: MatrixEvent, code: str) -> bool:
        """Report an unreadable message; return whether that is done or can never succeed."""
        try:
            await self._tell(room, event, code)
        except SignedOut:
            raise
        except PortError as error:
            data = {**_log_data(room, event), "why": error.reason}
            log.warning("nobody could be told that it was not heard", extra={"data": data})
            return isinstance(error, Refused)
        return True

    async def _ask_for_key(self, one: WaitingMessage) -> None:
        # All devices of the sender are asked, once per key. The request id includes the sender, because others may name
        # the key before its owner does.
        key = hashlib.sha256(f"{one.sender} {one.room} {one.session}".encode())
        if key.digest() in self._asked:
            return
        if len(self._asked) >= _MAX_KEY_REQUESTS:
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
            await self._machine.send_to_devices("m.room_key_request", {one.sender: {"*": request}})
        except SignedOut:
            raise
        except PortError as error:
            log.info("no key asked for", extra={"data": {"why": error.reason}})

    def _note_withheld(self, sender: str, content: Json) -> None:
        session, room = content.get("session_id"), content.get("room_id")
        code = content.get("code")
        if not (isinstance(session, str) and isinstance(room, str) and isinstance(code, str)):
            return
        if len(session) + len(room) + len(sender) <= _MAX_ID_LENGTH:
            code = known_code(code)
            data = {"room": room, "by": sender, "code": code}
            log.warning("a key is withheld", extra={"data": data})
            self._waiting.note_withheld(sender, room, session, code)


def _log_data(room: str, event: MatrixEvent) -> Json:
    return {"room": room, "event": event.get("event_id"), "by": event.get("sender")}


# Decrypts one event and proves that the sending device belongs to the sender. nio proves that only for devices that
# somebody has verified by hand. Here it is proven for all: the key was made by a device, the device is one of the
# sender's, and no message is accepted a second time under another id.


class Undecryptable(Enum):
    """Why a message cannot be decrypted."""

    NO_KEY = auto()
    """The key is missing and may still arrive."""
    STRANGER = auto()
    """It is unknown whose device created the key."""
    FORGED = auto()
    """The event belongs to another room, or was sent before."""
    BROKEN = auto()
    """The event can never be decrypted."""


@dataclass(frozen=True)
class _Cipher:
    session: str
    text: str


class EventDecryptor:
    def __init__(self, machine: OlmMachine, replays: ReplayGuard) -> None:
        self._machine, self._replays = machine, replays

    async def decrypt(self, room: str, event: MatrixEvent) -> MatrixEvent | Undecryptable:
        """Return the decrypted event or the reason why not. It queries the sender's devices if they are not known."""
        cipher, sender = _cipher(event), str(event.get("sender", ""))
        if cipher is None:
            return Undecryptable.BROKEN
        if not (sessions := self._sessions(room, cipher.session)):
            return Undecryptable.NO_KEY
        session = self._sender_session(sessions, sender)
        if session is None:
            await self._ask_for_devices(sender)
            session = self._sender_session(sessions, sender)
        if session is None:
            # another person passed this key on as the sender's: the sender's own key may still arrive
            return (
                Undecryptable.NO_KEY
                if self._belongs_to_other(sessions, sender)
                else Undecryptable.STRANGER
            )
        return self._decrypt(room, event, cipher, session)

    async def _ask_for_devices(self, sender: str) -> None:
        try:
            await self._machine.query_devices([sender])
        except SignedOut:
            raise
        except Refused as error:
            log.warning("no devices", extra={"data": {"of": sender, "why": error.reason}})

    def has_key(self, room: str, session: str) -> bool:
        return bool(self._sessions(room, session))

    def _sessions(self, room: str, session_id: str) -> list[InboundGroupSession]:
        # Sessions are looked up by id only: the device named in the event may be anyone's.
        found = self._machine.olm.inbound_group_store[room]
        return [held[session_id] for held in found.values() if session_id in held]

    def _sender_session(
        self, sessions: list[InboundGroupSession], sender: str
    ) -> InboundGroupSession | None:
        told_of = self._machine.olm.device_store[sender].values()
        devices = filter(self._machine.is_trusted, told_of)
        keys = {(device.curve25519, device.ed25519) for device in devices}
        # a forwarded key proves nothing
        own = (one for one in sessions if not one.forwarding_chain)
        return next((one for one in own if (one.sender_key, one.ed25519) in keys), None)

    def _belongs_to_other(self, sessions: list[InboundGroupSession], sender: str) -> bool:
        made_by = {one.sender_key for one in sessions}
        devices = tuple(self._machine.olm.device_store)
        return any(one.curve25519 in made_by and one.user_id != sender for one in devices)

    def _decrypt(
        self, room: str, event: MatrixEvent, cipher: _Cipher, session: InboundGroupSession
    ) -> MatrixEvent | Undecryptable:
        try:
            text, place = session.decrypt(cipher.text)
            plain = prune_json(json.loads(text))
        except RecursionError:
            return Undecryptable.BROKEN
        except ValueError as error:
            early = session.first_known_index and "index" in str(error)
            return Undecryptable.NO_KEY if early else Undecryptable.BROKEN
        if not _is_valid_payload(plain):
            return Undecryptable.BROKEN
        if plain.get("room_id") != room:
            return Undecryptable.FORGED
        # the key includes its creator, so that someone who was given a session cannot use up an index of it
        key = f"{cipher.session} {session.sender_key}"
        if not self._replays.is_first(key, place, str(event.get("event_id"))):
            return Undecryptable.FORGED
        return _clear_event(event, plain)


def _cipher(event: MatrixEvent) -> _Cipher | None:
    content = event.get("content")
    if not isinstance(content, dict) or content.get("algorithm") != MEGOLM:
        return None
    session, text = content.get("session_id"), content.get("ciphertext")
    if not isinstance(session, str) or not isinstance(text, str):
        return None
    return _Cipher(session, text)


def _is_valid_payload(plain: object) -> bool:
    if not isinstance(plain, dict):
        return False
    kind = plain.get("type")
    # redactions are carried out by the homeserver, so only unencrypted ones count
    named = isinstance(kind, str) and kind != "m.room.redaction"
    return named and isinstance(plain.get("content"), dict)


def _clear_event(event: MatrixEvent, plain: Json) -> MatrixEvent:
    # Content and type come from the encrypted payload; sender, room and time from the homeserver.
    content: Json = dict(plain["content"])
    relation = event["content"].get("m.relates_to")
    if relation and not content.get("m.relates_to"):
        content["m.relates_to"] = relation
    return {**event, "type": plain["type"], "content": content}


# Messages that cannot be decrypted yet, on disk: the position in the room advances, and none of them is forgotten.

MAX_WAITING, MAX_WAITING_CHARACTERS = 500, 1_000_000
"""Of a flood only the last messages are kept; the whole file is rewritten for each message."""
_MAX_REASONS = 500


@dataclass(frozen=True)
class WaitingMessage:
    room: str
    event: Json
    since: float
    """Seconds since 1970 when the message was first seen."""
    told: bool = False
    """Whether the sender was told about the problem."""

    @property
    def id(self) -> str:
        return str(self.event.get("event_id", ""))

    @property
    def sender(self) -> str:
        return str(self.event.get("sender", ""))

    @property
    def session(self) -> str:
        return str(self.event.get("content", {}).get("session_id", ""))

    @cached_property
    def size(self) -> int:
        return len(json.dumps(self.event))


@dataclass(frozen=True)
class _SavedMessages:
    events: tuple[WaitingMessage, ...] = ()
    withheld: dict[str, str] = field(default_factory=dict[str, str])


class WaitingMessages:
    """The waiting messages, and the reasons given for withheld keys."""

    def __init__(self, path: Path) -> None:
        self._file = JsonFile(path, _SavedMessages)
        kept = self._file.read() or _SavedMessages()
        self._messages = {one.id: one for one in kept.events}
        self._codes, self._dirty = kept.withheld, False

    def all(self) -> tuple[WaitingMessage, ...]:
        return tuple(self._messages.values())

    def find(self, event_id: str) -> WaitingMessage | None:
        return self._messages.get(event_id)

    def put(self, one: WaitingMessage) -> None:
        """Add or replace a message; it is on disk when this returns."""
        if self._messages.get(one.id) == one:
            return
        self._messages[one.id] = one
        while len(self._messages) > MAX_WAITING or self._size() > MAX_WAITING_CHARACTERS:
            self._drop_one()
        self._write()

    def mark_reported(self, one: WaitingMessage) -> None:
        if one.id in self._messages:
            self.put(replace(one, told=True))

    def remove(self, event_id: str) -> None:
        if self._messages.pop(event_id, None):
            self._write()

    def note_withheld(self, sender: str, room: str, session: str, code: str) -> None:
        """Record why a key is withheld.

        It is written only by `keep`, because anybody may send many such notices at once.
        """
        name = f"{sender} {room} {session}"
        self._dirty |= self._codes.get(name) != code
        self._codes[name] = code
        while len(self._codes) > _MAX_REASONS:
            del self._codes[next(iter(self._codes))]

    def save(self) -> None:
        if self._dirty:
            self._write()

    def withheld_code(self, one: WaitingMessage) -> str:
        """Return the reason the sender gave for withholding the key; empty if there is none."""
        return self._codes.get(f"{one.sender} {one.room} {one.session}", "")

    def _size(self) -> int:
        return sum(one.size for one in self._messages.values())

    def _drop_one(self) -> None:
        """Drop the oldest message of the sender who takes the most room, so that one sender's flood does not displace
        others' messages.
        """
        taken: Counter[str] = Counter()
        for one in self._messages.values():
            taken[one.sender] += one.size
        most = max(taken, key=taken.__getitem__)
        del self._messages[next(one.id for one in self._messages.values() if one.sender == most)]

    def _write(self) -> None:
        self._file.write(_SavedMessages(tuple(self._messages.values()), self._codes))
        self._dirty = False


# Which index of which key belongs to which event, on disk: a message that arrives twice under two ids is a replay. The
# homeserver cannot write encrypted text, but it has kept all that was ever sent; replays are refused.

REPLAYS_KEPT = 200_000
"""Number of messages. A key is used for at most a week, and a record is forgotten only when it is older than that."""
_TABLE = "CREATE TABLE IF NOT EXISTS opened (session TEXT, place INTEGER, event TEXT, PRIMARY KEY (session, place))"


class ReplayGuard:
    def __init__(self, path: Path, kept: int = REPLAYS_KEPT) -> None:
        self._path = path
        make_private(path.parent)
        with suppress(FileExistsError):
            # created before SQLite does, which would let others read it
            create_file(path).close()
        try:
            self._database = sqlite3.connect(path, isolation_level=None)
            # a power cut may lose the last records
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute(_TABLE)
            oldest = "SELECT max(rowid) FROM opened"
            self._database.execute(f"DELETE FROM opened WHERE rowid <= ({oldest}) - ?", (kept,))  # noqa: S608
        except sqlite3.Error as error:
            raise self._trouble(error) from error

    def is_first(self, session: str, place: int, event_id: str) -> bool:
        """Whether the event is the first to use this index of the session."""
        try:
            self._database.execute(
                "INSERT OR IGNORE INTO opened VALUES (?, ?, ?)", (session, place, event_id)
            )
            wanted = "SELECT event FROM opened WHERE session = ? AND place = ?"
            found = self._database.execute(wanted, (session, place)).fetchone()
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        return found == (event_id,)

    def close(self) -> None:
        self._database.close()

    def _trouble(self, error: sqlite3.Error) -> Unavailable:
        return Unavailable(f"{self._path} cannot be used: {error}.", "Is the disk full?")

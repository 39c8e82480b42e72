"""Tracks which rooms are encrypted, defines encryptor and decryptor, and handles missing keys. Works without libolm."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Protocol

from nio.crypto import decrypt_attachment, encrypt_attachment
from nio.exceptions import EncryptionError
from pydantic import Field

from adapters.matrix.client import ClientApi, Json, NotFound, SignedOut, quote_id
from adapters.matrix.events import ENCRYPTED, MatrixEvent, room_events, rooms_of_kind
from adapters.state_files import JsonLines
from bot.core.errors import Refused

# Which rooms are encrypted. A room that was once encrypted stays so for the bot, whatever a homeserver says later: a
# homeserver that «forgets» it gets no plain text. The list outlives every key.

ENCRYPTION_EVENT = "m.room.encryption"
_INVITE = "Invite the bot into the room, and let it write there."
_WEEK = timedelta(days=7)
_SHORTEST, _LONGEST = timedelta(hours=1), timedelta(days=30)
_MOST_MESSAGES = 1_000
_Seconds = Annotated[float, Field(ge=0, le=_LONGEST.total_seconds())]


@dataclass(frozen=True)
class Rotation:
    """How long one of the bot's keys is used in a room."""

    age: timedelta = _WEEK
    messages: int = 100


class EncryptedRooms:
    """The encrypted rooms, one line each. Incomplete lines are skipped."""

    def __init__(self, wire: ClientApi, path: Path) -> None:
        self._wire = wire
        self._file = JsonLines(path, tuple[str, _Seconds, int])
        self._rotations = {
            room: Rotation(timedelta(seconds=age), messages)
            for room, age, messages in self._file.read()
        }
        self._unencrypted: set[str] = set()
        """Rooms the homeserver reported as unencrypted; a sync reports every change."""

    async def rotation(self, room: str) -> Rotation | None:
        """Return the room's rotation, or None if it was never encrypted."""
        if room in self._rotations:
            return self._rotations[room]
        if room not in self._unencrypted:
            await self._ask_homeserver(room)
        return self._rotations.get(room)

    def is_known_encrypted(self, room: str) -> bool:
        """Whether the room is known to be encrypted, without asking the homeserver."""
        return room in self._rotations

    def note_encryption(self, told: Json) -> None:
        """Record the rooms whose encryption a sync response reports; they are on disk when this returns."""
        for room, news in rooms_of_kind(told, "join").items():
            for event in (*room_events(news, "state"), *room_events(news, "timeline")):
                if event.get("type") == ENCRYPTION_EVENT and event.get("state_key") == "":
                    self._remember(room, event.get("content"))

    async def _ask_homeserver(self, room: str) -> None:
        what = "Looking whether the room is encrypted"
        try:
            content = await self._wire.call(
                what, "GET", f"rooms/{quote_id(room)}/state/{ENCRYPTION_EVENT}/"
            )
        except NotFound:
            self._unencrypted.add(room)
        except Refused as error:
            raise Refused(error.reason, error.remedy or _INVITE) from error
        else:
            self._remember(room, content)

    def _remember(self, room: str, content: object) -> None:
        rotation = _rotation(content)
        if self._rotations.get(room) == rotation:
            return
        self._file.append((room, rotation.age.total_seconds(), rotation.messages))
        self._rotations[room] = rotation
        self._unencrypted.discard(room)


def _rotation(content: object) -> Rotation:
    # Limited, so that nobody can make the bot share a new key for every message, or keep one for ever.
    told: Json = content if isinstance(content, dict) else {}
    age, messages = told.get("rotation_period_ms"), told.get("rotation_period_msgs")
    wanted = timedelta(milliseconds=max(min(age, 10**12), 0)) if isinstance(age, int) else _WEEK
    count = messages if isinstance(messages, int) else Rotation.messages
    return Rotation(min(max(wanted, _SHORTEST), _LONGEST), min(max(count, 1), _MOST_MESSAGES))


# The encryptor interface, and its implementations without keys.

REACTION = "m.reaction"
"""Never encrypted: the homeserver can read, and forge, what a reaction refers to and what it says."""


class Encryptor(Protocol):
    async def encrypt(self, room: str, kind: str, content: Json) -> tuple[str, Json]:
        """Kind and content as they are sent."""
        ...

    async def is_encrypted(self, room: str) -> bool: ...


class NoEncryptor:
    """For accounts without encrypted rooms."""

    async def encrypt(self, room: str, kind: str, content: Json) -> tuple[str, Json]:
        return kind, content

    async def is_encrypted(self, room: str) -> bool:
        return False


class RefusingEncryptor:
    """Used when there are no keys: nothing is sent into an encrypted room, least of all in clear text."""

    def __init__(self, rooms: EncryptedRooms, problem: Refused) -> None:
        self._rooms, self._problem = rooms, problem

    async def encrypt(self, room: str, kind: str, content: Json) -> tuple[str, Json]:
        if kind != REACTION and await self.is_encrypted(room):
            raise Refused(self._problem.reason, self._problem.remedy)
        return kind, content

    async def is_encrypted(self, room: str) -> bool:
        return await self._rooms.rotation(room) is not None


NO_ENCRYPTOR = NoEncryptor()


# The decryptor interface, and its implementations without keys.

log = logging.getLogger(__name__)

NotifySender = Callable[[str, MatrixEvent, str], Awaitable[None]]
"""Called with the room, the received event and the reason code; it tells the sender once."""


class KeysLost(Refused):
    """The homeserver has other keys for this device than the bot, so messages encrypted with them cannot be read."""


class Decryptor(Protocol):
    """Decrypts the events of a sync."""

    async def process_sync(self, told: Json) -> None:
        """Process a sync response, before any event in it is handled."""
        ...

    async def send_pending(self) -> None:
        """Send what is due to others, after a sync response was processed.

        Raises KeysLost if the device has become useless.
        """
        ...

    async def decrypt(self, room: str, event: MatrixEvent) -> MatrixEvent | None:
        """Return the event in clear text, or None if it cannot be read now or ever."""
        ...

    def mark_handled(self, event: MatrixEvent) -> None: ...

    def pending_events(self) -> Iterator[tuple[str, MatrixEvent]]:
        """Yield the events to decrypt again, with their rooms."""
        ...


class NoDecryptor:
    """For accounts without encrypted rooms."""

    async def process_sync(self, told: Json) -> None:
        return

    async def send_pending(self) -> None:
        return

    async def decrypt(self, room: str, event: MatrixEvent) -> MatrixEvent | None:
        return event

    def mark_handled(self, event: MatrixEvent) -> None:
        return

    def pending_events(self) -> Iterator[tuple[str, MatrixEvent]]:
        yield from ()


class KeylessDecryptor(NoDecryptor):
    """Used when there are no keys: encrypted messages are ignored, and their senders are told so."""

    def __init__(self, rooms: EncryptedRooms, me: str, tell: NotifySender) -> None:
        self._rooms, self._me, self._tell = rooms, me, tell

    async def process_sync(self, told: Json) -> None:
        self._rooms.note_encryption(told)

    async def decrypt(self, room: str, event: MatrixEvent) -> MatrixEvent | None:
        if event.get("type") != ENCRYPTED:
            return event
        if event.get("sender") != self._me:
            try:
                await self._tell(room, event, "")
            except SignedOut:
                raise
            except Refused as error:
                log.warning("could not be answered", extra={"data": {"reason": error.reason}})
        return None


NO_DECRYPTOR = NoDecryptor()


# Texts about messages that cannot be read, and what people can do about it.

LOST = "lost"
"""No key arrived, without a reason."""
STRANGER = "stranger"
"""The key arrived, but its device is unknown."""
UNSIGNED = "unsigned"
"""The device is listed as the sender's, but not signed with the sender's identity."""
CHANGED = "changed"
"""The device is signed with another identity than the one known as the sender's."""
CLEAR = "clear"
_REASON_TEXTS = {
    LOST: (
        "I could not read your message: the key for it never reached me. Please write it again. If that"
        " does not help, restart your client, or log in anew on that device."
    ),
    STRANGER: (
        "I could not take your message: I cannot find the device it was sent from among yours. Please"
        " write it again from a device you are logged in on."
    ),
    UNSIGNED: (
        "I could not take your message: you have verified devices, and the one it was sent from is not"
        " among them. Verify it in your client, or write again from one that is."
    ),
    CHANGED: (
        "I could not take your message: your Matrix identity is not the one I know you by. If you have"
        " reset it, tell whoever runs me: my log says how to let me know the new one. Until then write"
        " from a device that you had verified before."
    ),
    CLEAR: (
        "Your message was not encrypted, and this room is. Here I act on encrypted words only: please"
        " write it again from a client with encryption."
    ),
    "m.unverified": (
        "I could not read your message: your client gives keys to verified devices only, and mine is not"
        " verified for it. Whoever runs me can mend that (the log says how); or let your client encrypt to"
        " unverified devices, too, and write again."
    ),
    "m.blacklisted": (
        "I could not read your message: you have blocked my device. Allow it in your client, and write"
        " again."
    ),
    "m.unauthorised": (
        "I could not read your message: your client says that I may not read it, because I was not in the"
        " room when it was written. Please write it again."
    ),
    "m.no_olm": (
        "I could not read your message: your client could not reach my device to give me the key. Please"
        " write it again in a moment."
    ),
    "m.unavailable": "I could not read your message: your client has no key for it any more. Please write it again.",
}
NO_KEYS = (
    "This room is encrypted, and I cannot read encrypted messages at present; the log says why. Use a room"
    " without encryption until that is mended."
)
ONLY_WORDS = "In this room a reaction does not count for that: reactions are not encrypted, and could be forged."


def reason_text(code: str) -> str:
    return _REASON_TEXTS.get(code, _REASON_TEXTS[LOST])


def known_code(code: str) -> str:
    """Return the code if it has its own text, otherwise that of a lost key."""
    return code if code in _REASON_TEXTS else LOST


# Files in encrypted rooms: the homeserver stores only the encrypted file, and the key travels in the message. A file
# that does not match its message is refused.

_SEND_AGAIN = "Send it again."


def encrypt_file(data: bytes) -> tuple[bytes, Json]:
    """Return the encrypted data and its description for the message; the caller adds the address as `url`."""
    cipher, keys = encrypt_attachment(data)
    return cipher, keys


def decrypt_file(cipher: bytes, file: object) -> bytes:
    """Decrypt a file. `file` is the description in the message. Raises Refused if the data does not match it."""
    told = file if isinstance(file, dict) else {}
    try:
        key, digest = str(told["key"]["k"]), str(told["hashes"]["sha256"])
        return decrypt_attachment(cipher, key, digest, str(told["iv"]))
    except (EncryptionError, ValueError, KeyError, TypeError) as error:
        raise Refused(
            "A file that was sent cannot be opened: it is not whole.", _SEND_AGAIN
        ) from error

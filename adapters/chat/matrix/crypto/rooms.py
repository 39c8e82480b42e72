"""Which rooms are encrypted: one that was once stays so for the bot, whatever a homeserver says later.

A homeserver that «forgets» it gets no plain text. The list outlives every key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from adapters.chat.matrix.answers import Json, NotThere
from adapters.chat.matrix.batch import events_in, rooms
from adapters.chat.matrix.crypto.wire import Wire, quoted
from adapters.chat.matrix.private import append, appended
from bot.errors import Refused

ENCRYPTION = "m.room.encryption"
_INVITE = "Invite the bot into the room, and let it write there."
_WEEK = timedelta(days=7)
_SHORTEST, _LONGEST = timedelta(hours=1), timedelta(days=30)
_MOST = 1_000


@dataclass(frozen=True)
class Rotation:
    """How long one key of the bot's own is used in a room."""

    age: timedelta = _WEEK
    messages: int = 100


class EncryptedRooms:
    """One line a room. A line that was torn is passed over."""

    def __init__(self, wire: Wire, path: Path) -> None:
        self._wire, self._path = wire, path
        self._rotations = dict(_read(path))
        self._plain: set[str] = set()
        """As the homeserver said when it was asked; a sync tells of every change."""

    async def rotation(self, room: str) -> Rotation | None:
        """None: the room is not encrypted, and never was."""
        if room in self._rotations:
            return self._rotations[room]
        if room not in self._plain:
            await self._look(room)
        return self._rotations.get(room)

    def knows(self, room: str) -> bool:
        """Whether it is known to be encrypted, without asking anybody."""
        return room in self._rotations

    def noticed(self, told: Json) -> None:
        """An answer to a sync: rooms whose encryption it tells of. On disk when this returns."""
        for room, news in rooms(told, "join").items():
            for event in (*events_in(news, "state"), *events_in(news, "timeline")):
                if event.get("type") == ENCRYPTION and event.get("state_key") == "":
                    self._remember(room, event.get("content"))

    async def _look(self, room: str) -> None:
        what = "Looking whether the room is encrypted"
        try:
            content = await self._wire.call(
                what, "GET", f"rooms/{quoted(room)}/state/{ENCRYPTION}/"
            )
        except NotThere:
            self._plain.add(room)
        except Refused as error:
            raise Refused(error.reason, error.remedy or _INVITE) from error
        else:
            self._remember(room, content)

    def _remember(self, room: str, content: object) -> None:
        rotation = _rotation(content)
        if self._rotations.get(room) == rotation:
            return
        line = json.dumps([room, rotation.age.total_seconds(), rotation.messages])
        append(self._path, line)
        self._rotations[room] = rotation
        self._plain.discard(room)


def _rotation(content: object) -> Rotation:
    """Within bounds: nobody makes the bot share a key with every word, or keep one for ever."""
    told: Json = content if isinstance(content, dict) else {}
    age, messages = told.get("rotation_period_ms"), told.get("rotation_period_msgs")
    wanted = timedelta(milliseconds=max(min(age, 10**12), 0)) if isinstance(age, int) else _WEEK
    count = messages if isinstance(messages, int) else Rotation.messages
    return Rotation(min(max(wanted, _SHORTEST), _LONGEST), min(max(count, 1), _MOST))


def _read(path: Path) -> Iterator[tuple[str, Rotation]]:
    for line in appended(path):
        with suppress(ValueError, TypeError):
            room, seconds, messages = line
            yield str(room), Rotation(timedelta(seconds=float(seconds)), int(messages))

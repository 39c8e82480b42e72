"""What is asked of whoever seals words for a room, and those who cannot."""

from __future__ import annotations

from typing import Protocol

from adapters.chat.matrix.answers import Json
from adapters.chat.matrix.crypto.rooms import EncryptedRooms
from bot.errors import Refused

REACTION = "m.reaction"
"""Never encrypted: what it stands on and what it says is the homeserver's to read, and to forge."""


class Seal(Protocol):
    async def sealed(self, room: str, kind: str, content: Json) -> tuple[str, Json]:
        """Kind and content as they are sent."""
        ...

    async def is_encrypted(self, room: str) -> bool: ...


class Open:
    """For who is in no encrypted room."""

    async def sealed(self, room: str, kind: str, content: Json) -> tuple[str, Json]:
        return kind, content

    async def is_encrypted(self, room: str) -> bool:
        return False


class NoSeal:
    """Where no keys can be had: nothing is written into an encrypted room, least of all in clear."""

    def __init__(self, rooms: EncryptedRooms, problem: Refused) -> None:
        self._rooms, self._problem = rooms, problem

    async def sealed(self, room: str, kind: str, content: Json) -> tuple[str, Json]:
        if kind != REACTION and await self.is_encrypted(room):
            raise Refused(self._problem.reason, self._problem.remedy)
        return kind, content

    async def is_encrypted(self, room: str) -> bool:
        return await self._rooms.rotation(room) is not None


OPEN = Open()

"""What a sync asks of whoever opens what comes in, and those who cannot."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Protocol

from adapters.chat.matrix.answers import Json, SignedOut
from adapters.chat.matrix.batch import ENCRYPTED, Event
from adapters.chat.matrix.crypto.rooms import EncryptedRooms
from bot.errors import Refused

log = logging.getLogger(__name__)

Tell = Callable[[str, Event, str], Awaitable[None]]
"""The room, the message as it came, and the code of the reason: its sender is told of it, once."""


class KeysLost(Refused):
    """The homeserver has other keys of this device than the bot: whoever uses them cannot be read."""


class Unseal(Protocol):
    """What a sync asks of it."""

    async def took(self, told: Json) -> None:
        """An answer came. Called before anything in it is heard."""
        ...

    async def keep_up(self) -> None:
        """Once the answer was taken: what is due to others. KeysLost: the device is of no use any more."""
        ...

    async def open(self, room: str, event: Event) -> Event | None:
        """As it shall be heard; None: not now, or never."""
        ...

    def heard(self, event: Event) -> None: ...

    def due(self) -> Iterator[tuple[str, Event]]:
        """What is to be opened again, by room."""
        ...


class Open:
    """For who is in no encrypted room."""

    async def took(self, told: Json) -> None:
        return

    async def keep_up(self) -> None:
        return

    async def open(self, room: str, event: Event) -> Event | None:
        return event

    def heard(self, event: Event) -> None:
        return

    def due(self) -> Iterator[tuple[str, Event]]:
        yield from ()


class NoKeys(Open):
    """Where no keys can be had: what is encrypted is not heard, and its sender is told so."""

    def __init__(self, rooms: EncryptedRooms, me: str, tell: Tell) -> None:
        self._rooms, self._me, self._tell = rooms, me, tell

    async def took(self, told: Json) -> None:
        self._rooms.noticed(told)

    async def open(self, room: str, event: Event) -> Event | None:
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


OPEN = Open()

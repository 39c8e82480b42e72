"""The bot's own chips on a message, and what it takes away again: none of it holds up what a card says."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from adapters.chat.matrix import shapes
from adapters.chat.matrix.answers import SignedOut
from adapters.chat.matrix.sending import Sender
from bot.errors import Refused

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Seeding:
    sender: Sender
    room: str
    revision: int
    """Of the card: a chip that was taken away may be wanted again later."""

    async def seed(self, event_id: str, keys: tuple[str, ...]) -> None:
        try:
            for key in keys:
                name = shapes.transaction("chip", event_id, key, self.revision)
                await self.sender.react(self.room, event_id, key, name)
        except SignedOut:
            raise
        except Refused as error:
            # people may be allowed to, and words do the same
            log.warning("no chips", extra={"data": {"event": event_id, "why": error.reason}})

    async def correct(self, event_id: str, wanted: tuple[str, ...]) -> None:
        there = await self.sender.reactions(self.room, event_id)
        for key, chip in there.items():
            if key not in wanted:
                await self.take_away(chip)
        await self.seed(event_id, tuple(key for key in wanted if key not in there))

    async def take_away(self, event_id: str) -> None:
        try:
            await self.sender.redact(self.room, event_id)
        except SignedOut:
            raise
        except Refused as error:
            log.warning("not redacted", extra={"data": {"event": event_id, "why": error.reason}})

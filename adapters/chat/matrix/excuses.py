"""Tells people that the bot could not take a message of theirs, and why: once for each reason, in its thread or its room."""

from __future__ import annotations

from adapters.chat.matrix.batch import Event, related_to
from adapters.chat.matrix.crypto.reasons import NO_KEYS, told
from adapters.chat.matrix.gateway import Gateway
from adapters.posting import Ledger
from bot.domain.cards import AnswerCard
from bot.domain.people import Person, Thread

PLATFORM = "matrix"


class Excuses:
    def __init__(self, gateway: Gateway, ledger: Ledger) -> None:
        self._gateway, self._ledger = gateway, ledger

    async def tell(self, room: str, event: Event, code: str) -> None:
        """Without a code: nothing can be read in that room at all."""
        if not code:
            thread = Thread(platform=PLATFORM, channel=room, root="")
            await self._gateway.show(thread, AnswerCard(key="encrypted", title=NO_KEYS))
            return
        person = Person(platform=PLATFORM, id=str(event.get("sender")))
        card = AnswerCard(key=f"unreadable:{code}", title=told(code))
        await self._gateway.whisper(self._thread_of(room, event), person, card)

    def _thread_of(self, room: str, event: Event) -> Thread:
        """Where the bot is at work; else the room itself: strangers may make threads without end."""
        thread = Thread(platform=PLATFORM, channel=room, root=related_to(event))
        return thread if self._ledger.knows(thread) else thread.model_copy(update={"root": ""})

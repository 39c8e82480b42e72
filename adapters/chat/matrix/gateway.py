"""What the bot shows on Matrix: cards in threads, words to one person, signs that it heard.

One card at a time in a room, the urgent first. Whatever is done twice stands there once.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable

from nio import AsyncClient

from adapters.chat.matrix import shapes
from adapters.chat.matrix.drawing import pings
from adapters.chat.matrix.forms import key_for
from adapters.chat.matrix.placing import Placing
from adapters.chat.matrix.roots import Roots
from adapters.chat.matrix.sending import Sender
from adapters.posting import Ledger, Turns, Urgency, opened, root_of, thread_of, urgency
from bot.domain.cards import Card, NewsCard, ReceivedCard, StatusCard
from bot.domain.layout import sheet
from bot.domain.people import Person, Thread
from bot.errors import PortError

log = logging.getLogger(__name__)

HEARD = "👀"
_QUICK = 5.0
"""Seconds that a sign may take which nobody misses."""


class Gateway:
    def __init__(self, client: AsyncClient, ledger: Ledger, turns: Turns, roots: Roots) -> None:
        self._sender, self._signs = Sender(client), Sender(client, _QUICK, longest_wait=0)
        self._ledger, self._turns, self._roots = ledger, turns, roots
        self._newest: dict[tuple[str, str], StatusCard] = {}
        self._talk: set[str] = set()
        self._gone: set[str] = set()
        """Messages of cards that somebody has taken away: nobody would see them edited."""

    async def show(self, thread: Thread, card: Card, owner: str = "") -> None:
        """Post it, or edit it where it stands. `owner` is told if it needs somebody; else who began the thread."""
        if isinstance(card, StatusCard):
            await self._show_status(thread, card)
            return
        first = isinstance(card, ReceivedCard) and self._ledger.find(thread, card.key) is None
        placing = Placing(self._sender, self._ledger, thread, card)
        if pings(card):
            placing.mention = self._told(owner or self._roots.owner(thread))
        async with self._turns.turn(thread.channel, urgency(card)):
            if first:
                await self.react(thread)
            placing.anew = self._is_gone(thread, card)
            await placing.bring()
        await self._show_typing(thread, card, first=first)

    async def open(self, thread: Thread, card: Card) -> Thread:
        """Post it into the room itself, once: the thread that hangs from it. Shown there, it is edited."""
        async with self._turns.turn(thread.channel, urgency(card)):
            begun = opened(self._ledger, thread, card) or await self._begin(thread, card)
        if owner := self._roots.owner(thread):
            self._roots.remember(begun, owner)
        await self.show(begun, card)
        return begun

    async def _begin(self, thread: Thread, card: Card) -> Thread:
        room, root = root_of(thread, card)
        await Placing(self._sender, self._ledger, room, root, begins=True).bring()
        placed = self._ledger.wanted(room, root, sheet(card).choices)
        begun = thread_of(thread, placed.messages[0])
        self._ledger.adopted(placed, begun, card)
        return begun

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        """Rooms have no secrets: it is a notice with the name of the one it is for."""
        own = card.model_copy(update={"key": key_for(card.key, person.id)})
        placing = Placing(self._sender, self._ledger, thread, own, to=person)
        placing.mention = self._told(person.id)
        async with self._turns.turn(thread.channel, Urgency.PERSON):
            await placing.bring()

    async def react(self, thread: Thread) -> None:
        """A sign on the message that began the thread: it was heard. The bot does not hear itself."""
        if thread.root and not self._ledger.by_message(thread.channel, thread.root):
            name = shapes.transaction("heard", thread.key)
            await self._try(self._sender.react(thread.channel, thread.root, HEARD, name))

    async def seen(self, thread: Thread, event_id: str) -> None:
        """A receipt: it was read."""
        await self._try(self._signs.read(thread.channel, event_id, thread.root or "main"))

    def talked(self, thread: Thread) -> None:
        """Somebody said something: the next status stands below it. People talk in many threads that are none of ours."""
        if self._ledger.knows(thread):
            self._talk.add(thread.key)

    def taken_away(self, room: str, event_id: str) -> None:
        """Somebody has redacted a message."""
        if self._ledger.by_message(room, event_id):
            self._gone.add(event_id)

    def _is_gone(self, thread: Thread, card: Card) -> bool:
        placed = self._ledger.find(thread, card.key)
        return placed is not None and not self._gone.isdisjoint(placed.messages)

    def remember_root(self, thread: Thread, sender: str) -> None:
        """Who began the thread, and is named when a person is needed."""
        self._roots.remember(thread, sender)

    async def _show_status(self, thread: Thread, card: StatusCard) -> None:
        """Of those that wait for their turn only the last is shown: it says all that the others would have."""
        place = (thread.key, card.key)
        self._newest[place] = card
        try:
            async with self._turns.turn(thread.channel, urgency(card)):
                if self._newest.get(place, card) is card:
                    await self._bring_status(thread, card)
        finally:
            if self._newest.get(place) is card:
                del self._newest[place]

    async def _bring_status(self, thread: Thread, card: StatusCard) -> None:
        talk = thread.key in self._talk and self._ledger.find(thread, card.key) is not None
        anew = talk or self._is_gone(thread, card)
        self._talk.discard(thread.key)
        await Placing(self._sender, self._ledger, thread, card, anew=anew).bring()

    def _told(self, person: str) -> str:
        return "" if person == self._sender.me else person

    async def _show_typing(self, thread: Thread, card: Card, *, first: bool) -> None:
        """From the request to the first thing that waits for a person."""
        if first:
            await self._try(self._signs.typing(thread.channel, on=True))
        elif sheet(card).choices and not isinstance(card, NewsCard):
            await self._try(self._signs.typing(thread.channel, on=False))

    async def _try(self, sign: Awaitable[None]) -> None:
        """What nobody misses holds nothing up."""
        try:
            await sign
        except PortError as error:
            log.info("no sign", extra={"data": {"why": error.reason}})

"""The chat port for everybody at this machine: one terminal in this process, any number over the local socket.

All of them act as the owner of the bot. Cards are kept on a board and shown to consoles that connect later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from uuid import NAMESPACE_URL, uuid5

from adapters.state_files import JsonLines
from bot.core.cards import Card
from bot.core.errors import PortError, Unavailable
from bot.core.events import FromPeople
from bot.core.facts import Fact
from bot.core.people import Person, Thread
from bot.ports import Deliver

log = logging.getLogger("bot.local")

PLATFORM = "console"
MAX_REMEMBERED_EVENTS = 1_000
"""Number of events whose console is remembered, so that only it receives the answer."""


class LocalConsole(Protocol):
    """A console that receives cards."""

    async def show(self, thread: Thread, card: Card) -> None: ...

    async def open(self, thread: Thread, card: Card) -> Thread: ...

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None: ...

    async def turn_to(self, thread: Thread) -> None: ...


_asking: ContextVar[LocalConsole | None] = ContextVar("_asking", default=None)
_greeted: ContextVar[LocalConsole | None] = ContextVar("_greeted", default=None)
"""Separate from `_asking`: sessions that start during a request keep its context, and whisper long after it."""


class LocalChat:
    """Implements bot.ports.Chat. `person`: the owner of the bot."""

    def __init__(self, home: Path, person: Person) -> None:
        self.person = person
        self._board = Board(home / "console" / "board.jsonl")
        self._elsewhere = Board(home / "console" / "elsewhere.jsonl")
        self._seats: list[LocalConsole] = []
        self._awaited: dict[str, LocalConsole] = {}
        self._deliver: Deliver | None = None
        self._ready = asyncio.Event()
        self.noted_elsewhere: Callable[[Thread], None] | None = None
        """Called when a card of another chat was kept, for as long as the page is served."""

    async def listen(self, deliver: Deliver) -> None:
        """Accept events until cancelled; consoles may connect at any time."""
        self._deliver = deliver
        self._ready.set()
        try:
            await asyncio.Event().wait()
        finally:
            self._deliver = None
            self._ready.clear()

    async def deliver(self, console: LocalConsole, thread: Thread, event: FromPeople) -> bool:
        """Deliver an event from a console. Person, time and platform are set here, whatever the console claims."""
        while (deliver := self._deliver) is None:
            await self._ready.wait()
        told = {"by": self.person, "at": datetime.now(UTC)}
        thread = thread.model_copy(update={"platform": PLATFORM, "workspace": "", "direct": False})
        self._awaited[event.id] = console
        while len(self._awaited) > MAX_REMEMBERED_EVENTS:
            del self._awaited[next(iter(self._awaited))]
        _asking.set(console)
        try:
            return await deliver(thread, event.model_copy(update=told))
        finally:
            _asking.set(None)

    def sit(self, seat: LocalConsole) -> None:
        self._seats.append(seat)

    def leave(self, seat: LocalConsole) -> None:
        self._seats = [one for one in self._seats if one is not seat]
        self._awaited = {id: one for id, one in self._awaited.items() if one is not seat}

    async def catch_up(self, seat: LocalConsole, thread: Thread | None = None) -> None:
        """Show all cards, or those of one thread, to a console that has just connected."""
        for one in self._board:
            if thread not in (None, one.thread):
                continue
            await self._call_consoles([seat], lambda to, one=one: to.show(one.thread, one.card))

    def note_elsewhere(self, thread: Thread, card: Card) -> None:
        """Keep a card of another chat for the page. Consoles are not told of it."""
        if thread.platform != PLATFORM and not _is_answer(card):
            self._elsewhere.put(BoardCard(thread=thread, card=card))
            if self.noted_elsewhere:
                self.noted_elsewhere(thread)

    def _board_of(self, thread: Thread) -> Board:
        return self._board if thread.platform == PLATFORM else self._elsewhere

    def cards(self, thread: Thread) -> tuple[Card, ...]:
        """Return the cards of a thread, in the order in which they came."""
        return tuple(one.card for one in self._board_of(thread) if one.thread.key == thread.key)

    def card(self, thread: Thread, key: str) -> Card | None:
        return self._board_of(thread).card(thread, key)

    async def greet(self, seat: LocalConsole, greeting: Awaitable[None]) -> None:
        """Run the greeting; what is whispered meanwhile goes to the new console."""
        _greeted.set(seat)
        try:
            await greeting
        finally:
            _greeted.set(None)

    async def show(self, thread: Thread, card: Card) -> None:
        """Show a card to all consoles. An answer to one console goes only there; answers are not kept."""
        if seat := self._asker(card):
            await self._call_consoles([seat], lambda to: to.show(thread, card))
            return
        if not _is_answer(card):
            self._board.put(BoardCard(thread=thread, card=card))
        await self._call_consoles(self._seats, lambda to: to.show(thread, card))

    async def open(self, thread: Thread, card: Card) -> Thread:
        """Start a thread; its id is derived from the card's key, so that repeating is safe."""
        root = uuid5(NAMESPACE_URL, f"{thread.platform}:{thread.channel}:{card.key}")
        opened = thread.model_copy(update={"root": str(root)})
        self._board.put(BoardCard(thread=opened, card=card))
        await self._call_consoles(self._seats, lambda to: to.open(thread, card))
        return opened

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        if person.id != self.person.id:
            return
        seat = self._asker(card) or _greeted.get()
        await self._call_consoles(
            [seat] if seat else self._seats, lambda to: to.whisper(thread, person, card)
        )

    async def turn_to(self, thread: Thread) -> None:
        """Switch the console whose request is being handled to the thread; others stay."""
        if seat := _asking.get():
            await self._call_consoles([seat], lambda to: to.turn_to(thread))

    def _asker(self, card: Card) -> LocalConsole | None:
        """Return the console whose event this card answers; answers contain the event's id in their key."""
        return next((self._awaited[p] for p in card.key.split(":") if p in self._awaited), None)

    async def _call_consoles(
        self, consoles: Iterable[LocalConsole], tell: Callable[[LocalConsole], Awaitable[object]]
    ) -> None:
        """Call each console; errors of one are logged and do not affect the others."""
        for seat in tuple(consoles):
            try:
                await tell(seat)
            except PortError as gone:
                log.warning("a seat was not told", extra={"data": {"why": gone.reason}})


def _is_answer(card: Card) -> bool:
    return card.key.partition(":")[0] in ("answer", "told")


# The cards of the console's threads, kept across restarts and shown to consoles that connect later. The oldest are
# dropped first.

MAX_BOARD_BYTES = 4_000_000
"""Bytes. A larger file is rewritten with its newer half."""
MAX_CARDS = 400


class BoardCard(Fact):
    thread: Thread
    card: Card


class Board:
    def __init__(self, path: Path) -> None:
        self._file = JsonLines(path, BoardCard, largest=MAX_BOARD_BYTES)
        self._cards: dict[tuple[str, str], BoardCard] = {}
        with suppress(Unavailable):
            for old in self._file.read():
                self._remember(old)

    def __iter__(self) -> Iterator[BoardCard]:
        """Iterate over the cards, newest last."""
        return iter(tuple(self._cards.values()))

    def card(self, thread: Thread, key: str) -> Card | None:
        kept = self._cards.get((thread.key, key))
        return kept.card if kept else None

    def put(self, new: BoardCard) -> None:
        """Keep a card, unless it is there already. If the disk is full it is only missing after a restart."""
        if self._cards.get((new.thread.key, new.card.key)) == new:
            return
        self._remember(new)
        with suppress(Unavailable):
            self._file.append_bounded(new, self._cards.values())

    def _remember(self, new: BoardCard) -> None:
        place = (new.thread.key, new.card.key)
        if getattr(new.card, "anew", False):
            self._cards.pop(place, None)  # it stands at the end of its thread from now on
        self._cards[place] = new
        while len(self._cards) > MAX_CARDS:
            del self._cards[next(iter(self._cards))]

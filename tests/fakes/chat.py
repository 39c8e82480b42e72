"""A chat in memory: threads are lists of cards, edited in place. It passes the contract suite of every chat."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from bot.core.cards import Card
from bot.core.choices import Verb, parse_command
from bot.core.events import Commanded, FromPeople, FromPerson, Pressed, Said
from bot.core.people import Person, Thread
from bot.ports import Deliver

ANNA = Person(platform="memory", id="U1", name="Anna")
THREAD = Thread(platform="memory", workspace="W1", channel="C1", root="1")


class MemoryChat:
    def __init__(self, thread: Thread = THREAD, person: Person = ANNA) -> None:
        self.thread = thread
        self.person = person
        self.threads: dict[str, list[tuple[str, Card]]] = {}
        self.shown: list[tuple[Thread, Card]] = []
        """Every post and every edit that changed something, in order."""
        self.whispered: list[tuple[Thread, Person, Card]] = []
        self.calls = 0
        """How often anything was shown, the same again counted too."""
        self._heard: asyncio.Queue[tuple[Thread, FromPeople, asyncio.Future[None]] | None] = (
            asyncio.Queue()
        )
        self._said = 0
        self._news = asyncio.Condition()

    async def listen(self, deliver: Deliver) -> None:
        while heard := await self._heard.get():
            thread, event, taken = heard
            try:
                await deliver(thread, event)
            except Exception as error:  # noqa: BLE001 - it belongs to the one who said it
                taken.set_exception(error)
            else:
                taken.set_result(None)

    async def show(self, thread: Thread, card: Card) -> None:
        await asyncio.sleep(0)
        self.calls += 1
        cards = self.threads.setdefault(thread.key, [])
        place = next((n for n, (key, _) in enumerate(cards) if key == card.key), None)
        if place is None:
            cards.append((card.key, card))
        elif cards[place][1] == card:
            return
        else:
            cards[place] = (card.key, card)
        self.shown.append((thread, card))
        async with self._news:
            self._news.notify_all()

    async def open(self, thread: Thread, card: Card) -> Thread:
        opened = thread.model_copy(update={"root": f"opened-by-{card.key}"})
        await self.show(opened, card)
        return opened

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        await asyncio.sleep(0)
        self.whispered.append((thread, person, card))
        async with self._news:
            self._news.notify_all()

    async def say(
        self, text: str, *, thread: Thread | None = None, by: Person | None = None, id: str = ""
    ) -> FromPerson:
        """Say something, and wait until it was taken (or was refused: then this raises)."""
        mark = self._mark(id)
        who = by or self.person
        command = parse_command(text)
        event = (
            Commanded(id=mark, at=self._now(), by=who, command=command)
            if command
            else Said(id=mark, at=self._now(), by=who, text=text)
        )
        await self._deliver(thread or self.thread, event)
        return event

    async def press(
        self,
        verb: Verb,
        about: str = "",
        text: str = "",
        *,
        thread: Thread | None = None,
        by: Person | None = None,
        id: str = "",
    ) -> Pressed:
        mark = self._mark(id)
        event = Pressed(
            id=mark, at=self._now(), by=by or self.person, verb=verb, about=about, text=text
        )
        await self._deliver(thread or self.thread, event)
        return event

    def leave(self) -> None:
        """Nobody says anything any more: `listen` ends when all was heard."""
        self._heard.put_nowait(None)

    def cards(self, thread: Thread | None = None) -> list[Card]:
        """What stands in a thread, from top to bottom."""
        return [card for _, card in self.threads.get((thread or self.thread).key, [])]

    def card(self, key: str, thread: Thread | None = None) -> Card | None:
        return next((card for card in self.cards(thread) if card.key == key), None)

    async def until(self, seen: Callable[[], bool], seconds: float = 120) -> None:
        """Wait until what was shown is as wanted."""
        async with asyncio.timeout(seconds), self._news:
            await self._news.wait_for(seen)

    async def _deliver(self, thread: Thread, event: FromPeople) -> None:
        taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await self._heard.put((thread, event, taken))
        await taken

    def _mark(self, given: str) -> str:
        self._said += 1
        return given or f"heard-{self._said}"

    def _now(self) -> datetime:
        """A time of its own: every word comes a second after the one before."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self._said)

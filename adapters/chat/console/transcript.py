"""What stands on the screen for good: every card once, its changes in few words, and what is still open."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text as Words

from adapters.chat.console.current_thread import TERMINAL, CurrentThread
from adapters.chat.console.drawing import aside, drawn, reminder, settled
from adapters.chat.console.open_cards import OpenCards, ends_thread
from adapters.chat.console.progress import moved
from adapters.chat.console.prose import on_one_line
from adapters.chat.console.screen import Screen
from adapters.chat.console.shown import Showing, Shown, showing
from bot.domain.cards import ApprovalCard, Card, QuestionsCard, RootCard, StatusCard, SummaryCard
from bot.domain.layout import sheet
from bot.domain.people import Person, Thread
from bot.errors import Unavailable

_UNREAD = 0.5
"""Seconds within which nobody has read what has just appeared."""


class Transcript:
    def __init__(
        self, folder: Path, person: Person, screen: Screen, channel: str = TERMINAL
    ) -> None:
        _private(folder)
        name = "thread" if channel == TERMINAL else f"thread-{channel.partition(':')[2]}"
        self.current = CurrentThread(folder / name, channel)
        self._person = person
        self._screen = screen
        self._shown = Shown(folder / "shown.jsonl")
        self._open = OpenCards()
        self._standing: dict[str, StatusCard] = {}
        self._names: dict[str, str] = {}
        self._turn = asyncio.Lock()
        self._changed_at = -_UNREAD
        for old in self._shown:
            self._call(old.thread, old.session)
            if old.open:
                self._open.take(old.thread, old.open)

    @property
    def open_card(self) -> Card | None:
        return self._open.newest(self.current.thread)

    @property
    def just_changed(self) -> bool:
        """Whether what Enter agrees to is too new to have been read."""
        return time.monotonic() - self._changed_at < _UNREAD

    @property
    def sessions(self) -> tuple[str, ...]:
        """The names of those that were seen here, the newest first."""
        return tuple(dict.fromkeys(reversed(self._names.values())))

    @property
    def status(self) -> StatusCard | None:
        return self._standing.get(self.current.thread.key)

    async def put(self, thread: Thread, card: Card) -> None:
        """The card, if it does not stand there already."""
        async with self._turn:
            new, last = showing(thread, card), self._shown.last(thread, card.key)
            self._call(thread, new.session)
            if last is None or last.digest != new.digest:
                await self._print(self._parts(thread, card, new, last))
                self._shown.note(new)
            self._heed(thread, card)

    async def put_aside(self, thread: Thread, card: Card) -> None:
        """A card that is nobody else's business."""
        async with self._turn:
            await self._print([Words(""), self._drawn(thread, card, private=True)])
            self._open.take(thread, card)

    async def say(self, text: str, style: str = "dim") -> None:
        """A word of the console itself."""
        async with self._turn:
            await self._print([Words(text, style=style)])

    async def remind(self) -> None:
        """What still waits for the person, from an earlier time or after a change of sessions.

        Questions and plans are shown anew: what Enter agrees to must stand on this very screen.
        """
        if card := self.open_card:
            whole = isinstance(card, ApprovalCard | QuestionsCard)
            again = self._drawn(self.current.thread, card) if whole else reminder(sheet(card))
            async with self._turn:
                await self._print([Words(""), again])
            self._changed_at = time.monotonic()

    async def turn_to(self, thread: Thread) -> None:
        self.current.turn_to(thread)
        await self.say(f"Now in session {self._name(thread)}.")
        await self.remind()

    async def follow_to(self, thread: Thread, card: Card) -> None:
        """The bot has begun a thread for what was asked for where all is done: the person goes along."""
        self.current.turn_to(thread)
        await self.put(thread, card)
        await self.say(f"Now in session {self._name(thread)}.")

    def _parts(
        self, thread: Thread, card: Card, new: Showing, last: Showing | None
    ) -> list[RenderableType]:
        origin = self._origin(thread)
        if isinstance(card, StatusCard):
            return self._status_parts(thread, card, last, origin)
        decided = getattr(card, "decided", None)
        if last and decided and last.undecided == new.undecided:
            line = settled(sheet(card).title, decided, self._person)
            return [Words(""), aside(origin), line] if origin else [Words(""), line]
        parts = [Words(""), self._drawn(thread, card)]
        if isinstance(card, RootCard) and origin and last is None:
            way = f"It has a thread of its own. Write info {on_one_line(card.session)} to go there."
            parts.append(Words(way, style="dim"))
        return parts

    def _drawn(self, thread: Thread, card: Card, *, private: bool = False) -> RenderableType:
        origin = self._origin(thread)
        return drawn(sheet(card), origin=origin, private=private, name=self._name)

    def _status_parts(
        self, thread: Thread, card: StatusCard, last: Showing | None, origin: str
    ) -> list[RenderableType]:
        """In full once, or whenever it is to come anew; else only what has moved. How it stands now is seen below the line
        being typed."""
        old = self._standing.get(thread.key)
        if last is None or old is None or card.anew:
            still = card.model_copy(update={"choices": ()})
            return [Words(""), self._drawn(thread, still)]
        lines = moved(old, card)
        return [Group(aside(origin), *lines)] if origin and lines else [*lines]

    async def _print(self, parts: list[RenderableType]) -> None:
        # a long document takes a while to draw: others go on meanwhile
        if parts:
            self._screen.write(await asyncio.to_thread(self._screen.rendered, *parts))

    def _heed(self, thread: Thread, card: Card) -> None:
        """What the card says about its session."""
        before = self.open_card
        self._open.take(thread, card)
        if self.open_card not in (before, None):
            self._changed_at = time.monotonic()
        if isinstance(card, StatusCard):
            self._standing[thread.key] = card
        if ends_thread(card):
            self._standing.pop(thread.key, None)
            if thread == self.current.thread:
                self.current.end(for_good=not isinstance(card, SummaryCard))

    def _origin(self, thread: Thread) -> str:
        return "" if thread == self.current.thread else self._name(thread)

    def _call(self, thread: Thread, session: str) -> None:
        if session:
            self._names[thread.key] = session

    def _name(self, thread: Thread) -> str:
        return self._names.get(thread.key, thread.root[:8])


def _private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise Unavailable(
            f"The folder {folder} cannot be made: {error.strerror}.",
            "Make it writable for this user.",
        ) from error

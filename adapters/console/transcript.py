"""What is printed permanently: every card once, its changes in few words, and which cards are open."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from rich.console import Group, RenderableType
from rich.text import Text as Words

from adapters.console.progress import status_changes
from adapters.console.rendering import (
    ConsoleScreen,
    on_one_line,
    origin_line,
    render_decision,
    render_reminder,
    render_sheet,
)
from adapters.console.typed import OpenCards, ends_thread, waits_for_person
from adapters.files import make_private
from adapters.state_files import JsonFile, JsonLines
from bot.core.cards import (
    ApprovalCard,
    Card,
    OfferCard,
    QuestionsCard,
    ReceivedCard,
    RootCard,
    StatusCard,
    StoppedCard,
    SummaryCard,
)
from bot.core.errors import Unavailable
from bot.core.facts import Fact
from bot.core.layout import lay_out
from bot.core.llm import Usage
from bot.core.people import Person, Thread

# The current thread of the terminal, kept across restarts. A thread belongs to one session for ever.

TERMINAL_CHANNEL = "terminal"
"""The channel if no project is named."""


class _KeptThread(Fact):
    thread: Thread
    over: bool = False
    """The session was given up or continues elsewhere: the next request starts a new one."""
    ended: bool = False
    """The session has ended: the next request is sent to its thread, and may continue it."""


class CurrentThread:
    def __init__(self, path: Path, channel: str = TERMINAL_CHANNEL) -> None:
        self._file = JsonFile(path, _KeptThread)
        self._channel = channel
        self._saved = self._file.read()

    @property
    def thread(self) -> Thread:
        """The current thread, started if there is none. It may not have a session yet."""
        if self._saved is None:
            return self._begin()
        return self._saved.thread

    def thread_for_text(self) -> Thread:
        """Return the thread for free text: a new one if the last session is over."""
        if self._saved and self._saved.over:
            return self._begin()
        return self.thread

    def begin(self) -> Thread:
        """Start a new thread for a new session."""
        return self._begin()

    def turn_to(self, thread: Thread) -> None:
        self._keep(_KeptThread(thread=thread))

    @property
    def has_ended(self) -> bool:
        return self._saved is not None and self._saved.ended

    def end(self, *, for_good: bool) -> None:
        """Record that the session of the current thread is over."""
        self._keep(_KeptThread(thread=self.thread, over=for_good, ended=not for_good))

    def _begin(self) -> Thread:
        thread = Thread(platform="console", channel=self._channel, root=str(uuid4()))
        self._keep(_KeptThread(thread=thread))
        return thread

    def _keep(self, kept: _KeptThread) -> None:
        if kept != self._saved:
            self._file.write(kept)
            self._saved = kept


_UNREAD_SECONDS = 0.5
"""Seconds in which nobody can have read what just appeared."""


class Transcript:
    def __init__(
        self, folder: Path, person: Person, screen: ConsoleScreen, channel: str = TERMINAL_CHANNEL
    ) -> None:
        _make_private_folder(folder)
        name = "thread" if channel == TERMINAL_CHANNEL else f"thread-{channel.partition(':')[2]}"
        self.current = CurrentThread(folder / name, channel)
        self._person = person
        self._screen = screen
        self._shown = ShownCards(folder / "shown.jsonl")
        self._open = OpenCards()
        self._standings: dict[str, StatusCard] = {}
        self._names: dict[str, str] = {}
        self._write_lock = asyncio.Lock()
        self._changed_at = -_UNREAD_SECONDS
        for old in self._shown:
            self._name_session(old.thread, old.session)
            if old.open:
                self._open.note_shown(old.thread, old.open)

    @property
    def open_card(self) -> Card | None:
        return self._open.newest(self.current.thread)

    @property
    def just_changed(self) -> bool:
        """Whether what Enter would agree to appeared too recently to have been read."""
        return time.monotonic() - self._changed_at < _UNREAD_SECONDS

    @property
    def sessions(self) -> tuple[str, ...]:
        """Return the names of the sessions seen here, newest first."""
        return tuple(dict.fromkeys(reversed(self._names.values())))

    @property
    def status(self) -> StatusCard | None:
        return self._standings.get(self.current.thread.key)

    async def show_card(self, thread: Thread, card: Card) -> None:
        """Print the card, unless it is already shown unchanged."""
        async with self._write_lock:
            new, last = make_showing(thread, card), self._shown.last(thread, card.key)
            self._name_session(thread, new.session)
            if last is None or last.digest != new.digest:
                await self._print(self._parts(thread, card, new, last))
                self._shown.record(new)
            self._update_state(thread, card)

    async def show_private(self, thread: Thread, card: Card) -> None:
        """Print a card that only this person sees."""
        async with self._write_lock:
            await self._print([Words(""), self._drawn(thread, card, private=True)])
            self._open.note_shown(thread, card)

    async def print_message(self, text: str, style: str = "dim") -> None:
        """Print a message of the console itself."""
        async with self._write_lock:
            await self._print([Words(text, style=style)])

    async def show_reminder(self) -> None:
        """Show the card that still waits for the person, after a restart or a switch of sessions.

        Questions and plans are printed in full, because Enter must refer to something on the screen.
        """
        if card := self.open_card:
            whole = isinstance(card, ApprovalCard | QuestionsCard)
            again = (
                self._drawn(self.current.thread, card) if whole else render_reminder(lay_out(card))
            )
            async with self._write_lock:
                await self._print([Words(""), again])
            self._changed_at = time.monotonic()

    async def turn_to(self, thread: Thread) -> None:
        self.current.turn_to(thread)
        await self.print_message(f"Now in session {self._name(thread)}.")
        await self.show_reminder()

    async def switch_with_card(self, thread: Thread, card: Card) -> None:
        """Switch to the thread that the bot has started for a request made after the session had ended."""
        self.current.turn_to(thread)
        await self.show_card(thread, card)
        await self.print_message(f"Now in session {self._name(thread)}.")

    def _parts(
        self, thread: Thread, card: Card, new: Showing, last: Showing | None
    ) -> list[RenderableType]:
        origin = self._origin(thread)
        if isinstance(card, StatusCard):
            return self._status_parts(thread, card, last, origin)
        decided = getattr(card, "decided", None)
        if last and decided and last.undecided == new.undecided:
            line = render_decision(lay_out(card).title, decided, self._person)
            return [Words(""), origin_line(origin), line] if origin else [Words(""), line]
        parts = [Words(""), self._drawn(thread, card)]
        if self._screen.terminal and not decided and (way := _seen_on_page(card)):
            parts.append(Words(way.format(self._name(thread)), style="dim"))
        if isinstance(card, RootCard) and origin and last is None:
            way = f"It has a thread of its own. Write info {on_one_line(card.session)} to go there."
            parts.append(Words(way, style="dim"))
        return parts

    def _drawn(self, thread: Thread, card: Card, *, private: bool = False) -> RenderableType:
        origin = self._origin(thread)
        return render_sheet(lay_out(card), origin=origin, private=private, name=self._name)

    def _status_parts(
        self, thread: Thread, card: StatusCard, last: Showing | None, origin: str
    ) -> list[RenderableType]:
        """Return the card in full the first time or when requested, otherwise only its changes.

        The current state is below the line being typed.
        """
        old = self._standings.get(thread.key)
        if last is None or old is None or card.anew:
            still = card.model_copy(update={"choices": ()})
            return [Words(""), self._drawn(thread, still)]
        lines = status_changes(old, card)
        return [Group(origin_line(origin), *lines)] if origin and lines else [*lines]

    async def _print(self, parts: list[RenderableType]) -> None:
        # rendering a long document takes a while; other tasks run meanwhile
        if parts:
            self._screen.write(await asyncio.to_thread(self._screen.rendered, *parts))

    def _update_state(self, thread: Thread, card: Card) -> None:
        """Update open cards, standing and current thread from the card."""
        before = self.open_card
        self._open.note_shown(thread, card)
        if self.open_card not in (before, None):
            self._changed_at = time.monotonic()
        if isinstance(card, StatusCard):
            self._standings[thread.key] = card
        if ends_thread(card):
            self._standings.pop(thread.key, None)
            if thread == self.current.thread:
                self.current.end(for_good=not isinstance(card, SummaryCard))

    def _origin(self, thread: Thread) -> str:
        return "" if thread == self.current.thread else self._name(thread)

    def _name_session(self, thread: Thread, session: str) -> None:
        if session:
            self._names[thread.key] = session

    def _name(self, thread: Thread) -> str:
        return self._names.get(thread.key, thread.root[:8])


def _seen_on_page(card: Card) -> str:
    """Return what the local page shows better than a terminal can, and the command for it."""
    match card:
        case ApprovalCard():
            return "Line by line, with comments, in a browser: gwt-bot web {} plan"
        case OfferCard() | SummaryCard():
            return "With its evidence and changes in a browser: gwt-bot web {} result"
        case _:
            return ""


def _make_private_folder(folder: Path) -> None:
    try:
        make_private(folder)
    except OSError as error:
        raise Unavailable(
            f"The folder {folder} cannot be made: {error.strerror}.",
            "Make it writable for this user.",
        ) from error


# Which cards were already shown, across restarts, so that none is printed twice.

MAX_FILE_BYTES = 1_000_000
"""Bytes. A larger file is rewritten with its newer half."""
_SOME_TIME = datetime.fromtimestamp(0, UTC)


class Showing(Fact):
    thread: Thread
    key: str
    digest: str
    undecided: str = ""
    """Digest of the card without its decision."""
    open: Card | None = None
    """The card itself while it waits for the person, so that it can be answered after a restart."""
    session: str = ""
    """The session of the thread, if the card names it."""


def make_showing(thread: Thread, card: Card) -> Showing:
    """Return the record of a shown card."""
    if isinstance(card, StatusCard) and not card.anew:
        card = _without_ticks(card)
    kept = card if waits_for_person(card) and not isinstance(card, StatusCard) else None
    return Showing(
        thread=thread,
        key=card.key,
        digest=_digest(card),
        undecided=_digest(_undecided(card)),
        open=kept,
        session=_session_of(card),
    )


def _undecided(card: Card) -> Card:
    """Return the card without what a decision changes: who decided, and which approvals were missing."""
    if isinstance(card, ApprovalCard):
        return card.model_copy(update={"decided": None, "approved_by": (), "dry_run": False})
    return card.model_copy(update={"decided": None}) if hasattr(card, "decided") else card


def _session_of(card: Card) -> str:
    """Return the session id if the card names it; empty otherwise."""
    match card:
        case ReceivedCard() | RootCard() | StatusCard() | StoppedCard():
            return card.session
        case _:
            return ""


def _without_ticks(card: StatusCard) -> StatusCard:
    """Return the card without the fields that change at every tick."""
    tasks = tuple(
        t.model_copy(update={"seconds": None, "tail": "", "note": ""}) for t in card.tasks
    )
    return card.model_copy(
        update={"tasks": tasks, "usage": Usage(), "at": _SOME_TIME, "choices": ()}
    )


def _digest(card: Card) -> str:
    return hashlib.sha256(card.model_dump_json().encode()).hexdigest()


class ShownCards:
    def __init__(self, path: Path) -> None:
        self._file = JsonLines(path, Showing, largest=MAX_FILE_BYTES)
        self._latest: dict[tuple[str, str], Showing] = {}
        with suppress(Unavailable):
            for old in self._file.read():
                self._remember(old)

    def last(self, thread: Thread, key: str) -> Showing | None:
        return self._latest.get((thread.key, key))

    def __iter__(self) -> Iterator[Showing]:
        """Iterate over the last record of every card, newest last."""
        return iter(tuple(self._latest.values()))

    def record(self, new: Showing) -> None:
        self._remember(new)
        # the card is on the screen, and failing would only print it again; until a restart it is remembered
        with suppress(Unavailable):
            self._file.append_bounded(new, self._latest.values())

    def _remember(self, showing: Showing) -> None:
        place = (showing.thread.key, showing.key)
        self._latest.pop(place, None)
        self._latest[place] = showing

"""What chats need for posting: where their cards are, which threads they started, and whose turn it is to write.

A card is recorded before the platform is called, and again afterwards. One that is recorded but not confirmed is looked
for on the platform before it is posted, because the answer to an earlier try may have been lost.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
import itertools
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from adapters.state_files import JsonLines
from bot.core.cards import (
    AnswerCard,
    Card,
    DocumentCard,
    NewsCard,
    QuestionsCard,
    StatusCard,
    SummaryCard,
)
from bot.core.choices import Choice
from bot.core.errors import Unavailable
from bot.core.facts import Fact
from bot.core.intent import Question
from bot.core.people import Thread

# The ledger of posted cards, on disk.

log = logging.getLogger("bot.posting")
MAX_THREADS = 1_000
"""Number of threads. Older ones are dropped: a card shown there again is posted anew."""
MAX_CHANGES = 20_000
"""Number of changes after which the file is rewritten without outdated entries."""


class PlacedCard(Fact):
    """A card in a thread, as last requested."""

    thread: Thread
    key: str
    kind: str = ""
    """The kind of the card."""
    revision: int
    """Number of this content change, from 1; the same content may return later under another revision."""
    digest: str
    messages: tuple[str, ...] = ()
    """The platform's ids of the card's messages, as far as known, in order."""
    standing: bool = False
    """Whether the platform has confirmed this revision."""
    choices: tuple[Choice, ...] = ()
    former: tuple[Choice, ...] = ()
    """The choices before it was decided: whoever still presses one is told what became of it."""
    questions: tuple[Question, ...] = ()
    """The questions on the card, because a platform may send only the number of an option."""

    @property
    def is_aside(self) -> bool:
        """Whether it was shown without a message that can be found again."""
        return self.standing and not self.messages


@dataclass(frozen=True, slots=True)
class _StoredCard:
    """A card in its stored form, parsed when needed.

    As objects, a thousand threads would take five times the memory.
    """

    json: bytes
    aside: bool
    offers: bool

    @classmethod
    def of(cls, placed: PlacedCard) -> _StoredCard:
        return cls(placed.model_dump_json().encode(), placed.is_aside, bool(placed.choices))

    @property
    def placed(self) -> PlacedCard:
        return PlacedCard.model_validate_json(self.json)


class PostingLedger:
    """Posted cards, one line per change; the last one per card counts."""

    def __init__(
        self, path: Path, *, threads_kept: int = MAX_THREADS, changes_kept: int = MAX_CHANGES
    ) -> None:
        self._file = JsonLines(path, PlacedCard)
        self._threads_kept = threads_kept
        self._changes_kept = changes_kept
        self._changes = 0
        self._lines: dict[str, dict[str, _StoredCard]] = {}
        self._threads: dict[str, Thread] = {}
        self._extra_messages: dict[tuple[str, str], None] = {}
        self._by_message: dict[str, dict[str, _StoredCard]] = {}
        for placed in self._file.read():
            self._remember(placed, _StoredCard.of(placed))
        self._rewrite()

    def find(self, thread: Thread, key: str) -> PlacedCard | None:
        line = self._lines.get(thread.key, {}).get(key)
        return line.placed if line else None

    def by_message(self, place: str, message: str) -> PlacedCard | None:
        """Return the card that a message in a channel belongs to."""
        line = self._by_message.get(place, {}).get(message)
        return line.placed if line else None

    def questions(self, thread: Thread, key: str) -> tuple[Question, ...]:
        """Return the questions of a card; empty for other cards."""
        placed = self.find(thread, key)
        return placed.questions if placed else ()

    def threads(self) -> tuple[Thread, ...]:
        """Return the threads with cards, the most recently changed last."""
        return tuple(self._threads.values())

    def has_cards(self, thread: Thread) -> bool:
        """Whether a card was ever requested in the thread."""
        return thread.key in self._lines

    def cards(self, thread: Thread) -> tuple[PlacedCard, ...]:
        """Return the cards of the thread, the most recently changed last."""
        return tuple(line.placed for line in self._of(thread))

    def cards_with_choices(self, thread: Thread) -> tuple[PlacedCard, ...]:
        """Return the cards of the thread that have choices."""
        return tuple(line.placed for line in self._of(thread) if line.offers)

    def unseen(self, thread: Thread, is_after: Callable[[str], bool]) -> tuple[str, ...]:
        """Return the keys of cards with choices that came after something was said.

        `is_after`: whether a message of the bot came later.
        """
        return tuple(
            card.key
            for card in self.cards_with_choices(thread)
            if not card.messages or is_after(card.messages[0])
        )

    def messages_with_choices(self) -> tuple[str, ...]:
        """Return the messages of all cards with choices."""
        offering = (card for thread in self.threads() for card in self.cards_with_choices(thread))
        return tuple(message for card in offering for message in card.messages)

    def record_wanted(
        self, thread: Thread, card: Card, choices: tuple[Choice, ...] = ()
    ) -> PlacedCard:
        """Record that the card should be shown; on disk when this returns. An unchanged card keeps its entry."""
        old = self.find(thread, card.key)
        digest = digest_of(card)
        if old and old.digest == digest:
            return old
        new = PlacedCard(
            thread=thread,
            key=card.key,
            kind=card.kind,
            revision=old.revision + 1 if old else 1,
            digest=digest,
            messages=old.messages if old else (),
            choices=choices,
            former=() if choices or not old else old.choices or old.former,
            questions=card.questions if isinstance(card, QuestionsCard) else (),
        )
        self._append(new)
        return new

    def record_posted(self, placed: PlacedCard, *messages: str) -> PlacedCard:
        """Record that the messages show the requested revision.

        If their ids were known before it is written without waiting for the disk; after a power cut the platform is
        asked again and gives the same answer.
        """
        done = placed.model_copy(update={"messages": messages, "standing": True})
        self._append(done, wait=not messages or messages != placed.messages)
        return done

    def record_partial(self, placed: PlacedCard, *messages: str) -> PlacedCard:
        """Record the messages posted so far."""
        some = placed.model_copy(update={"messages": messages})
        self._append(some)
        return some

    def record_adopted(self, placed: PlacedCard, thread: Thread, card: Card) -> PlacedCard:
        """Record that the messages are also a card of another thread; a press on them then belongs to that one."""
        new = {"thread": thread, "key": card.key, "kind": card.kind, "digest": digest_of(card)}
        own = placed.model_copy(update=new)
        self._append(own)
        return own

    def _of(self, thread: Thread) -> Iterator[_StoredCard]:
        return iter(self._lines.get(thread.key, {}).values())

    def _append(self, placed: PlacedCard, *, wait: bool = True) -> None:
        line = _StoredCard.of(placed)
        self._file.append_line(line.json.decode(), wait=wait)
        self._remember(placed, line)
        self._changes += 1
        if self._changes >= self._changes_kept:
            self._changes = 0
            self._try_rewrite()

    def _try_rewrite(self) -> None:
        try:
            self._rewrite()
        except Unavailable as full:
            # everything is on disk, only in a larger file than necessary
            log.warning("not tidied up", extra={"data": {"why": full.reason}})

    def _remember(self, placed: PlacedCard, line: _StoredCard) -> None:
        # The most recently changed entry comes last.
        where = (placed.thread.key, placed.key)
        thread, key = where
        cards = self._lines.setdefault(thread, {})
        cards.pop(key, None)
        cards[key] = line
        self._extra_messages.pop(where, None)
        if line.aside:
            self._extra_messages[where] = None
        if not line.aside or all(card.aside for card in cards.values()):
            self._threads.pop(thread, None)
        if not line.aside:
            self._threads[thread] = placed.thread
        messages = self._by_message.setdefault(placed.thread.place, {})
        messages.update(dict.fromkeys(placed.messages, line))

    def _rewrite(self) -> None:
        """Rewrite the file without outdated entries, at every start and from time to time."""
        kept = self._recent()
        for known in (self._lines, self._threads, self._extra_messages, self._by_message):
            known.clear()
        for line in kept:
            self._remember(line.placed, line)
        self._file.replace_lines(line.json.decode() for line in kept)

    def _recent(self) -> list[_StoredCard]:
        # Private messages are limited separately, so that those of strangers do not displace threads.
        most = self._threads_kept
        asides = [self._lines[thread][key] for thread, key in list(self._extra_messages)[-most:]]
        recent = (self._of(thread) for thread in self.threads()[-most:])
        return asides + [line for cards in recent for line in cards if not line.aside]


def digest_of(card: Card) -> str:
    return hashlib.sha256(card.model_dump_json().encode()).hexdigest()


# A thread that the bot starts. Its root message is recorded for the whole channel, under the card's key, and then as a
# card of its thread. So the same card always belongs to the same thread, wherever it was opened from, and is edited in
# place.


def root_ledger_key(thread: Thread, card: Card) -> tuple[Thread, Card]:
    """Return the channel and card under which a root message is recorded before its thread is known."""
    channel = thread.model_copy(update={"root": ""})
    return channel, card.model_copy(update={"key": f"{card.key} root"})


def thread_from_root(thread: Thread, root: str) -> Thread:
    """Return the thread of a root message in the same channel."""
    return thread.model_copy(update={"root": root})


def opened_thread(ledger: PostingLedger, thread: Thread, card: Card) -> Thread | None:
    """Return the thread started by the card, or None if it does not exist or is not completely recorded."""
    channel, root = root_ledger_key(thread, card)
    placed = ledger.find(channel, root.key)
    if placed is None or not placed.messages:
        return None
    begun = thread_from_root(thread, placed.messages[0])
    return begun if ledger.find(begun, card.key) else None


# Turns for writing into a channel: one at a time, urgent ones first, others in order, and not too fast. A caller that
# is rate limited keeps its turn while it waits, so that the order does not change.

QueuedTurn = tuple[int, int, asyncio.Future[None]]


@dataclass
class _Channel:
    busy: bool = False
    waiting: list[QueuedTurn] = field(default_factory=list[QueuedTurn])
    allowed: float = 0.0
    """How many messages may be written at once, as of `since`."""
    since: float = 0.0


class WriteTurns:
    """Limits the rate per channel: `burst` messages at once, then one every `seconds`. Both 0: no limit."""

    def __init__(self, *, burst: int = 0, seconds: float = 0.0) -> None:
        self._burst = max(1, burst)
        self._seconds = seconds
        self._channels: dict[str, _Channel] = {}
        self._numbers = itertools.count()

    @asynccontextmanager
    async def turn(self, channel: str, urgency: int) -> AsyncGenerator[None, None]:
        """Wait for the turn and hold it."""
        place = self._channels.setdefault(channel, _Channel(allowed=self._burst))
        await self._wait_for_turn(place, urgency)
        try:
            await self._slow_down(place)
            yield
        finally:
            self._next_turn(channel, place)

    async def _wait_for_turn(self, place: _Channel, urgency: int) -> None:
        if not place.busy:
            place.busy = True
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(place.waiting, (urgency, next(self._numbers), mine))
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._call_next(place)  # it was called at the moment it was cancelled
            raise

    def _call_next(self, place: _Channel) -> None:
        while place.waiting:
            _, _, following = heapq.heappop(place.waiting)
            if not following.done():
                following.set_result(None)
                return
        place.busy = False

    def _next_turn(self, channel: str, place: _Channel) -> None:
        self._call_next(place)
        if not place.busy and not self._seconds:
            del self._channels[channel]

    async def _slow_down(self, place: _Channel) -> None:
        if not self._seconds:
            return
        now = asyncio.get_running_loop().time()
        gained = (now - place.since) / self._seconds if place.since else self._burst
        place.allowed, place.since = min(self._burst, place.allowed + gained), now
        if place.allowed < 1:
            await asyncio.sleep((1 - place.allowed) * self._seconds)
            place.allowed, place.since = 1, asyncio.get_running_loop().time()
        place.allowed -= 1


# What is posted first when a channel is rate limited: what a person waits for.


class Urgency(IntEnum):
    """Smaller values go first."""

    PERSON = 0
    """Somebody waits for it: questions, approvals, pending decisions, the confirmation of receipt."""
    ANSWER = 1
    NEWS = 2
    BUTTONS = 3
    """Buttons sent separately from their card, whose choices can also be typed."""
    STATUS = 4
    """The next status replaces it anyway."""


def urgency_of(card: Card) -> Urgency:
    match card:
        case StatusCard():
            return Urgency.STATUS
        case NewsCard() | DocumentCard() | SummaryCard():
            return Urgency.NEWS
        case AnswerCard(choices=()):
            return Urgency.ANSWER
        case _:
            return Urgency.PERSON

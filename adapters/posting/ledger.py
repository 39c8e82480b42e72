"""Where each card stands, on disk: what is to be posted is written down before the platform is asked, and again after.

Whoever finds a card that is written down but not known to stand asks the platform before posting it: the answer to an
earlier try may have been lost.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from adapters.posting import lines
from bot.domain.cards import Card, QuestionsCard
from bot.domain.choices import Choice
from bot.domain.facts import Fact
from bot.domain.intent import Question
from bot.domain.people import Thread
from bot.errors import Unavailable

log = logging.getLogger("bot.posting")
THREADS_KEPT = 1_000
"""Older ones are forgotten: a card shown there again is posted anew."""
CHANGES_KEPT = 20_000
"""After so many the file is written anew, without what is superseded or old."""


class Placed(Fact):
    """A card in a thread, as it was wanted last."""

    thread: Thread
    key: str
    kind: str = ""
    """Of the card."""
    revision: int
    """How often it was to say something new, from 1: the same content may come back later."""
    digest: str
    messages: tuple[str, ...] = ()
    """The platform's ids of the messages it is made of, as far as they are known, in order."""
    standing: bool = False
    """The platform has confirmed this revision."""
    choices: tuple[Choice, ...] = ()
    former: tuple[Choice, ...] = ()
    """What it offered before it was decided: whoever still presses that is told what became of it."""
    questions: tuple[Question, ...] = ()
    """On a card of questions: a platform may tell only the number of an option."""

    @property
    def is_aside(self) -> bool:
        """It was said, and stands nowhere."""
        return self.standing and not self.messages


@dataclass(frozen=True, slots=True)
class _Line:
    """A card as it is written: read again when it is asked for. As objects, a thousand threads would take five times the room."""

    json: bytes
    aside: bool
    offers: bool

    @classmethod
    def of(cls, placed: Placed) -> _Line:
        return cls(placed.model_dump_json().encode(), placed.is_aside, bool(placed.choices))

    @property
    def placed(self) -> Placed:
        return Placed.model_validate_json(self.json)


class Ledger:
    """One line a change; the last one of a card counts."""

    def __init__(
        self, path: Path, *, threads_kept: int = THREADS_KEPT, changes_kept: int = CHANGES_KEPT
    ) -> None:
        self._path = path
        self._threads_kept = threads_kept
        self._changes_kept = changes_kept
        self._changes = 0
        self._lines: dict[str, dict[str, _Line]] = {}
        self._threads: dict[str, Thread] = {}
        self._asides: dict[tuple[str, str], None] = {}
        self._by_message: dict[str, dict[str, _Line]] = {}
        for placed in _read(path):
            self._remember(placed, _Line.of(placed))
        self._write_anew()

    def find(self, thread: Thread, key: str) -> Placed | None:
        line = self._lines.get(thread.key, {}).get(key)
        return line.placed if line else None

    def by_message(self, place: str, message: str) -> Placed | None:
        """The card that a message in a channel belongs to."""
        line = self._by_message.get(place, {}).get(message)
        return line.placed if line else None

    def questions(self, thread: Thread, key: str) -> tuple[Question, ...]:
        """Those on a card; none where it is no card of questions."""
        placed = self.find(thread, key)
        return placed.questions if placed else ()

    def threads(self) -> tuple[Thread, ...]:
        """Those with cards in them, the one that changed last at the end."""
        return tuple(self._threads.values())

    def knows(self, thread: Thread) -> bool:
        """Whether anything was ever to be shown there."""
        return thread.key in self._lines

    def cards(self, thread: Thread) -> tuple[Placed, ...]:
        """The one that changed last at the end."""
        return tuple(line.placed for line in self._of(thread))

    def offering(self, thread: Thread) -> tuple[Placed, ...]:
        """Those of its cards on which something can be chosen."""
        return tuple(line.placed for line in self._of(thread) if line.offers)

    def unseen(self, thread: Thread, is_after: Callable[[str], bool]) -> tuple[str, ...]:
        """Keys of those that were not there yet when something was said. `is_after`: whether a message stands after it."""
        return tuple(
            card.key
            for card in self.offering(thread)
            if not card.messages or is_after(card.messages[0])
        )

    def messages(self) -> tuple[str, ...]:
        """Those on which something can be chosen."""
        offering = (card for thread in self.threads() for card in self.offering(thread))
        return tuple(message for card in offering for message in card.messages)

    def wanted(self, thread: Thread, card: Card, choices: tuple[Choice, ...] = ()) -> Placed:
        """What is to stand there now; on disk when this returns. The same again if it is wanted, or stands, already."""
        old = self.find(thread, card.key)
        digest = digest_of(card)
        if old and old.digest == digest:
            return old
        new = Placed(
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
        self._keep(new)
        return new

    def posted(self, placed: Placed, *messages: str) -> Placed:
        """The messages are there, and say what was wanted. On disk in a while, where they were known before: should a
        power cut take that word away, the platform is asked once more, and says the same."""
        done = placed.model_copy(update={"messages": messages, "standing": True})
        self._keep(done, wait=not messages or messages != placed.messages)
        return done

    def begun(self, placed: Placed, *messages: str) -> Placed:
        """The first of several messages are there."""
        some = placed.model_copy(update={"messages": messages})
        self._keep(some)
        return some

    def adopted(self, placed: Placed, thread: Thread, card: Card) -> Placed:
        """Its messages are a card of another thread, too; whoever presses there means that one."""
        new = {"thread": thread, "key": card.key, "kind": card.kind, "digest": digest_of(card)}
        own = placed.model_copy(update=new)
        self._keep(own)
        return own

    def _of(self, thread: Thread) -> Iterator[_Line]:
        return iter(self._lines.get(thread.key, {}).values())

    def _keep(self, placed: Placed, *, wait: bool = True) -> None:
        line = _Line.of(placed)
        lines.append(self._path, line.json.decode(), wait=wait)
        self._remember(placed, line)
        self._changes += 1
        if self._changes >= self._changes_kept:
            self._changes = 0
            self._tidy_up()

    def _tidy_up(self) -> None:
        try:
            self._write_anew()
        except Unavailable as full:
            # everything is on disk: it only takes more room than it must
            log.warning("not tidied up", extra={"data": {"why": full.reason}})

    def _remember(self, placed: Placed, line: _Line) -> None:
        """What changed last stands last."""
        where = (placed.thread.key, placed.key)
        thread, key = where
        cards = self._lines.setdefault(thread, {})
        cards.pop(key, None)
        cards[key] = line
        self._asides.pop(where, None)
        if line.aside:
            self._asides[where] = None
        if not line.aside or all(card.aside for card in cards.values()):
            self._threads.pop(thread, None)
        if not line.aside:
            self._threads[thread] = placed.thread
        messages = self._by_message.setdefault(placed.thread.place, {})
        messages.update(dict.fromkeys(placed.messages, line))

    def _write_anew(self) -> None:
        """Once a start, and now and then, without what is superseded or old."""
        kept = self._recent()
        for known in (self._lines, self._threads, self._asides, self._by_message):
            known.clear()
        for line in kept:
            self._remember(line.placed, line)
        lines.write_anew(self._path, (line.json.decode() for line in kept))

    def _recent(self) -> list[_Line]:
        """What was said aside is counted for itself: strangers' asides must not make threads forgotten."""
        most = self._threads_kept
        asides = [self._lines[thread][key] for thread, key in list(self._asides)[-most:]]
        recent = (self._of(thread) for thread in self.threads()[-most:])
        return asides + [line for cards in recent for line in cards if not line.aside]


def digest_of(card: Card) -> str:
    return hashlib.sha256(card.model_dump_json().encode()).hexdigest()


def _read(path: Path) -> list[Placed]:
    """A line that was torn by a crash was not acted upon yet; it is passed over."""
    found: list[Placed] = []
    for line in lines.read(path):
        try:
            found.append(Placed.model_validate_json(line))
        except ValidationError:
            continue
    return found

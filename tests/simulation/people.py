"""People of the simulated world: what they ask for, press and say; by chance at first, sensibly once everything is calm."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from itertools import cycle
from random import Random
from typing import Protocol, TypedDict

from bot.core.cards import Card
from bot.core.choices import Choice, Command, Verb, Word
from bot.core.events import Commanded, FromPeople, Pressed, Said
from bot.core.gate import Door, Gate
from bot.core.layout import lay_out
from bot.core.people import Person, Role, Thread
from tests.fakes.chat import ANNA, THREAD, MemoryChat
from tests.simulation.ports import Wall

BEN = Person(platform="memory", id="U2", name="Ben")
SAM = Person(platform="memory", id="U3", name="Sam")
"""May ask for something, and stop it."""
MALLORY = Person(platform="memory", id="U9", name="Mallory")
"""May nothing."""
OWNERS = (ANNA, BEN)
THREADS = (THREAD, THREAD.model_copy(update={"root": "2"}))
_OWN = frozenset(person.id for person in OWNERS)
GATE = Gate(
    {
        "memory": Door(
            {
                **dict.fromkeys(Role, _OWN),
                Role.START: _OWN | {SAM.id},
                Role.STOP: _OWN | {SAM.id},
            }
        )
    }
)


def may(event: FromPeople) -> bool:
    """As whoever has set up this world would say."""
    if event.by in OWNERS:
        return True
    deciding = isinstance(event, Pressed) and event.verb is not Verb.STOP
    return event.by == SAM and not deciding


REQUESTS = ("Add discounts", "Print receipts")
WORDS = ("how far are you?", "thanks", "make it wider", "yes", "no", "ok")
WAYS = (
    Verb.RESUME,
    Verb.TRY_AGAIN,
    Verb.DEFAULTS,
    Verb.APPROVE,
    Verb.REPLY,
    Verb.RETRY,
    Verb.SHIP_AGAIN,
    Verb.WATCH_AGAIN,
    Verb.CHECK_AGAIN,
    Verb.MERGE,
    Verb.MERGE_PULLS,
    Verb.MERGE_PULL,
    Verb.ACCEPT,
    Verb.WHOLE,
    Verb.HERE,
    Verb.DROP,
    Verb.REASSIGN,
    Verb.SKIP,
    Verb.KEEP,
    Verb.UNNEEDED,
    Verb.GIVE_UP,
    Verb.DISCARD,
)
"""What a sensible person presses, the best first. Of what was pressed in vain three times the next is tried."""
PATIENCE = 3
ONLY_LOOKS = frozenset(
    {Verb.LOG, Verb.HELPFUL, Verb.UNHELPFUL, Verb.SETTINGS, Verb.STOP, Verb.MORE}
)
RARELY = frozenset({Verb.DISCARD, Verb.GIVE_UP, Verb.KEEP, Verb.UNNEEDED, Verb.SKIP})


class Mark(TypedDict):
    id: str
    at: datetime
    by: Person


class Post(Protocol):
    def send(self, thread: Thread, event: FromPeople, *, again: int = 0) -> None:
        """Deliver it, and `again` so often, whenever that may be."""
        ...


@dataclass(eq=False)
class People:
    chance: Random
    chat: MemoryChat
    wall: Wall
    post: Post
    threads: tuple[Thread, ...]
    number: int = 0
    offered: list[tuple[Thread, Choice]] = field(default_factory=list[tuple[Thread, Choice]])
    """What was ever offered: it may be pressed late."""
    tried: Counter[tuple[str, Verb, str]] = field(default_factory=Counter[tuple[str, Verb, str]])
    read: dict[int, tuple[Card, tuple[Choice, ...]]] = field(
        default_factory=dict[int, tuple[Card, tuple[Choice, ...]]]
    )

    def begin(self) -> None:
        for thread, request in zip(self.threads, cycle(REQUESTS), strict=False):
            self.says(thread, ANNA, request)

    def choices(self, thread: Thread) -> list[Choice]:
        """The buttons that stand in a thread."""
        return [choice for card in self.chat.cards(thread) for choice in self._on(card)]

    def _on(self, card: Card) -> tuple[Choice, ...]:
        known = self.read.get(id(card))
        if known is None:
            known = self.read[id(card)] = (card, lay_out(card).choices)
        return known[1]

    def asked(self, thread: Thread) -> list[Choice]:
        """Those that decide something."""
        return [one for one in self.choices(thread) if one.verb not in ONLY_LOOKS]

    # while anything may happen

    def act(self) -> None:
        thread, luck = self.chance.choice(self.threads), self.chance.random()
        if luck < 0.72:
            self._press_something(thread)
        elif luck < 0.78:
            self.commands(thread, self.chance.choice([ANNA, BEN, SAM]), Word.STOP)
        elif luck < 0.86:
            self.commands(thread, self.chance.choice(OWNERS), Word.RESUME)
        elif luck < 0.9:
            self._comes_late()
        elif luck < 0.96:
            self._tries_what_one_may_not(thread)
        elif luck < 0.98:
            self.says(thread, self.chance.choice(OWNERS), self.chance.choice(WORDS))
        else:
            self.commands(thread, BEN, self.chance.choice([Word.STATUS, Word.TASKS, Word.USAGE]))

    def _press_something(self, thread: Thread) -> None:
        choices = self.asked(thread)
        self.offered += [(thread, choice) for choice in choices][-6:]
        del self.offered[:-60]
        usual = [one for one in choices if one.verb not in RARELY or self.chance.random() < 0.04]
        if not usual:
            return
        choice = self.chance.choice(usual)
        both = OWNERS if self.chance.random() < 0.2 else (self.chance.choice(OWNERS),)
        for person in both:
            self.presses(thread, person, choice)

    def _comes_late(self) -> None:
        if self.offered:
            thread, choice = self.chance.choice(self.offered)
            if choice.verb not in RARELY:
                self.presses(thread, self.chance.choice(OWNERS), choice)

    def _tries_what_one_may_not(self, thread: Thread) -> None:
        choices = [
            one
            for one in self.asked(thread)
            if one.verb in (Verb.APPROVE, Verb.MERGE, Verb.MERGE_PULLS)
        ]
        if choices:
            self.presses(thread, self.chance.choice([SAM, MALLORY]), self.chance.choice(choices))
        else:
            self.commands(
                thread, MALLORY, self.chance.choice([Word.STOP, Word.RESUME, Word.DISCARD])
            )

    # once it is calm

    def help(self, thread: Thread) -> None:
        """Press what leads on; not what did not help three times."""
        standing = self.asked(thread)
        for verb in WAYS:
            for choice in standing:
                topic = choice.about.partition(":")[0] if verb is not Verb.APPROVE else ""
                if choice.verb is verb and self.tried[thread.key, verb, topic] < PATIENCE:
                    self.tried[thread.key, verb, topic] += 1
                    self.presses(thread, ANNA, choice)
                    return

    # the deeds

    def presses(self, thread: Thread, by: Person, choice: Choice) -> None:
        text = "wider" if choice.asks else ""
        event = Pressed(
            **self._mark(by), verb=choice.verb, about=choice.about, text=text, answers={1: "first"}
        )
        self.post.send(thread, event, again=self.again())

    def says(self, thread: Thread, by: Person, text: str) -> None:
        self.post.send(thread, Said(**self._mark(by), text=text), again=self.again())

    def commands(self, thread: Thread, by: Person, word: Word) -> None:
        event = Commanded(**self._mark(by), command=Command(word=word))
        self.post.send(thread, event, again=self.again())

    def again(self) -> int:
        """Platforms deliver at least once."""
        return self.chance.choice([0, 0, 0, 1, 3])

    def _mark(self, by: Person) -> Mark:
        self.number += 1
        return Mark(id=f"heard-{self.number}", at=self.wall.shows(), by=by)

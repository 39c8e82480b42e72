"""People of different rights before one desk: what they do there, and what they are told."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from bot.core.cards import AnswerCard, Card
from bot.core.choices import Choice, Command, Verb, Word
from bot.core.desk import Desk
from bot.core.errors import Unavailable
from bot.core.events import Commanded, FromPeople, Opened, Pressed, Said
from bot.core.gate import Door, Gate
from bot.core.people import Person, Role, Thread
from bot.core.projections.records import Record
from bot.core.session import Session
from bot.core.states import Status
from tests.fakes.chat import ANNA, THREAD, MemoryChat
from tests.stories.stage import Stage

AT = datetime(2026, 1, 1, 9, 1, tzinfo=UTC)
ANDY = Person(platform="memory", id="U4", name="Andy")
AKI = Person(platform="memory", id="U5", name="Aki")
APPROVERS = (ANNA, ANDY, AKI)
STARTER = Person(platform="memory", id="U2", name="Sam")
NOBODY = Person(platform="memory", id="U3", name="Nils")

CHANNEL = THREAD.model_copy(update={"root": ""})
SECOND = THREAD.model_copy(update={"root": "2"})
UNKNOWN = THREAD.model_copy(update={"root": "nobody has said anything here"})
ELSEWHERE = CHANNEL.model_copy(update={"channel": "C2"})
DIRECT = CHANNEL.model_copy(update={"channel": "D1", "direct": True})
CLOSED = CHANNEL.model_copy(update={"channel": "C3"})
OTHER_WORKSPACE = CHANNEL.model_copy(update={"workspace": "W2"})
OTHER_PLATFORM = CHANNEL.model_copy(update={"platform": "other"})
OPEN = frozenset({"W1:C1", "W1:C2", "W1:dm", "W2:C1"})

REFUSED = "You may not do that here. Ask whoever runs this bot."
_APPROVERS = frozenset(person.id for person in APPROVERS)
LISTS = {**dict.fromkeys(Role, _APPROVERS), Role.START: _APPROVERS | {STARTER.id}}
GATE = Gate({"memory": Door(LISTS)})


class FailingChat(MemoryChat):
    """Its next whispers do not arrive."""

    failures = 0

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise Unavailable("the chat does not answer")
        await super().whisper(thread, person, card)


def said(text: str, by: Person = ANNA, *, mention: bool = True, id: str = "it") -> Said:
    return Said(id=id, at=AT, by=by, text=text, mention=mention)


def commanded(
    word: Word, argument: str = "", by: Person = ANNA, *, mention: bool = True, id: str = "it"
) -> Commanded:
    command = Command(word=word, argument=argument)
    return Commanded(id=id, at=AT, by=by, command=command, mention=mention)


def pressed(verb: Verb, about: str = "", by: Person = ANNA, *, id: str = "it") -> Pressed:
    return Pressed(id=id, at=AT, by=by, verb=verb, about=about)


def opened(verb: Verb, by: Person = ANNA, *, id: str = "it") -> Opened:
    return Opened(id=id, at=AT, by=by, verb=verb)


def desk_of(stage: Stage) -> Desk:
    assert stage.desk
    return stage.desk


async def take(stage: Stage, event: FromPeople, thread: Thread = THREAD) -> bool:
    return await desk_of(stage).take(thread, event)


def records(stage: Stage) -> list[Record]:
    return [Record.model_validate_json(text) for text in stage.store.records.values()]


def titles(stage: Stage) -> list[str]:
    """What was told privately."""
    return [card.title for _, _, card in stage.chat.whispered if isinstance(card, AnswerCard)]


async def begun(stage: Stage, place: Thread, by: Person = ANNA) -> Session:
    """A session of somebody, in a thread of its own."""
    thread = place.model_copy(update={"root": stage.clock.new_id()})
    await take(stage, said("Add discounts", by, id=thread.root), thread)
    await stage.settle()
    return stage.session(thread)


async def command(
    stage: Stage, word: Word, argument: str = "", *, place: Thread = CHANNEL, by: Person = ANNA
) -> bool:
    taken = await take(stage, commanded(word, argument, by, id=stage.clock.new_id()), place)
    await stage.settle()
    return taken


async def press(stage: Stage, choice: Choice, by: Person = ANNA, place: Thread = CHANNEL) -> bool:
    press = pressed(choice.verb, choice.about, by, id=stage.clock.new_id())
    taken = await take(stage, press, place)
    await stage.settle()
    return taken


def statuses(stage: Stage, *sessions: Session) -> list[Status]:
    return [stage.session(session.thread).status for session in sessions]


def choices(stage: Stage) -> tuple[Choice, ...]:
    """Of the picker that was shown last, to one person only."""
    card = stage.chat.whispered[-1][2]
    assert isinstance(card, AnswerCard)
    assert card.title == "Which session?"
    return card.choices


def passed_on(session: Session) -> str:
    return f"Passed on to session {session.short}: {session.title}"

"""Work that goes on in another session: the parts of a large wish, a new wish after the end, more of an earlier one."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import naming
from bot.domain.actions import Deed, OpenSession
from bot.domain.events import Happening, OrderFailed, PassedOn, QuestionsFound, SessionOpened
from bot.domain.parts import Part
from bot.domain.session import Session, Speaker
from bot.domain.sheets import Pointer, Text, Tone
from bot.domain.states import IntentStatus, Phase, Status
from bot.domain.words import Words
from bot.flow import telling


def parts(session: Session, event: QuestionsFound) -> tuple[Part, ...]:
    """Their ids are chosen here, so that opening them twice opens them once."""
    return tuple(
        Part(
            session=naming.derived_id(session.id, "part", str(number)),
            title=part.title,
            body=part.body,
            by=session.owner,
        )
        for number, part in enumerate(event.parts, 1)
    )


def new_wish(session: Session, words: Words) -> Part:
    """What somebody asks for in the thread of a session that is over."""
    first_line = words.text.strip().partition("\n")[0]
    return Part(
        session=naming.derived_id(session.id, "wish", words.id),
        title=first_line[:72],
        body=words.text,
        by=words.by,
        child=False,
    )


def arrived(session: Session, event: SessionOpened | PassedOn) -> Iterator[Deed]:
    """When the last of them is there, nothing is left to do here."""
    if isinstance(event, SessionOpened):
        session.parts = tuple(
            part.model_copy(update={"thread": event.thread})
            if part.session == event.session
            else part
            for part in session.parts
        )
        yield telling.parts(session)
        if any(part.thread is None for part in session.parts):
            return
    yield from _over(session, event)


def not_opened(session: Session, event: OrderFailed) -> None:
    """It is not tried again; the others are."""
    session.parts = tuple(
        part for part in session.parts if event.answers != OpenSession(session=part.session).key
    )


def opened(session: Session, event: SessionOpened) -> Iterator[Deed]:
    """A new wish has its own thread now: say where."""
    for part in session.parts:
        if part.session == event.session and part.thread is None:
            pointer = Pointer(text=part.title, thread=event.thread)
            yield telling.answered(
                f"opened:{part.session}", "That is a session of its own now", pointer
            )
    session.parts = tuple(part for part in session.parts if part.session != event.session)


def _over(session: Session, event: Happening) -> Iterator[Deed]:
    """It was never carried out here, and it is no failure: its intent lives on elsewhere."""
    for status in (IntentStatus.APPROVED, IntentStatus.EXECUTING, IntentStatus.DONE):
        session.intend(status)
    session.enter(Phase.FINISHING)
    session.enter(Phase.DONE)
    session.become(Status.COMPLETED)
    session.summary = ""
    session.say(Speaker.SYSTEM, "Carried out in other sessions", event.at)
    if session.earlier:
        text = f"This goes on in the session “{session.earlier.title}”."
    else:
        text = f"{len(session.parts)} sessions carry this out; each asks and reports in its own thread."
    yield telling.answered(
        "elsewhere", "Over to other sessions", Text(text=text), tone=Tone.SUCCESS
    )

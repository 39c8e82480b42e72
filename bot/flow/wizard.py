"""A spec and nothing more (`spec`): it is over as soon as its documents are there, and waits for nobody.

Whoever wants more says so in its thread: a change makes a new revision, *Run it* carries it out.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import approval
from bot.domain.actions import Deed
from bot.domain.choices import Verb
from bot.domain.events import CleanedUp, Event, Happening, OrderFailed, Pressed, Said
from bot.domain.session import Session
from bot.domain.states import Phase, Status
from bot.flow import approve, standing, telling


def written(session: Session, event: Happening) -> Iterator[Deed]:
    """The documents are shown: that is all that was wanted."""
    session.become(Status.COMPLETED)
    session.cleaned = False
    yield standing.status(session, event.at)


def is_over(session: Session) -> bool:
    return session.spec_only and session.over and session.phase is Phase.APPROVING


def concerns(session: Session, event: Event) -> bool:
    """Whether an event after its end is decided here."""
    if not is_over(session) or session.status is not Status.COMPLETED:
        return False
    match event:
        case Pressed(verb=Verb.APPROVE | Verb.CHANGE):
            return True
        case Said(text=text):
            return approve.is_run(text)
        case _:
            return isinstance(event, CleanedUp) or (
                isinstance(event, OrderFailed) and event.what == "clean_up"
            )


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case CleanedUp(removals=removals):
            session.cleaned, session.leftovers = True, removals
        case OrderFailed():
            session.cleaned = True
        case Pressed(about=about) if about != approval.offer(session):
            yield telling.stale(session, event)
        case Pressed(verb=Verb.CHANGE, text=text):
            if text.strip():  # without a word it stays over: else a mere «ok» would start it
                go_on(session)
            yield from approve.decide(session, event)
        case Pressed() | Said():
            yield from _run(session, event)
        case _:
            pass


def _run(session: Session, event: Pressed | Said) -> Iterator[Deed]:
    """From here on it is a session like any other."""
    if session.analysis and session.analysis.critical:
        told = "This plan has critical findings and cannot be carried out. Say what should be different."
        yield telling.privately(event, told)
        return
    go_on(session)
    session.spec_only = False
    yield from approve.decide(session, event)


def go_on(session: Session) -> None:
    """What its end has cleaned up is made again, and is to be cleaned up again."""
    session.become(Status.ACTIVE)
    session.cleaned, session.leftovers = False, ()

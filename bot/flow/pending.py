"""The card that waits for a person, whatever it is: from the session alone, so that it can be shown again."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import approval
from bot.domain.actions import Deed, Show
from bot.domain.cards import Decided, StoppedCard
from bot.domain.session import Session
from bot.domain.states import Phase, Status
from bot.domain.words import ChangeStage
from bot.flow import blocked, changed, dialogs, limits, pulls, quiet, ship, telling


def card(session: Session, decided: Decided | None = None) -> Iterator[Deed]:
    """The card that waits for a person: again, should it have been lost; or with what became of it."""
    if session.over:
        return
    if session.status is Status.PAUSED and not decided:
        yield stopped(session)
    elif session.phase is Phase.INTAKE:
        yield from _at_first(session, decided)
    elif session.phase is Phase.CLARIFYING and session.asked:
        yield telling.questions(session, decided)
    elif session.phase is Phase.EXECUTING:
        yield from _at_work(session, decided)
    elif session.phase is Phase.APPROVING and not approval.is_complete(session):
        yield telling.approval_wanted(session, decided)
    elif session.phase is Phase.FINISHING and session.ending is None:
        yield from _at_the_end(session, decided)


def _at_work(session: Session, decided: Decided | None) -> Iterator[Deed]:
    yield from blocked.waiting(session, decided)
    yield from dialogs.waiting(session, decided)
    yield from quiet.waiting(session, decided)
    yield from ship.waiting(session, decided)
    yield from limits.waiting(session, decided)
    if session.pulls_problem:
        yield pulls.trouble(session, decided)
    yield from pulls.card(session, decided)
    if session.change and session.change.stage is ChangeStage.AWAITING:
        yield changed.wanted(session, session.change, decided)


def _at_the_end(session: Session, decided: Decided | None) -> Iterator[Deed]:
    if session.pulls_problem:
        yield pulls.trouble(session, decided)
    if pulls.with_pull(session):
        yield from pulls.card(session, decided)
    else:
        yield telling.offer(session, decided)


def _at_first(session: Session, decided: Decided | None) -> Iterator[Deed]:
    """Where shall it be carried out? Or: what is meant at all?"""
    if session.earlier:
        yield telling.earlier(session, decided)
    elif session.parts:
        yield telling.parts(session, decided)
    elif session.vague:
        yield telling.questions(session, decided)


def stopped(session: Session, decided: Decided | None = None) -> Show:
    """The same card for the same stop, however often it is shown."""
    return Show(
        card=StoppedCard(
            key=f"stopped:{session.stops}",
            by=session.stopped_by,
            reason=session.away,
            stopped_runs=session.stopped_runs,
            session=session.short,
            decided=decided,
        )
    )

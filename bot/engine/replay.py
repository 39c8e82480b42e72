"""Hears once more what a session has heard, and says whether the same states and orders come of it. Nothing is done."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.events import Broke, Event
from bot.domain.exported import History, Stand, Step, stand_of
from bot.domain.naming import derived_id
from bot.domain.session import Session
from bot.flow import decide, due


@dataclass(frozen=True)
class Replayed:
    steps: int
    difference: str = ""
    """The first, in a sentence; empty: everything came out as it did."""


def replayed(history: History) -> Replayed:
    session = history.start.session.copied()
    for number, step in enumerate(history.steps, 1):
        session = _decided(session, step.event)
        if difference := _difference(session, step):
            return Replayed(number, f"Step {number} ({step.event.kind}): {difference}.")
    return Replayed(len(history.steps))


def _decided(session: Session, event: Event) -> Session:
    """As the actor does it: what a bug makes of it is thrown away, and the session fails."""
    there = session.copied()
    try:
        decide(there, event)
    except Exception:  # noqa: BLE001 - a bug is part of the story; what came of it is compared
        there = session.copied()
        broke = Broke(id=derived_id(event.id, "broke"), at=event.at, reason="deciding failed")
        decide(there, broke)
    return there


def _difference(session: Session, step: Step) -> str:
    if told := _other(stand_of(session), step.stand):
        return told
    now = {order.key for order in due(session)} - set(step.answered)
    more, less = sorted(now - set(step.orders)), sorted(set(step.orders) - now)
    if more or less:
        lacks = f"; it does not order {', '.join(less)}" if less else ""
        return f"it orders {', '.join(more) or 'nothing more'}{lacks}"
    return ""


def _other(now: Stand, then: Stand) -> str:
    if (now.status, now.phase) != (then.status, then.phase):
        return f"the session was {then.status} {then.phase}, and is {now.status} {now.phase}"
    for what, ours, theirs in (("task", now.tasks, then.tasks), ("run", now.runs, then.runs)):
        for key in sorted({*ours, *theirs}):
            if ours.get(key) != theirs.get(key):
                was, is_now = theirs.get(key, "not there"), ours.get(key, "not there")
                return f"{what} {key} was {was}, and is {is_now}"
    return ""

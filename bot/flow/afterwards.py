"""A session that is over: what is still said in its thread, and what still comes back from the world."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import Deed, Show
from bot.domain.cards import AnswerCard
from bot.domain.events import CleanedUp, Event, OrderFailed, Pressed, RunEnded, Said
from bot.domain.session import Session, Speaker
from bot.domain.sheets import Bullets, Text
from bot.domain.states import Phase, Status
from bot.flow import mishaps, telling


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case CleanedUp(removals=removals) if session.status is Status.DISCARDED:
            session.leftovers, session.cleaned = removals, True
            lines = tuple(
                f"{r.branch}: {r.reason or 'kept'}"
                for r in removals
                if not (r.branch_gone and r.worktree_gone)
            )
            body = (Text(text="These branches stay:"), Bullets(items=lines)) if lines else ()
            yield Show(card=AnswerCard(key="discarded", title="Discarded", body=body))
        case OrderFailed(what="clean_up", reason=reason) if session.status is Status.DISCARDED:
            session.cleaned = True
            body = (Text(text=f"Not everything could be cleaned up: {reason}"),)
            yield Show(card=AnswerCard(key="discarded", title="Discarded", body=body))
        case RunEnded(run_id=run_id):
            task = session.task_of_run(run_id)
            if task and task.run and task.run.alive:
                task.update_run(task.run.end(event.end.outcome, event.at))
        case Said(text=text) if session.status is Status.FAILED:
            yield from _said_after_a_failure(session, event, text)
        case Said():
            yield telling.privately(event, "This session is over. A new request opens a new one.")
        case Pressed():
            yield telling.stale(session, event)
        case _:
            pass


def _said_after_a_failure(session: Session, event: Said, text: str) -> Iterator[Deed]:
    """Before anything was begun, new words are simply the new request. Later the failure must be settled first."""
    if session.phase is not Phase.INTAKE:
        yield telling.privately(
            event, "This session has failed. Try again, or discard it; then ask anew."
        )
        return
    session.intent = session.intent.model_copy(update={"body": text})
    session.say(Speaker.USER, text, event.at)
    yield from mishaps.try_again(session, event)
    yield telling.received(session)

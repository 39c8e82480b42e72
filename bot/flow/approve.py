"""One approval, bound to exactly what was shown; or a change request, and a new revision."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import approval
from bot.domain.actions import Deed
from bot.domain.choices import Verb
from bot.domain.events import Event, FromPerson, Pressed, Said
from bot.domain.session import Approval, Session, Speaker
from bot.domain.states import IntentStatus, Phase
from bot.flow import telling

_YES = frozenset(
    {"approve", "approved", "yes", "y", "ok", "lgtm", "go", "承認", "はい", "実行して"}
)
_NO = frozenset({"no", "n", "reject", "却下", "いいえ"})


def decide(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case Pressed(verb=Verb.APPROVE, about=about) if about == approval.offer(session):
            yield from _approve(session, event)
        case Pressed(verb=Verb.CHANGE, about=about, text=text) if about == approval.offer(session):
            yield from _change(session, event, text)
        case Said(text=text):
            yield from _said(session, event, text)
        case Pressed():
            yield telling.stale(session, event)
        case _:
            pass


def is_yes(text: str) -> bool:
    """Whether these words approve a plan that is shown."""
    return _word(text) in _YES


def _word(text: str) -> str:
    return text.strip().lower().rstrip(".!。")


def _said(session: Session, event: Said, text: str) -> Iterator[Deed]:
    word = _word(text)
    if word in _YES and session.documents_shown_at and event.at < session.documents_shown_at:
        yield telling.privately(event, "You said that before the plan was shown; please read it.")
    elif word in _YES:
        yield from _approve(session, event)
    elif word in _NO:
        yield telling.privately(event, "What should be different? Write it here and I plan anew.")
    else:
        yield from _change(session, event, text)


def _approve(session: Session, event: FromPerson) -> Iterator[Deed]:
    if _expired(session, event):
        yield telling.privately(event, "The plan is older than 24 hours; here it is afresh.")
        session.documents_shown_at = event.at
        yield telling.approval_wanted(session)
        return
    revision = session.spec.revision if session.spec else 0
    session.approval = Approval(
        by=event.by, at=event.at, digest=approval.digest(session), revision=revision
    )
    if session.intent.status is IntentStatus.PROPOSED:
        session.intend(IntentStatus.APPROVED)
    session.intend(IntentStatus.EXECUTING)
    session.say(Speaker.USER, f"Approved revision {revision}", event.at)
    session.enter(Phase.EXECUTING)
    yield telling.approval_wanted(session, telling.decided(f"Revision {revision} approved", event))
    yield telling.status(session, event.at)


def _expired(session: Session, event: FromPerson) -> bool:
    shown = session.documents_shown_at
    return bool(shown and event.at - shown > approval.VALID_FOR)


def _change(session: Session, event: FromPerson, text: str) -> Iterator[Deed]:
    if not text.strip() or session.spec is None:
        yield telling.privately(event, "What should be different? Write it here and I plan anew.")
        return
    yield telling.approval_wanted(session, telling.decided("Changes requested", event))
    session.say(Speaker.USER, text, event.at)
    session.change_request = text
    session.previous, session.documents = session.documents, ()
    session.tasks = []
    session.spec = session.spec.model_copy(
        update={"revision": session.spec.revision + 1, "commit": ""}
    )
    session.enter(Phase.SPECIFYING)
    yield telling.news(f"revising:{session.spec.revision}", "Planning anew with your changes.")

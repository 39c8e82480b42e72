"""From the first word to a request that is understood: is everything there, what is wanted, and is it one plan at all?"""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import naming
from bot.domain.actions import Deed
from bot.domain.choices import Verb
from bot.domain.events import (
    Begun,
    Edited,
    Event,
    OrderFailed,
    PassedOn,
    Pressed,
    QuestionsFound,
    Said,
    Scanned,
    SessionOpened,
    Surveyed,
)
from bot.domain.intent import Intent
from bot.domain.parts import Chosen, Going
from bot.domain.session import Session, Speaker, Spec
from bot.domain.sheets import Tone
from bot.domain.states import Phase
from bot.domain.tasks import Workspace
from bot.domain.world import Base
from bot.flow import clarify, elsewhere, mishaps, replies, telling, testing


def decide(session: Session, event: Event) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case Said(text=text) if not session.intent.body:
            session.intent = Intent(id=session.short, body=text, created_at=event.at)
            session.say(Speaker.USER, text, event.at)
            yield from telling.requested(session)
        case Begun():
            _begun(session, event)
            yield from telling.requested(session)
        case Said(text=text) if session.vague:
            yield from clarify.specified(session, event, text)
        case Pressed(verb=Verb.ANSWER, answers=answers) if answers and session.vague:
            yield from clarify.specified(session, event, "\n".join(answers.values()))
        case Said(text=text):
            yield from replies.noted(session, event, text)
        case Surveyed():
            _begin(session, event)
            yield telling.received(session)
        case Scanned(scan=scan):
            session.scan = scan
            testing.scanned(session, scan)
        case QuestionsFound():
            yield from _understood(session, event)
        case Pressed(verb=Verb.SPLIT | Verb.WHOLE | Verb.THERE | Verb.HERE):
            yield from _chosen(session, event)
        case SessionOpened() | PassedOn():
            yield from elsewhere.arrived(session, event)
        case OrderFailed(what="pass_on"):
            yield from _not_passed_on(session, event)
        case OrderFailed():
            yield from mishaps.give_way(session, event)
        case Pressed():
            yield telling.stale(session, event)
        case _:
            pass


EDITED = "I have read your edited request, and plan with what it says now."
EDITED_LATER = (
    "You edited a message that I have read already. I go on with what it said before. "
    "If something should be different, write it here as a new message."
)


def edited(session: Session, event: Edited) -> Iterator[Deed]:
    """Until the plan is written a request may be edited; of any other edit its author learns how to ask for a change."""
    early = session.phase in (Phase.INTAKE, Phase.CLARIFYING) and not session.over
    is_request = event.of == session.request_id and event.text.strip()
    if not (early and is_request):
        yield telling.to(event.by, f"edited:{event.of}", EDITED_LATER)
        return
    if event.text == session.intent.body:
        return
    if session.vague:
        yield from clarify.specified(session, event, event.text)
        return
    session.intent = session.intent.model_copy(update={"body": event.text})
    session.say(Speaker.USER, f"I have edited my request. It now says:\n{event.text}", event.at)
    yield from telling.requested(session)
    yield telling.privately(event, EDITED)


def _not_passed_on(session: Session, event: OrderFailed) -> Iterator[Deed]:
    session.going = None
    yield telling.news(
        f"not-passed-on:{event.id}",
        "It cannot go on there.",
        event.reason,
        event.remedy,
        tone=Tone.FAILURE,
    )
    yield telling.earlier(session)


def _begun(session: Session, event: Begun) -> None:
    """By another session, or from the registry: what it was begun with stands in place of somebody's words."""
    session.intent = event.intent or Intent(
        id=session.short,
        title=event.title,
        body=event.text,
        parent=event.parent,
        created_at=event.at,
    )
    session.say(Speaker.USER, event.text, event.at)


def _begin(session: Session, event: Surveyed) -> None:
    """Fix where the work starts from. The names are chosen here, before anything of them exists."""
    base = event.base
    session.repository = base.repository
    session.base_branch, session.base_commit = base.branch, base.commit
    session.base_uncommitted, session.upstream = base.uncommitted, base.upstream
    session.agent, session.agent_flags = event.agent.agent, event.agent_flags
    session.context_window, session.most_at_once = event.context_window, event.most_at_once
    session.limits, session.hosted = event.limits, event.hosted
    session.unattended = session.unattended or event.unattended
    session.brought = event.brought
    session.sandboxed, session.runs_as = event.sandboxed, event.user
    session.other_agents = event.other_agents
    session.warnings = (*event.agent.warnings, *_under_way(event.base))
    if session.spec is None:
        spec_id = naming.spec_id_from(naming.derived_id(session.id, "spec"))
        branch = f"agent/{spec_id.lower()}"
        workspace = Workspace(
            branch=branch,
            path=naming.worktree_path(session.repository, branch),
            created_at=event.at,
        )
        session.spec = Spec(id=spec_id, workspace=workspace)


def _under_way(base: Base) -> Iterator[str]:
    if base.under_way:
        what = f"{base.under_way[0].upper()}{base.under_way[1:]}"
        yield f"{what} is under way in your checkout. I leave it alone; before I could merge there, it has to be over."


def _understood(session: Session, event: QuestionsFound) -> Iterator[Deed]:
    """Where it shall be carried out is settled before anything is asked about it."""
    clarify.take(session, event)
    if session.spec_only:
        yield from clarify.begin(session, event.at)
    elif event.earlier and session.going is None and session.intent.parent is None:
        session.earlier = event.earlier
        yield telling.earlier(session)
    elif len(event.parts) > 1 and session.going is None and session.intent.parent is None:
        session.parts = elsewhere.parts(session, event)
        yield telling.parts(session)
    else:
        yield from clarify.begin(session, event.at)


def _chosen(session: Session, event: Pressed) -> Iterator[Deed]:
    if session.going is not None or not (session.parts or session.earlier):
        yield telling.stale(session, event)
        return
    wanted = {
        Verb.SPLIT: Going.SPLIT,
        Verb.THERE: Going.ELSEWHERE,
        Verb.WHOLE: Going.HERE,
        Verb.HERE: Going.HERE,
    }
    yield from _go(session, event, wanted[event.verb])


def _go(session: Session, event: Pressed, going: Going) -> Iterator[Deed]:
    offered = Going.ELSEWHERE if session.earlier else Going.SPLIT
    if going not in (offered, Going.HERE):
        yield telling.stale(session, event)
        return
    session.going = Chosen(where=going, by=str(event.by), at=event.at)
    yield telling.earlier(session) if session.earlier else telling.parts(session)
    if going is Going.HERE:
        session.parts, session.earlier = (), None
        yield from clarify.begin(session, event.at)

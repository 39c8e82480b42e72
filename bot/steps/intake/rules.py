"""From the first message to an understood request: where the work starts, and whether one plan is enough."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core import naming
from bot.core.actions import Deed, FindQuestions, OpenSession, Order, PassOn, ScanRepository, Survey
from bot.core.choices import Verb
from bot.core.events import (
    Begun,
    Edited,
    Event,
    EventBase,
    OrderFailed,
    PassedOn,
    Pressed,
    QuestionsFound,
    Said,
    Scanned,
    SessionOpened,
    Surveyed,
)
from bot.core.git import Base
from bot.core.intent import Intent
from bot.core.people import ChosenDestination, Destination, Part
from bot.core.session import Session, Speaker
from bot.core.session_parts import Spec
from bot.core.sheets import Pointer, Text, Tone
from bot.core.states import IntentStatus, Phase, Status
from bot.core.talk import Words
from bot.core.task import Workspace
from bot.steps import messages
from bot.steps.blocked import troubles
from bot.steps.clarify import rules as clarify
from bot.steps.talk import rules as talk
from bot.steps.verify import test_command


def decide(session: Session, event: Event) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case Said(text=text) if not session.intent.body:
            session.intent = Intent(id=session.short, body=text, created_at=event.at)
            session.say(Speaker.USER, text, event.at)
            yield from messages.request_cards(session)
        case Begun():
            _take_request(session, event)
            yield from messages.request_cards(session)
        case Said(text=text) if session.request.vague:
            yield from clarify.add_details(session, event, text)
        case Pressed(verb=Verb.ANSWER, answers=answers) if answers and session.request.vague:
            yield from clarify.add_details(session, event, "\n".join(answers.values()))
        case Said(text=text):
            yield from talk.note_for_plan(session, event, text)
        case Surveyed():
            _take_survey(session, event)
            yield messages.received(session)
        case Scanned(scan=scan):
            session.repository.scan = scan
            test_command.take_scan(session, scan)
        case QuestionsFound():
            yield from _understood(session, event)
        case Pressed(verb=Verb.SPLIT | Verb.WHOLE | Verb.THERE | Verb.HERE):
            yield from _destination_chosen(session, event)
        case SessionOpened() | PassedOn():
            yield from part_arrived(session, event)
        case OrderFailed(what="pass_on"):
            yield from _not_passed_on(session, event)
        case OrderFailed():
            yield from troubles.fail_on_refusal(session, event)
        case Pressed():
            yield messages.stale_press(session, event)
        case _:
            pass


EDITED = "I have read your edited request, and plan with what it says now."
EDITED_LATER = (
    "You edited a message that I have read already. I go on with what it said before. "
    "If something should be different, write it here as a new message."
)


def edited(session: Session, event: Edited) -> Iterator[Deed]:
    """Take an edit of the request until the plan is written.

    Any other edit is answered with how to ask for a change.
    """
    early = session.phase in (Phase.INTAKE, Phase.CLARIFYING) and not session.over
    is_request = event.of == session.request.event_id and event.text.strip()
    if not (early and is_request):
        yield messages.whisper_to(event.by, f"edited:{event.of}", EDITED_LATER)
        return
    if event.text == session.intent.body:
        return
    if session.request.vague:
        yield from clarify.add_details(session, event, event.text)
        return
    session.intent = session.intent.model_copy(update={"body": event.text})
    session.say(Speaker.USER, f"I have edited my request. It now says:\n{event.text}", event.at)
    yield from messages.request_cards(session)
    yield messages.private_reply(event, EDITED)


def _not_passed_on(session: Session, event: OrderFailed) -> Iterator[Deed]:
    session.request.destination = None
    yield messages.news(
        f"not-passed-on:{event.id}",
        "It cannot go on there.",
        event.reason,
        event.remedy,
        tone=Tone.FAILURE,
    )
    yield messages.earlier_session(session)


def _take_request(session: Session, event: Begun) -> None:
    """Take the request of a session that another session or the registry started, in place of a message."""
    session.intent = event.intent or Intent(
        id=session.short,
        title=event.title,
        body=event.text,
        parent=event.parent,
        created_at=event.at,
    )
    session.say(Speaker.USER, event.text, event.at)


def _take_survey(session: Session, event: Surveyed) -> None:
    """Take the survey's result, and choose all names before anything is created."""
    base = event.base
    session.repository.path = base.repository
    session.repository.base_branch, session.repository.base_commit = base.branch, base.commit
    session.repository.uncommitted, session.repository.upstream = base.uncommitted, base.upstream
    session.agents.default, session.agents.flags = event.agent.agent, event.agent_flags
    session.llm.context_window, session.agents.most_at_once = (
        event.context_window,
        event.most_at_once,
    )
    session.agents.limits, session.pulls.host = event.limits, event.hosted
    session.request.unattended = session.request.unattended or event.unattended
    session.repository.agent_settings = event.brought
    session.agents.sandboxed, session.agents.runs_as = event.sandboxed, event.user
    session.agents.others = event.other_agents
    session.repository.warnings = (*event.agent.warnings, *_git_under_way(event.base))
    if session.plan.spec is None:
        spec_id = naming.spec_id_from(naming.derived_id(session.id, "spec"))
        branch = f"agent/{spec_id.lower()}"
        workspace = Workspace(
            branch=branch,
            path=naming.worktree_path(session.repository.path, branch),
            created_at=event.at,
        )
        session.plan.spec = Spec(id=spec_id, workspace=workspace)


def _git_under_way(base: Base) -> Iterator[str]:
    if base.under_way:
        what = f"{base.under_way[0].upper()}{base.under_way[1:]}"
        yield f"{what} is under way in your checkout. I leave it alone; before I could merge there, it has to be over."


def _understood(session: Session, event: QuestionsFound) -> Iterator[Deed]:
    # Where the request is carried out is settled before its questions are asked.
    clarify.take_questions(session, event)
    if session.request.spec_only:
        yield from clarify.begin(session, event.at)
    elif event.earlier and session.request.destination is None and session.intent.parent is None:
        session.request.earlier = event.earlier
        yield messages.earlier_session(session)
    elif (
        len(event.parts) > 1
        and session.request.destination is None
        and session.intent.parent is None
    ):
        session.request.parts = parts_of(session, event)
        yield messages.parts(session)
    else:
        yield from clarify.begin(session, event.at)


def _destination_chosen(session: Session, event: Pressed) -> Iterator[Deed]:
    if session.request.destination is not None or not (
        session.request.parts or session.request.earlier
    ):
        yield messages.stale_press(session, event)
        return
    wanted = {
        Verb.SPLIT: Destination.SPLIT,
        Verb.THERE: Destination.ELSEWHERE,
        Verb.WHOLE: Destination.HERE,
        Verb.HERE: Destination.HERE,
    }
    yield from _continue_there(session, event, wanted[event.verb])


def _continue_there(session: Session, event: Pressed, going: Destination) -> Iterator[Deed]:
    offered = Destination.ELSEWHERE if session.request.earlier else Destination.SPLIT
    if going not in (offered, Destination.HERE):
        yield messages.stale_press(session, event)
        return
    session.request.destination = ChosenDestination(where=going, by=str(event.by), at=event.at)
    yield messages.earlier_session(session) if session.request.earlier else messages.parts(session)
    if going is Destination.HERE:
        session.request.parts, session.request.earlier = (), None
        yield from clarify.begin(session, event.at)


# Work that continues in another session: parts of a large request, a new request after the end, more of an earlier one.


def parts_of(session: Session, event: QuestionsFound) -> tuple[Part, ...]:
    """Return the parts with ids derived from this session's, so that opening them is idempotent."""
    return tuple(
        Part(
            session=naming.derived_id(session.id, "part", str(number)),
            title=part.title,
            body=part.body,
            by=session.owner,
        )
        for number, part in enumerate(event.parts, 1)
    )


def new_request(session: Session, words: Words) -> Part:
    """Return a new request made in the thread of a finished session."""
    first_line = words.text.strip().partition("\n")[0]
    return Part(
        session=naming.derived_id(session.id, "wish", words.id),
        title=first_line[:72],
        body=words.text,
        by=words.by,
        child=False,
    )


def part_arrived(session: Session, event: SessionOpened | PassedOn) -> Iterator[Deed]:
    """Record an opened part. After the last one, this session has nothing left to do."""
    if isinstance(event, SessionOpened):
        session.request.parts = tuple(
            part.model_copy(update={"thread": event.thread})
            if part.session == event.session
            else part
            for part in session.request.parts
        )
        yield messages.parts(session)
        if any(part.thread is None for part in session.request.parts):
            return
    yield from _complete_elsewhere(session, event)


def part_not_opened(session: Session, event: OrderFailed) -> None:
    """Drop a part that could not be opened; only the others are retried."""
    session.request.parts = tuple(
        part
        for part in session.request.parts
        if event.answers != OpenSession(session=part.session).key
    )


def part_opened(session: Session, event: SessionOpened) -> Iterator[Deed]:
    """Tell where a new request has its own thread."""
    for part in session.request.parts:
        if part.session == event.session and part.thread is None:
            pointer = Pointer(text=part.title, thread=event.thread)
            yield messages.answer_card(
                f"opened:{part.session}", "That is a session of its own now", pointer
            )
    session.request.parts = tuple(
        part for part in session.request.parts if part.session != event.session
    )


def _complete_elsewhere(session: Session, event: EventBase) -> Iterator[Deed]:
    """Complete this session without failure: its intent is carried out elsewhere."""
    for status in (IntentStatus.APPROVED, IntentStatus.EXECUTING, IntentStatus.DONE):
        session.set_intent_status(status)
    session.enter(Phase.FINISHING)
    session.enter(Phase.DONE)
    session.become(Status.COMPLETED)
    session.ending.summary = ""
    session.say(Speaker.SYSTEM, "Carried out in other sessions", event.at)
    if session.request.earlier:
        text = f"This goes on in the session “{session.request.earlier.title}”."
    else:
        text = f"{len(session.request.parts)} sessions carry this out; each asks and reports in its own thread."
    yield messages.answer_card(
        "elsewhere", "Over to other sessions", Text(text=text), tone=Tone.SUCCESS
    )


# Orders until the request is understood.


def due(session: Session) -> Iterator[Order]:
    going = session.request.destination
    if not session.repository.base_commit:
        yield Survey()
    elif session.repository.scan is None:
        yield ScanRepository()
    elif not session.request.questions_asked:
        yield FindQuestions()
    elif going and going.where is Destination.SPLIT:
        yield from sessions_to_open(session)
    elif going and going.where is Destination.ELSEWHERE and session.request.earlier:
        yield PassOn(session=session.request.earlier.session)


def sessions_to_open(session: Session) -> Iterator[Order]:
    for part in session.request.parts:
        if part.thread is None:
            yield OpenSession(session=part.session)

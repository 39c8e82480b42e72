"""What the bot decides.

`decide` changes the session according to an event and returns what to do once; `due` returns, from the state alone, the
orders that must be under way. Both are pure. The rules of each phase are in the folder of its step; the table STEPS
names them.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.core.actions import Deed, LookAtBase, Order, ReadAnswers
from bot.core.events import Continued, Edited, Event, OrderFailed, Result, RunStopped, Said
from bot.core.looks import MOST_KEPT
from bot.core.session import Session
from bot.core.states import Phase, Status
from bot.steps import plan
from bot.steps.approve import rules as approve
from bot.steps.blocked import troubles
from bot.steps.clarify import rules as clarify
from bot.steps.control import rules as control
from bot.steps.execute import rules as execute
from bot.steps.finish import afterwards
from bot.steps.finish import rules as finish
from bot.steps.intake import rules as intake
from bot.steps.specify import rules as specify
from bot.steps.talk import rules as talk

OBSERVED = "observe"
"""In place of an order's kind: the bot noticed it while looking around."""
STEPS = {
    Phase.INTAKE: intake.decide,
    Phase.CLARIFYING: clarify.decide,
    Phase.SPECIFYING: specify.decide,
    Phase.APPROVING: approve.decide,
    Phase.EXECUTING: execute.decide,
    Phase.FINISHING: finish.decide,
    Phase.DONE: afterwards.decide,
}


def decide(session: Session, event: Event) -> list[Deed]:
    """Change the session according to the event; return what to do once."""
    if isinstance(event, Continued) and not session.over:
        # the session is going on already, so this is a message like any other
        event = Said(id=event.id, at=event.at, by=event.by, text=event.text)
    deeds = list(talk.attachment_problems(event))
    event = talk.with_attachments(event)
    session.updated_at = max(session.updated_at, event.at)
    if isinstance(event, Result):
        session.usage += event.usage
        if event.looks:
            session.repository.looks = (*session.repository.looks, *event.looks)[-MOST_KEPT:]
        session.llm.learn_scale(event.usage)
        deeds += troubles.warn_truncated_prompts(session, event.usage)
        deeds += troubles.tell_of_fallback(session, event.usage)
        if not _is_result_due(session, event):
            return deeds
    before = {task.id: task.state for task in session.tasks}
    if isinstance(event, Edited):
        deeds += intake.edited(session, event)
    elif control.concerns(session, event):
        deeds += control.decide(session, event)
    else:
        deeds += STEPS[session.phase](session, event)
    talk.note_speaker(session, event)
    plan.update_place(session, event.at)
    plan.update_waiting_time(session, event.at)
    if session.control.troubles:
        deeds += troubles.drop_obsolete_troubles(session, {order.key for order in due(session)})
    return list(talk.filter_by_verbosity(session, deeds, before, event))


def _is_result_due(session: Session, event: Result) -> bool:
    """Whether the result's order is still due.

    A late or repeated result adds its cost to the usage and changes nothing else.
    """
    if isinstance(event, RunStopped):  # it is the result of a deed
        return True
    if isinstance(event, OrderFailed) and event.what == OBSERVED:
        return True
    return any(order.key == event.answers for order in due(session))


def is_held_back(session: Session, event: Event) -> bool:
    """Whether the event must wait: while a session is paused, only control events are decided."""
    return control.holds_back(session, event)


def due(session: Session) -> Iterator[Order]:
    """Yield every order that the state demands, including those already under way."""
    if session.over:
        yield from afterwards.due(session)
    if session.status in (Status.ACTIVE, Status.QUEUED):
        yield from _due_in_phase(session)
        yield from talk.due(session)


def _due_in_phase(session: Session) -> Iterator[Order]:
    match session.phase:
        case Phase.INTAKE:
            yield from intake.due(session)
        case Phase.CLARIFYING:
            if words := talk.next_words(session):
                yield ReadAnswers(words_id=words.id)
        case Phase.SPECIFYING:
            yield from specify.due(session)
        case Phase.APPROVING:
            if session.approval.checking_base:
                yield LookAtBase()
        case Phase.EXECUTING:
            yield from execute.due(session)
        case Phase.FINISHING:
            yield from finish.due(session)
        case Phase.DONE:
            return

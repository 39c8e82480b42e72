"""What the bot decides, one module per step a user sees. Read these files to learn what the bot does.

`decide` changes the session as an event demands and says what is to be done once; `due` says, from the state
alone, what must be under way now. Neither does anything.
"""

from __future__ import annotations

from bot.domain.actions import Deed
from bot.domain.events import Continued, Edited, Event, OrderFailed, Result, RunStopped, Said
from bot.domain.session import Session
from bot.domain.states import Phase
from bot.domain.tokens import scale_from
from bot.flow import (
    afterwards,
    approve,
    attached,
    clarify,
    control,
    execute,
    finish,
    intake,
    limits,
    listeners,
    mishaps,
    place,
    specify,
)
from bot.flow.due import due

__all__ = ["decide", "due", "held_back"]

OBSERVED = "observe"
"""Not ordered, but seen when the bot looks around."""
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
    """Change the session as the event demands; return what is to be done once."""
    if isinstance(event, Continued) and not session.over:
        # it goes on already: these are words like any others
        event = Said(id=event.id, at=event.at, by=event.by, text=event.text)
    deeds = list(attached.problems(event))
    event = attached.taken_in(event)
    session.updated_at = max(session.updated_at, event.at)
    if isinstance(event, Result):
        session.usage += event.usage
        session.token_scale = scale_from(event.usage, session.token_scale)
        deeds += mishaps.prompts_cut(session, event.usage)
        if not _is_waited_for(session, event):
            return deeds
    before = {task.id: task.state for task in session.tasks}
    if isinstance(event, Edited):
        deeds += intake.edited(session, event)
    elif control.concerns(session, event):
        deeds += control.decide(session, event)
    else:
        deeds += STEPS[session.phase](session, event)
    listeners.heard(session, event)
    place.settle(session, event.at)
    limits.count_waiting(session, event.at)
    if session.troubles:
        deeds += mishaps.no_longer_due(session, {order.key for order in due(session)})
    return list(listeners.loud_enough(session, deeds, before, event))


def _is_waited_for(session: Session, event: Result) -> bool:
    """What answers an order that is no longer due comes late, or twice: it has its cost, and changes nothing."""
    if isinstance(event, RunStopped):  # answers a deed
        return True
    if isinstance(event, OrderFailed) and event.what == OBSERVED:
        return True
    return any(order.key == event.answers for order in due(session))


def held_back(session: Session, event: Event) -> bool:
    """Whether an event must wait: while a session is paused, only control events are decided on."""
    return control.holds_back(session, event)

"""What the bot decides, one module per step a user sees. Read these files to learn what the bot does.

`decide` changes the session as an event demands and says what is to be done once; `due` says, from the state
alone, what must be under way now. Neither does anything.
"""

from __future__ import annotations

from bot.domain.actions import Deed
from bot.domain.events import Event
from bot.domain.session import Session
from bot.domain.states import Phase
from bot.flow import afterwards, approve, clarify, control, execute, finish, intake, place, specify
from bot.flow.due import due

__all__ = ["decide", "due", "held_back"]

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
    session.updated_at = max(session.updated_at, event.at)
    if control.concerns(session, event):
        deeds = list(control.decide(session, event))
    else:
        session.usage += control.usage_of(event)
        deeds = list(STEPS[session.phase](session, event))
    place.settle(session, event.at)
    return deeds


def held_back(session: Session, event: Event) -> bool:
    """Whether an event must wait: while a session is paused, only control events are decided on."""
    return control.holds_back(session, event)

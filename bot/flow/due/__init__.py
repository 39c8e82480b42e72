"""What must be under way now, judged by the state alone.

The actor compares this with what is under way: what lacks is started, what is no longer due is called off. So normal
work, resuming, and recovery after a crash are the same road.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import LookAtBase, Order, ReadAnswers
from bot.domain.session import Session
from bot.domain.states import Phase, Status
from bot.flow import replies
from bot.flow.due.planning import over, specifying, talking, understanding
from bot.flow.due.working import executing, finishing, unmerged

__all__ = ["due", "unmerged"]


def due(session: Session) -> Iterator[Order]:
    """Every order the state demands, the ones already under way included."""
    if session.over:
        yield from over(session)
    if session.status in (Status.ACTIVE, Status.QUEUED):
        yield from _of_phase(session)
        yield from talking(session)


def _of_phase(session: Session) -> Iterator[Order]:
    match session.phase:
        case Phase.INTAKE:
            yield from understanding(session)
        case Phase.CLARIFYING:
            if words := replies.next_words(session):
                yield ReadAnswers(words_id=words.id)
        case Phase.SPECIFYING:
            yield from specifying(session)
        case Phase.APPROVING:
            if session.recheck:
                yield LookAtBase()
        case Phase.EXECUTING:
            yield from executing(session)
        case Phase.FINISHING:
            yield from finishing(session)
        case Phase.DONE:
            return

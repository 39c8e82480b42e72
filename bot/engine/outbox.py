"""What stands in the outbox, and what must not overlap. Pure: lists in, lists out."""

from __future__ import annotations

from collections.abc import Container, Iterable

from bot.domain.actions import (
    Action,
    AwaitRun,
    CleanUp,
    CommitDocuments,
    Deed,
    MergeLocally,
    PrepareWorkspace,
    Show,
    ShowLogs,
    StartRun,
    StopRun,
    Whisper,
)
from bot.domain.events import Event, Result
from bot.domain.session import Session
from bot.flow import due


def fitting(outbox: Iterable[Action], session: Session, inbox: Iterable[Event]) -> list[Action]:
    """No order that is not due; every order that is, unless its result already waits to be decided on."""
    wanted = {order.key: order for order in due(session)}
    kept = [a for a in outbox if isinstance(a, Deed) or a.key in wanted]
    there = {action.key for action in kept}
    there |= {event.answers for event in inbox if isinstance(event, Result)}
    return [*kept, *(order for key, order in wanted.items() if key not in there)]


def left_over(outbox: Iterable[Action]) -> list[Action]:
    """What a life of the bot begins with: a card that was under way in the last one gives way to its newer self, too."""
    newest = {action.key: action for action in outbox}
    return list(newest.values())


def with_deeds(
    outbox: Iterable[Action], deeds: Iterable[Deed], begun: Container[int]
) -> list[Action]:
    """Add deeds. One that still waits for its turn gives way to its newer self. `begun` holds ids of objects."""
    planned = list(outbox)
    for deed in deeds:
        places = (n for n, a in enumerate(planned) if a.key == deed.key and id(a) not in begun)
        waiting = next(places, None)
        if waiting is None:
            planned.append(deed)
        else:
            planned[waiting] = deed
    return planned


def lane_of(action: Action) -> str:
    """What shares a lane goes one after the other: cards of the thread, all that is done to a run, to the branches,
    and whatever was called off before the same thing is begun anew."""
    match action:
        case Show() | Whisper() | ShowLogs():
            return "thread"
        case PrepareWorkspace() | StartRun() | AwaitRun() | StopRun():
            return action.run_id
        case CommitDocuments() | MergeLocally() | CleanUp():
            return "branches"
        case _:
            return action.key

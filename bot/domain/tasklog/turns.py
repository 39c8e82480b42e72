"""A session told in turns, as other programs know them: what set each off, and how it ended. Drawn from its events, never kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from pydantic import AwareDatetime

from bot.domain.choices import Verb, Word
from bot.domain.events import (
    Begun,
    Broke,
    Commanded,
    Continued,
    Event,
    FromPerson,
    Pressed,
    RunEnded,
    RunStarted,
    Said,
    Woken,
)
from bot.domain.exported import Stand, Step
from bot.domain.facts import Fact
from bot.domain.states import Status
from bot.domain.tasklog.form import RunStatus
from bot.domain.tasklog.indexes import BACKGROUND, MAIN, SYSTEM


class RunTrigger(StrEnum):
    USER_INPUT = "USER_INPUT"
    USER_RESPONSE = "USER_RESPONSE"
    CONTINUATION = "CONTINUATION"
    EXECUTOR = "EXECUTOR"


class Turn(Fact):
    run_id: str
    """run_001, run_002 …"""
    thread_id: str
    session_id: str
    started_at: AwareDatetime
    completed_at: AwareDatetime | None = None
    status: RunStatus
    trigger: RunTrigger


_THREADS = {
    RunTrigger.USER_INPUT: MAIN,
    RunTrigger.USER_RESPONSE: MAIN,
    RunTrigger.CONTINUATION: SYSTEM,
    RunTrigger.EXECUTOR: BACKGROUND,
}


def turns(session_id: str, steps: Sequence[Step]) -> tuple[Turn, ...]:
    """A turn lasts until something sets off the next one."""
    begun = [(at, trigger) for at, step in enumerate(steps) if (trigger := _trigger(step.event))]
    ends = [at for at, _ in begun[1:]] + [len(steps)]
    return tuple(_told(session_id, steps, list(zip(begun, ends, strict=True))))


def _told(
    session_id: str, steps: Sequence[Step], parts: Sequence[tuple[tuple[int, RunTrigger], int]]
) -> Iterator[Turn]:
    for number, ((begin, trigger), end) in enumerate(parts, 1):
        status = _status(steps[begin:end], last=end == len(steps))
        running = status is RunStatus.RUNNING
        yield Turn(
            run_id=f"run_{number:03d}",
            thread_id=_THREADS[trigger],
            session_id=session_id,
            started_at=steps[begin].event.at,
            completed_at=None if running else steps[end - 1].event.at,
            status=status,
            trigger=trigger,
        )


def _trigger(event: Event) -> RunTrigger | None:
    """None: it belongs to the turn under way."""
    match event:
        case Pressed(verb=Verb.MORE) | Continued() | Begun():
            return RunTrigger.CONTINUATION
        case Woken(restarted=True):
            return RunTrigger.CONTINUATION
        case Pressed():
            return RunTrigger.USER_RESPONSE
        case Said() | Commanded():
            return RunTrigger.USER_INPUT
        case RunStarted() | RunEnded():
            return RunTrigger.EXECUTOR
        case _:
            return None


def _status(steps: Sequence[Step], *, last: bool) -> RunStatus:
    stand = steps[-1].stand
    if any(isinstance(step.event, Broke) for step in steps) or stand.status == Status.FAILED:
        return RunStatus.FAILED
    if _called_off(steps[0].event, stand):
        return RunStatus.CANCELLED
    over = stand.status == Status.COMPLETED
    return RunStatus.RUNNING if last and not over else RunStatus.COMPLETED


def _called_off(event: Event, stand: Stand) -> bool:
    stops = (isinstance(event, Pressed) and event.verb in (Verb.STOP, Verb.DISCARD)) or (
        isinstance(event, Commanded) and event.command.word in (Word.STOP, Word.DISCARD)
    )
    return isinstance(event, FromPerson) and stops and stand.status != Status.ACTIVE

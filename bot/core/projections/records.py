"""What is kept of sessions: the record on disk, what is exported of it, the summary that the repository keeps
when it has ended, and repl.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime, Field

from bot.core.actions import Action
from bot.core.events import Event
from bot.core.facts import Fact, Living
from bot.core.projections.task_logs import TaskLogStatus, status_of_log
from bot.core.session import Session
from bot.core.states import IntentStatus, Status, TaskState
from bot.core.task import Task

# What is saved of a session: its state, what it has heard, what it has still to hear, and what it
# has still to do.

REMEMBERED_EVENTS = 500
"""How many ids of people's events are kept, to notice one that comes again."""


class Record(Living):
    session: Session
    inbox: list[Event] = Field(default_factory=list[Event])
    outbox: list[Action] = Field(default_factory=list[Action])
    heard: list[str] = Field(default_factory=list[str])
    """Ids of events that came from outside, the newest last."""


# A session as it is handed to somebody else: how it began, everything it heard, and where each of
# that led.

EXPORT_FORMAT = 1


class SessionStates(Fact):
    """Where a session stands, in states alone."""

    status: str
    phase: str
    tasks: dict[str, str]
    """By key."""
    runs: dict[str, str]
    """By id: state, and outcome."""


class DecidedEvent(Fact):
    """One event that was decided on."""

    event: Event
    stand: SessionStates
    orders: tuple[str, ...] = ()
    """Keys of what had to be under way then."""
    answered: tuple[str, ...] = ()
    """Keys of orders whose answers waited to be heard."""


class EventHistory(Fact):
    start: Record
    """As far back as is known: of a long session the journal was written anew, and its beginning is gone."""
    steps: tuple[DecidedEvent, ...] = ()


class FileMark(Fact):
    name: str
    bytes: int
    sha256: str


class Manifest(Fact):
    """What an archive holds."""

    format: int = EXPORT_FORMAT
    program: str
    session: str
    title: str = ""
    files: tuple[FileMark, ...] = ()


def states_of(session: Session) -> SessionStates:
    runs = [run for task in session.tasks for run in task.runs]
    return SessionStates(
        status=session.status,
        phase=session.phase,
        tasks={task.key: task.state.value for task in session.tasks},
        runs={run.id: f"{run.state} {run.outcome or ''}".strip() for run in runs},
    )


# The summary of an ended session, as it is kept in the repository. It holds nothing of what went
# on inside an agent.


class HistoryOutcome(StrEnum):
    SUCCESS = "success"
    FAILED = "failed"
    ESCALATED = "escalated"
    """It was left to a person: discarded, or only a part of it was done."""


class StepResult(Fact):
    step: str
    result: str
    started_at: AwareDatetime | None = None
    seconds: int | None = None


class History(Fact):
    intent_id: str
    intent_type: str
    intent_risk: str
    title: str
    flow: tuple[str, ...]
    """The steps it went through, and what was adjusted on the way."""
    step_results: tuple[StepResult, ...]
    outcome: HistoryOutcome
    failure_reason: str = ""
    observations: tuple[str, ...] = ()
    """Ids of what its agents noticed."""
    created_at: AwareDatetime


def history_of(session: Session) -> History | None:
    """None: it is not over, or was carried out in other sessions."""
    if not session.over or (session.request.destination and not session.tasks):
        return None
    intent, outcome = session.intent, _outcome(session)
    return History(
        intent_id=intent.id,
        intent_type=intent.type,
        intent_risk=intent.risk or "",
        title=session.title,
        flow=tuple(_flow(session)),
        step_results=tuple(_steps(session)),
        outcome=outcome,
        failure_reason="" if outcome is HistoryOutcome.SUCCESS else _reason(session),
        observations=tuple(id for task in session.tasks for run in task.runs for id in run.noticed),
        created_at=session.updated_at,
    )


def _outcome(session: Session) -> HistoryOutcome:
    if session.status is Status.FAILED or session.intent.status is IntentStatus.ERROR:
        return HistoryOutcome.FAILED
    done = session.status is Status.COMPLETED and session.intent.status is IntentStatus.DONE
    return HistoryOutcome.SUCCESS if done else HistoryOutcome.ESCALATED


def _reason(session: Session) -> str:
    if session.control.failure:
        return session.control.failure
    lost = [
        f"{task.key}: {task.blocked or task.state.value}"
        for task in session.tasks
        if task.state in (TaskState.FAILED, TaskState.BLOCKED, TaskState.CANCELLED)
    ]
    why = "discarded" if session.status is Status.DISCARDED else ""
    return "; ".join(part for part in (why, *lost) if part) or session.status.lower()


def _flow(session: Session) -> Iterator[str]:
    yield "intake"
    if count := len(session.intent.clarifications):
        yield f"clarify ({count} asked)"
    if session.plan.spec and (session.plan.documents or session.plan.spec.revision > 1):
        yield f"specify (revision {session.plan.spec.revision})"
    if session.approval.granted:
        yield f"approve (revision {session.approval.granted.revision})"
    yield from (f"{task.type.value} {task.key}" for task in session.tasks)
    adjusted = (
        (session.plan.repairs, "plan repaired"),
        (session.plan.changes, "changed on the way"),
        (session.control.stops, "stopped"),
        (session.ending.rounds, "continued"),
        (sum(task.state is TaskState.REPLACED for task in session.tasks), "cut into smaller tasks"),
    )
    yield from (f"{what} ({count}x)" for count, what in adjusted if count)
    if session.ending.choice:
        yield session.ending.choice.value


def _steps(session: Session) -> Iterator[StepResult]:
    if session.approval.granted:
        planned = int((session.approval.granted.at - session.created_at).total_seconds())
        yield StepResult(
            step="plan", result="approved", started_at=session.created_at, seconds=max(0, planned)
        )
    for task in session.tasks:
        yield StepResult(
            step=f"{task.key} {task.name}",
            result=f"{task.state.value}{_run_count(task)}",
            started_at=task.started_at,
            seconds=_seconds(task),
        )


def _run_count(task: Task) -> str:
    return f", {len(task.runs)} runs" if len(task.runs) > 1 else ""


def _seconds(task: Task) -> int | None:
    if task.started_at is None or task.completed_at is None:
        return None
    return max(0, int((task.completed_at - task.started_at).total_seconds()))


# What stands in repl.json, and how it follows the tasks of the console's sessions.

E105 = "E105"
"""The code of a repl.json that cannot be read."""


class ReplState(Fact):
    """All that stands in repl.json: these five keys and no other."""

    selected_provider: Literal["claude-code", "openai", "anthropic"] | None
    selected_model: str | None = Field(min_length=1)
    updated_at: AwareDatetime | None
    current_task_id: str | None = Field(min_length=1)
    last_task_id: str | None = Field(min_length=1)

    @classmethod
    def first(cls) -> ReplState:
        return cls(
            selected_provider=None,
            selected_model=None,
            updated_at=None,
            current_task_id=None,
            last_task_id=None,
        )


_LOG_ENDED = (TaskLogStatus.COMPLETE, TaskLogStatus.INCOMPLETE, TaskLogStatus.ERROR)


def repl_after_decision(state: ReplState, before: Session, after: Session) -> ReplState:
    """What a decision has made of the tasks. Whatever went wrong with it: what does not run is not current."""
    current, last = state.current_task_id, state.last_task_id
    for task in after.tasks:
        was = before.task(task.id)
        before_it = status_of_log(before, was) if was else TaskLogStatus.QUEUED
        now = status_of_log(after, task)
        if now in _LOG_ENDED and before_it not in _LOG_ENDED:
            last = task.id
        if _runs(after, task):
            if not (was and _runs(before, was)):
                current = task.id
            last = None if last == task.id else last
        elif current == task.id:
            current = None
    if current is None:
        current = next((task.id for task in after.tasks if _runs(after, task)), None)
    return state.model_copy(update={"current_task_id": current, "last_task_id": last})


def repl_after_restart(state: ReplState, awake: Iterable[Session]) -> ReplState:
    """At a start: what was running may have ended in the meantime, or its session may be gone."""
    sessions = tuple(awake)
    running = [task.id for one in sessions for task in one.tasks if _runs(one, task)]
    current, last = state.current_task_id, state.last_task_id
    if current not in running:
        if current and any(_has_ended(one, current) for one in sessions):
            last = current
        current = running[-1] if running else None
    last = None if last in running else last
    return state.model_copy(update={"current_task_id": current, "last_task_id": last})


def _runs(session: Session, task: Task) -> bool:
    at_work = session.status is Status.ACTIVE
    return at_work and status_of_log(session, task) is TaskLogStatus.RUNNING


def _has_ended(session: Session, task_id: str) -> bool:
    task = session.task(task_id)
    return task is not None and status_of_log(session, task) in _LOG_ENDED

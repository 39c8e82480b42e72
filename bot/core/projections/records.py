"""What is stored of sessions: the record on disk, what is exported of it, the summary kept in the repository at the
end, and repl.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime, Field

from bot.core.actions import Action
from bot.core.cards import AnswerCard
from bot.core.events import Commanded, Event
from bot.core.facts import Fact, MutableModel
from bot.core.people import Thread
from bot.core.projections.task_logs import TaskLogStatus, status_of_log
from bot.core.session import Session
from bot.core.states import IntentStatus, Status, TaskState
from bot.core.task import Task

# The saved record of a session: its state, the events it has heard, those it still has to decide on, and the actions
# still to do.

REMEMBERED_EVENTS = 500
"""How many ids of people's events are kept to detect duplicates."""


class Record(MutableModel):
    session: Session
    inbox: list[Event] = Field(default_factory=list[Event])
    outbox: list[Action] = Field(default_factory=list[Action])
    heard: list[str] = Field(default_factory=list[str])
    """Ids of events from outside, newest last."""


# Questions of people that are under way and belong to no session's record.


class AskedQuestion(Fact):
    thread: Thread
    event: Commanded
    resumed: bool = False
    """The bot ended while it looked for the answer, and has begun again."""
    answer: AnswerCard | None = None
    """The answer, until it is shown."""


class AskedQuestions(MutableModel):
    open: dict[str, AskedQuestion] = Field(default_factory=dict[str, AskedQuestion])
    """By the id of the event."""
    answered: list[str] = Field(default_factory=list[str])
    """Ids of the last questions that were answered, newest last."""


# The export of a session: its start, every event it heard, and the states and orders that followed from each.

EXPORT_FORMAT = 1


class SessionStates(Fact):
    """The states of a session, its tasks and its runs."""

    status: str
    phase: str
    tasks: dict[str, str]
    """By the task's key."""
    runs: dict[str, str]
    """By the run's id: state and outcome."""


class DecidedEvent(Fact):
    """One decided event."""

    event: Event
    stand: SessionStates
    orders: tuple[str, ...] = ()
    """Keys of the orders that were due then."""
    answered: tuple[str, ...] = ()
    """Keys of orders whose results waited in the inbox."""


class EventHistory(Fact):
    start: Record
    """The earliest known record. The journal of a long session is compacted, which drops its beginning."""
    steps: tuple[DecidedEvent, ...] = ()


class FileMark(Fact):
    name: str
    bytes: int
    sha256: str


class Manifest(Fact):
    """What an archive contains."""

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


# The summary of an ended session, as it is kept in the repository. It contains nothing of what happened inside an
# agent.


class HistoryOutcome(StrEnum):
    SUCCESS = "success"
    FAILED = "failed"
    ESCALATED = "escalated"
    """Left to a person: discarded, or only partly done."""


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
    """Return the summary, or `None` if the session is not over or was carried out in other sessions."""
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


# The contents of repl.json, and how they follow the tasks of the console's sessions.

E105 = "E105"
"""The error code of an unreadable repl.json."""


class ReplState(Fact):
    """The complete contents of repl.json: these five keys and no others."""

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
    """Return the state after a decision.

    A task that does not run is never the current one, whatever went wrong with it.
    """
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


def repl_after_restart(state: ReplState, live_sessions: Iterable[Session]) -> ReplState:
    """Return the state at the start of the bot: a running task may have ended meanwhile, or its session may be gone."""
    sessions = tuple(live_sessions)
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

"""The summary of an ended session, as it is kept in the repository. What went on inside an agent is no part of it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from pydantic import AwareDatetime

from bot.domain.facts import Fact
from bot.domain.session import Session
from bot.domain.states import IntentStatus, Status, TaskState
from bot.domain.tasks import Task


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
    if not session.over or (session.going and not session.tasks):
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
    if session.failure:
        return session.failure
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
    if session.spec and (session.documents or session.spec.revision > 1):
        yield f"specify (revision {session.spec.revision})"
    if session.approval:
        yield f"approve (revision {session.approval.revision})"
    yield from (f"{task.type.value} {task.key}" for task in session.tasks)
    adjusted = (
        (session.repairs, "plan repaired"),
        (session.changes, "changed on the way"),
        (session.stops, "stopped"),
        (session.continues, "continued"),
        (sum(task.state is TaskState.REPLACED for task in session.tasks), "cut into smaller tasks"),
    )
    yield from (f"{what} ({count}x)" for count, what in adjusted if count)
    if session.ending:
        yield session.ending.value


def _steps(session: Session) -> Iterator[StepResult]:
    if session.approval:
        planned = int((session.approval.at - session.created_at).total_seconds())
        yield StepResult(
            step="plan", result="approved", started_at=session.created_at, seconds=max(0, planned)
        )
    for task in session.tasks:
        yield StepResult(
            step=f"{task.key} {task.name}",
            result=f"{task.state.value}{_tries(task)}",
            started_at=task.started_at,
            seconds=_seconds(task),
        )


def _tries(task: Task) -> str:
    return f", {len(task.runs)} runs" if len(task.runs) > 1 else ""


def _seconds(task: Task) -> int | None:
    if task.started_at is None or task.completed_at is None:
        return None
    return max(0, int((task.completed_at - task.started_at).total_seconds()))

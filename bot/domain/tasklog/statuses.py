"""How a task and its run stand, in the words of the logs."""

from __future__ import annotations

from typing import NamedTuple

from bot.domain.dialogs import DialogKind
from bot.domain.results import status_of
from bot.domain.session import Session
from bot.domain.states import Outcome, OverallStatus, Phase, TaskState
from bot.domain.tasklog.form import (
    BlockedReason,
    RunStatus,
    SessionPhase,
    TaskLogStatus,
    TerminatedBy,
)
from bot.domain.tasks import Run, Task
from bot.domain.world import CompletionSource

OVER = (TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELLED, TaskState.REPLACED)
_CARRIED_OUT = (Phase.EXECUTING, Phase.FINISHING, Phase.DONE)
_QUEUED = (TaskState.PENDING, TaskState.READY)
_PHASES = {
    Phase.INTAKE: SessionPhase.REQUIREMENT_ANALYSIS,
    Phase.CLARIFYING: SessionPhase.REQUIREMENT_ANALYSIS,
    Phase.SPECIFYING: SessionPhase.TASK_DECOMPOSITION,
    Phase.APPROVING: SessionPhase.PLANNING,
    Phase.EXECUTING: SessionPhase.EXECUTION,
    Phase.FINISHING: SessionPhase.COMPLETION_VALIDATION,
    Phase.DONE: SessionPhase.REPORT,
}
_AT_WORK = (TaskState.READY, TaskState.RUNNING, TaskState.NEEDS_CONTINUATION)


class Blocked(NamedTuple):
    """How an agent came to stand still."""

    reason: BlockedReason
    by: TerminatedBy | None
    """Who ended it; none: nobody has."""
    milliseconds: int


def is_logged(session: Session, task: Task) -> bool:
    """A plan that nobody has approved has no logs yet; a task that is over always has one."""
    return session.phase in _CARRIED_OUT or task.state is not TaskState.PENDING or bool(task.runs)


def status_of_log(session: Session, task: Task) -> TaskLogStatus:
    """Complete is what was verified; what is only said to be done is incomplete."""
    if task.state in _QUEUED:
        return TaskLogStatus.QUEUED
    if task.state not in (*OVER, TaskState.BLOCKED):
        return TaskLogStatus.RUNNING
    match status_of(session, task):
        case OverallStatus.COMPLETE if task.state is TaskState.COMPLETED:
            return TaskLogStatus.COMPLETE
        case OverallStatus.ERROR | OverallStatus.INVALID if task.state is not TaskState.REPLACED:
            return TaskLogStatus.ERROR
        case _:
            return TaskLogStatus.INCOMPLETE


def phase_of(session: Session) -> SessionPhase:
    """Where all that is under way is being tested, that is what is done."""
    if session.phase is Phase.EXECUTING and not session.in_state(*_AT_WORK):
        tested = session.in_state(TaskState.VERIFYING, TaskState.INTEGRATING)
        return SessionPhase.QA if tested else SessionPhase.EXECUTION
    return _PHASES[session.phase]


def run_status(run: Run) -> RunStatus:
    if run.outcome is None:
        return RunStatus.RUNNING
    told = {Outcome.FINISHED: RunStatus.COMPLETED, Outcome.KILLED: RunStatus.CANCELLED}
    return told.get(run.outcome, RunStatus.FAILED)


def blocked_run(run: Run | None) -> Blocked | None:
    """An agent that waits for a person, or was ended because nobody came."""
    if run is None:
        return None
    stood = int(((run.ended_at or run.started_at) - run.started_at).total_seconds() * 1000)
    if run.outcome is Outcome.TIMED_OUT:
        return Blocked(BlockedReason.TIMEOUT, TerminatedBy.TIMEOUT, max(0, stood))
    waits = run.alive and run.dialog is not None
    if run.outcome is not Outcome.BLOCKED and not waits:
        return None
    words = run.dialog is not None and run.dialog.kind is DialogKind.WORDS
    reason = BlockedReason.STDIN_REQUIRED if words else BlockedReason.INTERACTIVE_PROMPT
    stopped = run.ended_by is CompletionSource.STOPPED
    by = TerminatedBy.USER if stopped else TerminatedBy.REPL_FAIL_CLOSED
    return Blocked(reason, None if waits else by, max(0, stood))

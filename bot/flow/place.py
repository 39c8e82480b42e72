"""The repository's place: one executing session per repository, first come first served.

It is wanted while some task can move without a person, and let go as soon as none can.
"""

from __future__ import annotations

from pydantic import AwareDatetime

from bot.domain.session import Session
from bot.domain.states import Phase, Status, TaskState
from bot.domain.tasks import Task

MOVING = frozenset(
    {
        TaskState.READY,
        TaskState.RUNNING,
        TaskState.VERIFYING,
        TaskState.NEEDS_CONTINUATION,
        TaskState.INTEGRATING,
    }
)
HOLDABLE = MOVING | {TaskState.PENDING}
"""What can be held for a change."""
_TO_BE_STARTED = frozenset({TaskState.PENDING, TaskState.READY, TaskState.NEEDS_CONTINUATION})
MOST_CONTINUES = 10
"""Rounds in one session."""
SETTLED = frozenset({TaskState.COMPLETED, TaskState.CANCELLED, TaskState.REPLACED})


def settle(session: Session, at: AwareDatetime) -> None:
    """Ask for the place, or let it go, as the tasks demand."""
    alive = session.status in (Status.ACTIVE, Status.QUEUED)
    if not alive or session.phase is not Phase.EXECUTING or not can_move(session):
        let_go(session)
        if session.status is Status.QUEUED:
            session.become(Status.ACTIVE)
    elif session.wants_place_since is None:
        session.wants_place_since = at
        if session.status is Status.ACTIVE:
            session.become(Status.QUEUED)


def let_go(session: Session) -> None:
    session.wants_place_since = None
    session.has_place = False
    session.queue_position, session.queue_waiting = None, 0


def can_move(session: Session) -> bool:
    """Whether some task can go on without a person."""
    return any(_moves(session, task) for task in session.tasks)


def _moves(session: Session, task: Task) -> bool:
    if task.taken_by or (task.state is TaskState.INTEGRATING and task.problem):
        return False  # it waits for a person
    if task.state in _TO_BE_STARTED and keeps_waiting(session, task):
        return False  # it waits for time to pass
    if task.state is TaskState.PENDING:
        return is_free(session, task)
    return task.state in MOVING


def keeps_waiting(session: Session, task: Task) -> bool:
    """Its agent's account has nothing left: that is known from whichever task met it first."""
    agent = task.agent or session.agent
    return not task.taking_in and any(
        waits_for_account(other) and (other.agent or session.agent) == agent
        for other in session.tasks
    )


def waits_for_account(task: Task) -> bool:
    return task.state is TaskState.NEEDS_CONTINUATION and task.not_before is not None


def is_free(session: Session, task: Task) -> bool:
    """Whether everything the task depends on is done."""
    predecessors = [session.task(id) for id in task.dependencies]
    return all(p is None or p.state is TaskState.COMPLETED for p in predecessors)


def may_begin(session: Session, task: Task) -> bool:
    """A branch of its own starts from the committed plan, on a base that was looked at; one that is there already goes on."""
    committed = session.spec is None or bool(session.spec.commit)
    return (committed and not session.recheck) or bool(
        task.runs and task.workspace and task.workspace.start
    )


def all_settled(session: Session) -> bool:
    return all(task.state in SETTLED for task in session.tasks)

"""The plan as all rules see it: which tasks may go on, which share a branch, and when a new revision begins."""

from __future__ import annotations

from datetime import datetime

from pydantic import AwareDatetime

from bot.core.session import Session
from bot.core.states import Phase, RunState, Status, TaskState
from bot.core.task import PullRequest, Strategy, Task, Workspace, drafts_of

# The repository's slot: one executing session per repository, first come, first served. It is requested while some task
# can go on without a person, and released as soon as none can.

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
"""States in which a task can be held for a change."""
_TO_BE_STARTED = frozenset({TaskState.PENDING, TaskState.READY, TaskState.NEEDS_CONTINUATION})
MAX_ROUNDS = 10
"""Rounds in one session."""
SETTLED = frozenset({TaskState.COMPLETED, TaskState.CANCELLED, TaskState.REPLACED})


def update_place(session: Session, at: AwareDatetime) -> None:
    """Request or release the slot, as the tasks require."""
    alive = session.status in (Status.ACTIVE, Status.QUEUED)
    if not alive or session.phase is not Phase.EXECUTING or not can_move(session):
        release_place(session)
        if session.status is Status.QUEUED:
            session.become(Status.ACTIVE)
    elif session.queue.since is None:
        session.queue.since = at
        if session.status is Status.ACTIVE:
            session.become(Status.QUEUED)


def release_place(session: Session) -> None:
    session.queue.since = None
    session.queue.has_place = False
    session.queue.position, session.queue.waiting = None, 0


def can_move(session: Session) -> bool:
    """Whether some task can go on without a person."""
    return any(_can_go_on(session, task) for task in session.tasks)


def _can_go_on(session: Session, task: Task) -> bool:
    if task.taken_by or (task.state is TaskState.INTEGRATING and task.pull_problem):
        return False  # it waits for a person
    if task.state in _TO_BE_STARTED and is_account_exhausted(session, task):
        return False  # it waits for time to pass
    if task.state is TaskState.PENDING:
        return dependencies_done(session, task)
    return task.state in MOVING


def is_account_exhausted(session: Session, task: Task) -> bool:
    """Whether the account of the task's agent has reached its limit, as any task may have found."""
    agent = task.agent or session.agents.default
    return not task.base_to_merge and any(
        waits_for_account(other) and (other.agent or session.agents.default) == agent
        for other in session.tasks
    )


def waits_for_account(task: Task) -> bool:
    return task.state is TaskState.NEEDS_CONTINUATION and task.next_run.not_before is not None


def dependencies_done(session: Session, task: Task) -> bool:
    predecessors = [session.task(id) for id in task.dependencies]
    return all(p is None or p.state is TaskState.COMPLETED for p in predecessors)


def may_start(session: Session, task: Task) -> bool:
    """Whether the task may start: a new branch starts from the committed plan, on a base that was checked; an existing
    one goes on.
    """
    committed = session.plan.spec is None or bool(session.plan.spec.commit)
    return (committed and not session.approval.checking_base) or bool(
        task.runs and task.workspace and task.workspace.start
    )


def all_settled(session: Session) -> bool:
    return all(task.state in SETTLED for task in session.tasks)


# Tasks that follow each other on one branch and in one worktree share one pull request, opened by the last.

GONE = frozenset({TaskState.CANCELLED, TaskState.REPLACED})
_AT_WORK = frozenset({TaskState.RUNNING, TaskState.VERIFYING, TaskState.NEEDS_CONTINUATION})


def workspace_for(session: Session, task: Task) -> Workspace | None:
    """Return the dependency's workspace if the plan shares it and it is free; `None` if the task needs its own.

    Only chains share: of two dependents, the first one does. Work that already has a pull request is not extended.
    """
    if task.worktree_strategy is not Strategy.SHARED or len(task.dependencies) != 1:
        return None
    predecessor = session.task(task.dependencies[0])
    if predecessor is None or predecessor.workspace is None or predecessor.state in GONE:
        return None
    if predecessor.pull_request or predecessor.state is TaskState.INTEGRATING:
        return None
    if any(other.id != task.id for other in later_on_branch(session, predecessor)):
        return None
    there = predecessor.workspace
    ids = (*there.task_ids, task.id)
    return there.model_copy(update={"task_ids": ids, "start": "", "ready": False})


def later_on_branch(session: Session, task: Task) -> list[Task]:
    """Return the tasks that work on its branch after it."""
    return [
        other
        for other in tasks_on_branch(session, task)
        if other.id != task.id and other.workspace and task.id in other.workspace.task_ids
    ]


def is_last_on_branch(session: Session, task: Task) -> bool:
    """Whether no other task continues its branch, so that it makes the pull request."""
    return not later_on_branch(session, task)


def branch_is_busy(session: Session, task: Task) -> bool:
    """Whether another task is at work on its branch, or about to be."""
    return any(
        other.state in _AT_WORK for other in tasks_on_branch(session, task) if other.id != task.id
    )


def detach_shared_branches(session: Session, task: Task) -> None:
    """Have tasks that share its branch and have not begun use another one, because the branch is not as planned."""
    for other in tasks_on_branch(session, task):
        if other.id != task.id and not other.runs:
            other.workspace = None


def tasks_on_branch(session: Session, task: Task) -> list[Task]:
    """Return all tasks on the task's branch, in the order of the plan."""
    if task.workspace is None:
        return [task]
    branch = task.workspace.branch
    return [
        other
        for other in session.tasks
        if other.workspace and other.workspace.branch == branch and other.state not in GONE
    ]


def pull_request_of(session: Session, task: Task) -> PullRequest | None:
    """Return the pull request of its branch, whichever task made it."""
    return next((t.pull_request for t in tasks_on_branch(session, task) if t.pull_request), None)


# A new revision of the plan: what led to it, and what it is compared with.

MAX_REPAIRS = 2
"""How often a plan with critical findings is repaired before users see it."""


def revise(session: Session, wish: str) -> None:
    """Start a new revision. Unfinished documents are dropped; the comparison is with what users have seen last."""
    if session.plan.spec is None:
        return
    unread = session.plan.change_request if not session.plan.shown_at else ""
    session.plan.change_request = "\n\n".join(part for part in (unread, wish) if part)
    if session.plan.shown_at:
        session.plan.shown_documents, session.plan.shown_tasks = (
            session.plan.documents,
            drafts_of(session.tasks),
        )
        session.plan.previous_documents = session.plan.documents
    session.plan.documents, session.plan.shown_at = (), None
    session.plan.analysis, session.plan.analysed, session.plan.repairs = None, False, 0
    session.approval.given = ()
    session.approval.checking_base = (
        session.approval.checking_base or session.pulls.host is not None
    )
    session.plan.spec = session.plan.spec.model_copy(
        update={"revision": session.plan.spec.revision + 1, "commit": ""}
    )


# The clock of a task.


def update_waiting_time(session: Session, at: datetime) -> None:
    """Update waiting times. Call it after each event: a task's clock is stopped while nobody works on it."""
    for task in session.tasks:
        if task.started_at is None:
            continue
        run, since, busy = task.run, task.idle_since, _is_worked_on(session, task)
        at_its_pane = bool(
            since and run and run.started_at <= since and (run.alive or run.ended_at == at)
        )
        if since and (busy or at_its_pane):
            span = max(0.0, (at - since).total_seconds())
            task.idle_seconds, task.idle_since = task.idle_seconds + span, None
            if at_its_pane and run:
                task.update_run(run.model_copy(update={"waited": run.waited + span}))
        if not busy:
            task.idle_since = task.idle_since or task.completed_at or at


def _is_worked_on(session: Session, task: Task) -> bool:
    """Whether its agent works on it, or the bot tests, judges or ships it."""
    if session.status is not Status.ACTIVE:
        return False
    if task.state is TaskState.RUNNING:
        return not task.taken_by and not (
            task.run and task.run.state is RunState.WAITING_INPUT and not task.run.reply
        )
    if task.state is TaskState.INTEGRATING:
        return not task.pull_problem
    return task.state is TaskState.VERIFYING

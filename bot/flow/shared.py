"""Tasks that follow each other on one branch and in one worktree: one pull request for all of them, made by the last."""

from __future__ import annotations

from bot.domain.session import Session
from bot.domain.states import TaskState
from bot.domain.tasks import PullRequest, Strategy, Task, Workspace

GONE = frozenset({TaskState.CANCELLED, TaskState.REPLACED})
_AT_WORK = frozenset({TaskState.RUNNING, TaskState.VERIFYING, TaskState.NEEDS_CONTINUATION})


def workspace_for(session: Session, task: Task) -> Workspace | None:
    """The predecessor's, where the plan says so and nobody else has it; else a task gets one of its own.

    A chain only: of two successors the first goes on in it. What people see as a pull request already is not built on.
    """
    if task.worktree_strategy is not Strategy.SHARED or len(task.dependencies) != 1:
        return None
    predecessor = session.task(task.dependencies[0])
    if predecessor is None or predecessor.workspace is None or predecessor.state in GONE:
        return None
    if predecessor.pull_request or predecessor.state is TaskState.INTEGRATING:
        return None
    if any(other.id != task.id for other in after(session, predecessor)):
        return None
    there = predecessor.workspace
    ids = (*there.task_ids, task.id)
    return there.model_copy(update={"task_ids": ids, "start": "", "ready": False})


def after(session: Session, task: Task) -> list[Task]:
    """Who works on its branch after it."""
    return [
        other
        for other in on_its_branch(session, task)
        if other.id != task.id and other.workspace and task.id in other.workspace.task_ids
    ]


def is_last(session: Session, task: Task) -> bool:
    """Nobody goes on with its branch: it makes the pull request."""
    return not after(session, task)


def is_busy(session: Session, task: Task) -> bool:
    """Somebody else is at work on its branch, or about to be."""
    return any(
        other.state in _AT_WORK for other in on_its_branch(session, task) if other.id != task.id
    )


def part(session: Session, task: Task) -> None:
    """Its branch is not what it was to be: who has not begun there gets another one."""
    for other in on_its_branch(session, task):
        if other.id != task.id and not other.runs:
            other.workspace = None


def on_its_branch(session: Session, task: Task) -> list[Task]:
    """All tasks whose work is on that branch, in the order of the plan."""
    if task.workspace is None:
        return [task]
    branch = task.workspace.branch
    return [
        other
        for other in session.tasks
        if other.workspace and other.workspace.branch == branch and other.state not in GONE
    ]


def pull_of(session: Session, task: Task) -> PullRequest | None:
    """That of its branch, whoever made it."""
    return next((t.pull_request for t in on_its_branch(session, task) if t.pull_request), None)

"""The status of one task: the worst of all that can be said of it, in the order INVALID, ERROR, NO_EVIDENCE, INCOMPLETE, COMPLETE."""

from __future__ import annotations

from collections.abc import Collection

from bot.domain.session import Session
from bot.domain.states import OverallStatus, TaskState
from bot.domain.tasks import Task, TaskType


def status_of(session: Session, task: Task, broken: Collection[str] = ()) -> OverallStatus:
    """`broken` are the ids of evidence that does not match its hash.

    A task that others replaced is as good as they are; one that a person left out is INCOMPLETE.
    """
    return _status(session, task, broken, frozenset())


def why_not(session: Session, task: Task, broken: Collection[str] = ()) -> str:
    """Why it is not complete, in a few words; empty: it is."""
    status = status_of(session, task, broken)
    if status is OverallStatus.COMPLETE:
        return ""
    if damaged := [ref for ref in task.evidence_refs if ref in broken]:
        return f"evidence was changed after it was written: {', '.join(damaged)}"
    if (wrong := contradiction(task)) or (wrong := _unproven(task)):
        return wrong
    if task.id in session.unlogged:
        return "its log cannot be written"
    if number := _closed(session, task):
        return f"#{number} was closed without a merge"
    if task.state is TaskState.REPLACED:
        return "replaced by tasks that are not complete" if task.replaced_by else "replaced"
    told = task.result.error if task.result else None
    return task.blocked or told or task.state.value


def contradiction(task: Task) -> str:
    """What in its state cannot be true together; empty: nothing."""
    done = task.state is TaskState.COMPLETED
    if done and task.run and task.run.alive:
        return "said to be completed, while its agent is at work"
    if done and task.result and not task.result.success:
        return "said to be completed, with a result that says it failed"
    if task.state is TaskState.FAILED and task.result and task.result.success:
        return "said to have failed, with a result that says it succeeded"
    return ""


def _status(
    session: Session, task: Task, broken: Collection[str], seen: frozenset[str]
) -> OverallStatus:
    if contradiction(task) or any(ref in broken for ref in task.evidence_refs):
        return OverallStatus.INVALID
    if task.state is TaskState.FAILED:
        return OverallStatus.ERROR
    if task.state is TaskState.COMPLETED:
        if task.id in session.unlogged or _unproven(task):
            return OverallStatus.NO_EVIDENCE
        return OverallStatus.INCOMPLETE if _closed(session, task) else OverallStatus.COMPLETE
    if task.state is TaskState.REPLACED and task.id not in seen:
        others = [other for ref in task.replaced_by if (other := session.task(ref))]
        seen |= {task.id}
        parts = [_status(session, other, broken, seen) for other in others]
        return OverallStatus.worst(parts or [OverallStatus.INCOMPLETE])
    return OverallStatus.INCOMPLETE


def _unproven(task: Task) -> str:
    """What is missing of a task that is said to be completed."""
    if task.state is not TaskState.COMPLETED:
        return ""
    if task.type is TaskType.INVESTIGATION:
        return "" if task.report.strip() or task.commits else "said to be done, without a report"
    if task.work is not None and not task.work.commits:
        return "said to be done, without a commit"
    return "" if task.check and task.check.passed else "built, but never tested"


def _closed(session: Session, task: Task) -> int:
    """The number of the pull request with its work that people have closed without merging it; 0: there is none."""
    branch = task.workspace.branch if task.workspace else ""
    for other in session.tasks:
        pull, there = other.pull_request, other.workspace
        shares = other.id == task.id or (there and there.branch == branch)
        if pull and shares and not (pull.merged or pull.open):
            return pull.number
    return 0

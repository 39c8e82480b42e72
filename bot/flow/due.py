"""What must be under way now, judged by the state alone.

The actor compares this with what is under way: what lacks is started, what is no longer due is called off. So normal
work, resuming, and recovery after a crash are the same road.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import (
    AwaitRun,
    CleanUp,
    CommitDocuments,
    FindQuestions,
    HoldPlace,
    ListBranches,
    LookAtWork,
    MergeLocally,
    Order,
    PrepareWorkspace,
    RunCheck,
    ScanRepository,
    StartRun,
    Survey,
    WriteDocument,
)
from bot.domain.session import DocumentKind, Ending, Session
from bot.domain.states import Phase, RunState, Status, TaskState
from bot.domain.tasks import Run, Task


def due(session: Session) -> Iterator[Order]:
    """Every order the state demands, the ones already under way included."""
    if session.status is Status.DISCARDED and not session.cleaned:
        yield CleanUp()
    if session.status not in (Status.ACTIVE, Status.QUEUED):
        return
    match session.phase:
        case Phase.INTAKE:
            yield Survey()
        case Phase.CLARIFYING:
            yield from _clarifying(session)
        case Phase.SPECIFYING:
            yield from _specifying(session)
        case Phase.EXECUTING:
            yield from _executing(session)
        case Phase.FINISHING:
            yield from _finishing(session)
        case Phase.APPROVING | Phase.DONE:
            return


def _clarifying(session: Session) -> Iterator[Order]:
    if session.scan is None:
        yield ScanRepository()
    elif not session.asked:
        yield FindQuestions()


def _specifying(session: Session) -> Iterator[Order]:
    if session.spec is None:
        return
    revision = session.spec.revision
    missing = next((kind for kind in DocumentKind if session.document(kind) is None), None)
    if missing:
        yield WriteDocument(document=missing, revision=revision)
    else:
        yield CommitDocuments(revision=revision)


def _executing(session: Session) -> Iterator[Order]:
    if session.wants_place_since:
        yield HoldPlace(since=session.wants_place_since)
    if not session.has_place:
        return
    if any(task.workspace is None for task in session.tasks):
        yield ListBranches()
    for task in session.tasks:
        match task.state:
            case TaskState.RUNNING if task.run:
                yield _running(session, task, task.run)
            case TaskState.VERIFYING if task.run:
                yield from _verifying(session, task, task.run)
            case _:
                pass


def _running(session: Session, task: Task, run: Run) -> Order:
    if run.state is not RunState.STARTING:
        return AwaitRun(task_id=task.id, run_id=run.id)
    if not is_prepared(session, task):
        return PrepareWorkspace(task_id=task.id, run_id=run.id)
    return StartRun(task_id=task.id, run_id=run.id)


def is_prepared(session: Session, task: Task) -> bool:
    """The worktree is there, and the work of every predecessor is merged into it (or handed to the agent to merge)."""
    workspace = task.workspace
    return bool(workspace and workspace.ready) and not unmerged(session, task)


def unmerged(session: Session, task: Task) -> list[Task]:
    """Predecessors whose branch is not merged into the task's own yet."""
    merged = task.workspace.merged if task.workspace else ()
    predecessors = (session.task(id) for id in task.dependencies)
    return [
        predecessor
        for predecessor in predecessors
        if predecessor
        and predecessor.state is TaskState.COMPLETED
        and predecessor.workspace
        and predecessor.id not in merged
    ]


def _verifying(session: Session, task: Task, run: Run) -> Iterator[Order]:
    if task.work is None or task.work_of != run.id:
        yield LookAtWork(task_id=task.id, run_id=run.id)
    elif session.test_command:
        yield RunCheck(task_id=task.id, commit=task.work.head, number=len(task.checks) + 1)


def _finishing(session: Session) -> Iterator[Order]:
    if session.ending is Ending.MERGE and not session.merged_commit:
        yield MergeLocally()
    elif session.ending and not session.cleaned:
        yield CleanUp()

"""What must be under way while a plan is carried out, changed and brought to its end."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import (
    AnalysePlan,
    AwaitRun,
    ChooseStep,
    CleanUp,
    CommitDocuments,
    DescribeWork,
    HoldPlace,
    JudgeImpact,
    ListBranches,
    LookAtWork,
    MergeLocally,
    Order,
    PrepareWorkspace,
    RunCheck,
    StartRun,
    WriteDocument,
)
from bot.domain.documents import DocumentKind
from bot.domain.session import Ending, Session
from bot.domain.states import RunState, TaskState
from bot.domain.tasks import Run, Task
from bot.domain.words import Change, ChangeStage
from bot.flow import finish, place


def executing(session: Session) -> Iterator[Order]:
    if session.wants_place_since:
        yield HoldPlace(since=session.wants_place_since)
    if session.spec and not session.spec.commit:
        yield CommitDocuments(revision=session.spec.revision)
    if session.change:
        yield from _changing(session.change)
    yield from _describing(session)
    if not session.has_place:
        return
    if any(task.workspace is None and task.state not in place.SETTLED for task in session.tasks):
        yield ListBranches()
    if session.step:
        yield ChooseStep(step_id=session.step.id)
    for task in session.in_state(TaskState.RUNNING, TaskState.VERIFYING):
        yield from _under_way(session, task)


def _under_way(session: Session, task: Task) -> Iterator[Order]:
    if task.step:
        yield ChooseStep(step_id=task.step.id)
    elif task.run and task.state is TaskState.RUNNING:
        yield from _running(session, task, task.run)
    elif task.run:
        yield from _verifying(session, task, task.run)


def _changing(change: Change) -> Iterator[Order]:
    match change.stage:
        case ChangeStage.JUDGING:
            yield JudgeImpact(change_id=change.id, revision=change.revision)
        case ChangeStage.DRAFTING:
            written = {document.kind for document in change.documents}
            missing = next((kind for kind in DocumentKind if kind not in written), None)
            if missing:
                yield WriteDocument(document=missing, revision=change.revision)
        case ChangeStage.ANALYSING:
            yield AnalysePlan(revision=change.revision)
        case ChangeStage.AWAITING:
            return


def _describing(session: Session) -> Iterator[Order]:
    """What a pull request of it would say."""
    for task in finish.undescribed(session):
        if task.run:
            yield DescribeWork(task_id=task.id, run_id=task.run.id)


def _running(session: Session, task: Task, run: Run) -> Iterator[Order]:
    if run.state is not RunState.STARTING:
        yield AwaitRun(task_id=task.id, run_id=run.id)
    elif is_prepared(session, task):
        yield StartRun(task_id=task.id, run_id=run.id)
    elif place.may_begin(session, task):
        yield PrepareWorkspace(task_id=task.id, run_id=run.id)


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


def finishing(session: Session) -> Iterator[Order]:
    if session.ending is None:
        yield from _describing(session)
    if session.ending is Ending.MERGE and not session.merged_commit:
        yield MergeLocally()
    elif session.ending and not session.cleaned:
        yield CleanUp()

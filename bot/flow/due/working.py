"""What must be under way while a plan is carried out, changed and brought to its end."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.actions import (
    AnalysePlan,
    AnswerDialog,
    AwaitRun,
    CheckBase,
    ChooseStep,
    CleanUp,
    CommitDocuments,
    DescribeWork,
    HoldPlace,
    JudgeImpact,
    JudgeWhole,
    JudgeWork,
    ListBranches,
    LookAtBase,
    LookAtWork,
    LookIn,
    MergeLocally,
    OpenPull,
    Order,
    PrepareWorkspace,
    ReplanTask,
    RunCheck,
    StartRun,
    TakeInBase,
    WaitUntil,
    WatchPulls,
    WriteDocument,
)
from bot.domain.documents import DocumentKind
from bot.domain.session import Ending, Session
from bot.domain.states import RunState, TaskState
from bot.domain.tasks import LookFor, Run, Task
from bot.domain.words import Change, ChangeStage
from bot.flow import baseline, finish, place, pulls, shared, testing, verify


def executing(session: Session) -> Iterator[Order]:
    if session.wants_place_since:
        rework = any(t.pull_request and t.state in place.MOVING for t in session.tasks)
        yield HoldPlace(since=session.wants_place_since, rework=rework)
    if session.recheck:
        yield LookAtBase()
    elif session.spec and not session.spec.commit:
        yield CommitDocuments(revision=session.spec.revision)
    if session.change:
        yield from _changing(session.change)
    yield from _describing(session)
    yield from _watching(session)
    for task in session.in_state(TaskState.NEEDS_CONTINUATION):
        if task.not_before:
            yield WaitUntil(task_id=task.id, at=task.not_before)
    if session.has_place:
        yield from _in_its_place(session)


def _in_its_place(session: Session) -> Iterator[Order]:
    if any(task.workspace is None and task.state not in place.SETTLED for task in session.tasks):
        yield ListBranches()
    if session.step:
        yield ChooseStep(step_id=session.step.id)
    if baseline.wanted(session):
        yield CheckBase(commit=session.base_commit, command=testing.command_at_base(session))
    for task in session.tasks:
        match task.state:
            case TaskState.RUNNING | TaskState.VERIFYING:
                yield from _under_way(session, task)
            case TaskState.NEEDS_CONTINUATION:
                yield from _taking_in(session, task)
            case TaskState.INTEGRATING:
                yield from _shipping(session, task)
            case _:
                pass


def _taking_in(session: Session, task: Task) -> Iterator[Order]:
    if task.taking_in and task.pull_request and not _is_worked_in(session, task):
        number = task.pull_request.number
        yield TakeInBase(task_id=task.id, number=number, merged=task.taking_in)


def _is_worked_in(session: Session, task: Task) -> bool:
    others = shared.on_its_branch(session, task)
    return any(other.state in (TaskState.RUNNING, TaskState.VERIFYING) for other in others)


def _shipping(session: Session, task: Task) -> Iterator[Order]:
    """Its pull request, once there are words for it; not while it waits for a person to mend something, or for who comes
    before it on its branch."""
    if task.problem or not task.work or shared.is_busy(session, task):
        return
    if task.pull_text:
        yield OpenPull(task_id=task.id, commit=task.work.head, number=task.tries)


def _watching(session: Session) -> Iterator[Order]:
    """What becomes of open pull requests; and merging those that somebody wants merged."""
    if session.hosted is None:
        return
    waited_for = pulls.still_open(session)
    numbers = tuple(sorted(t.pull_request.number for t in waited_for if t.pull_request))
    if numbers and not session.pulls_problem:
        yield WatchPulls(numbers=numbers)
    for task in waited_for:
        if task.pull_request and pulls.ready_to_merge(session, task):
            yield pulls.merge_order(task, task.pull_request)


def _under_way(session: Session, task: Task) -> Iterator[Order]:
    if task.step:
        yield ChooseStep(step_id=task.step.id)
    elif task.replan_reason:
        yield ReplanTask(task_id=task.id, number=task.counters.replans + 1)
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
        if not task.taken_by:
            yield AwaitRun(task_id=task.id, run_id=run.id)
        if run.quiet.look and not task.taken_by:
            ask = run.quiet.look in (LookFor.ASK, LookFor.NUDGE)
            number = run.quiet.looks
            yield LookIn(task_id=task.id, run_id=run.id, number=number, ask=ask)
        if run.reply:
            yield AnswerDialog(task_id=task.id, run_id=run.id, number=run.dialogs)
    elif is_prepared(session, task):
        if not baseline.wanted(session):
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
    if run.quiet.stopping:
        return
    if task.work is None or task.work_of != run.id:
        yield LookAtWork(task_id=task.id, run_id=run.id)
    elif verify.wants_check(session, task, run):
        yield RunCheck(
            task_id=task.id,
            commit=task.work.head,
            number=len(task.checks) + 1,
            changed=session.tests_changed,
            restored=verify.restored(session, task),
        )
    elif task.judged_of != run.id:
        number = len(task.verdicts) + 1
        yield JudgeWork(task_id=task.id, commit=task.work.head, number=number)


def finishing(session: Session) -> Iterator[Order]:
    if session.ending is None:
        yield from _describing(session)
        yield from _watching(session)
    if session.ending is Ending.MERGE and not session.merged_commit:
        yield MergeLocally()
    elif session.ending and finish.wants_verdict(session):
        yield JudgeWhole(number=session.continues + 1)
    elif session.ending and not session.cleaned:
        yield CleanUp()

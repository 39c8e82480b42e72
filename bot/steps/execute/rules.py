"""Carries out an approved plan: workspaces, runs, and where each event goes while agents work."""

from __future__ import annotations

from collections.abc import Iterator

from bot.core import naming
from bot.core.actions import (
    AnswerDialog,
    AwaitRun,
    CheckBase,
    ChooseStep,
    CommitDocuments,
    Deed,
    HoldPlace,
    ListBranches,
    LookAtBase,
    LookIn,
    Order,
    PrepareWorkspace,
    ReplanTask,
    StartRun,
    TakeInBase,
    WaitUntil,
)
from bot.core.cards import CardDecision
from bot.core.choices import Verb
from bot.core.events import (
    BaseChecked,
    BaseSeen,
    BaseTakenIn,
    BranchesListed,
    CheckRan,
    CollisionsSeen,
    DialogAnswered,
    DialogClosed,
    DialogOpened,
    DocumentsCommitted,
    Event,
    EventBase,
    LookedIn,
    NameTaken,
    OrderFailed,
    PlaceAwaited,
    PlaceGranted,
    Pressed,
    PullMergeTried,
    PullOpened,
    PullsSeen,
    Result,
    RunEnded,
    RunStarted,
    Said,
    SettingsChanged,
    StepChosen,
    TaskReplanned,
    Ticked,
    TimeCame,
    WordsJudged,
    WorkDescribed,
    WorkJudged,
    WorkSeen,
    WorkspaceReady,
)
from bot.core.pull_text import task_conflict_instructions
from bot.core.runs import LookFor, Run, Why
from bot.core.session import Session
from bot.core.states import Outcome, Phase, RunState, Status, TaskState
from bot.core.talk import WordKind
from bot.core.task import Task, Workspace
from bot.steps import messages, plan
from bot.steps.approve import moved_base
from bot.steps.blocked import limits
from bot.steps.blocked import rules as blocked
from bot.steps.change import rules as change
from bot.steps.dialogs import cards as dialog_cards
from bot.steps.dialogs import rules as dialogs
from bot.steps.execute import new_tasks, next_step
from bot.steps.finish import rules as finish
from bot.steps.pull_requests import cards as pull_cards
from bot.steps.pull_requests import feedback as pull_feedback
from bot.steps.pull_requests import rules as pull_requests
from bot.steps.ship import rules as ship
from bot.steps.ship.rules import due_pull_texts
from bot.steps.talk import rules as talk
from bot.steps.verify import rules as verify
from bot.steps.verify import test_command

_ABOUT_PULLS = PullOpened | PullsSeen | PullMergeTried | BaseTakenIn


def decide(session: Session, event: Event) -> Iterator[Deed]:
    change_under_way = session.change
    if change_under_way and change.concerns(session, event):
        yield from change.decide(session, change_under_way, event)
    else:
        yield from _message_received(session, event)
    yield from pull_feedback.handle_feedback(session, event)
    blocked.free_dependents(session)
    next_step.start_tasks(session, event)
    pressed = isinstance(event, Pressed) and event.verb in pull_requests.VERBS
    if pressed or isinstance(event, _ABOUT_PULLS):
        yield from pull_cards.pulls_card(session)
    if plan.all_settled(session) and session.change is None:
        session.enter(Phase.FINISHING)
        yield from finish.begin(session, event)
    elif not isinstance(event, Ticked | Said):
        yield messages.status(session, event.at)


def _message_received(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case LookedIn() | OrderFailed(what="look_in"):
            yield from dialogs.take_look_result(session, event)
        case Result():
            yield from _result(session, event)
        case Pressed():
            yield from _pressed(session, event)
        case Ticked(tails=tails, anew=anew):
            yield from limits.check_work_time(session, event)
            limits.note_silence(session, event)
            yield from dialogs.check_silence(session, event)
            yield messages.status(session, event.at, tails, anew=anew)
        case CollisionsSeen():
            yield from next_step.report_conflicts(session, event)
        case Said(text=text):
            yield from talk.message_heard(session, event, text)
        case _:
            pass


def _result(session: Session, event: Result) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case PlaceGranted() | PlaceAwaited() | BranchesListed() | NameTaken() | WorkspaceReady():
            _place_or_workspace(session, event)
        case RunStarted():
            _started(session, event)
        case SettingsChanged():
            yield from blocked.block_for_changed_settings(session, event)
        case RunEnded():
            yield from run_ended(session, event)
        case DialogOpened() | DialogClosed() | DialogAnswered() | OrderFailed(what="answer_dialog"):
            yield from dialogs.decide(session, event)
        case BaseChecked() | WorkSeen() | CheckRan() | WorkJudged():
            yield from verify.decide(session, event)
        case TaskReplanned() | OrderFailed(what="replan_task"):
            yield from new_tasks.decide(session, event)
        case TimeCame() | OrderFailed(what="wait_until"):
            yield from limits.time_came(session, event)
        case PullOpened():
            yield from ship.pull_opened(session, event)
        case OrderFailed(what="open_pull"):
            yield from ship.pull_not_opened(session, event)
        case PullsSeen() | PullMergeTried() | BaseTakenIn():
            yield from pull_requests.decide(session, event)
        case OrderFailed(what="merge_pull" | "watch_pulls"):
            yield from pull_requests.decide(session, event)
        case StepChosen() | OrderFailed(what="choose_step"):
            yield from next_step.step_chosen(session, event)
        case WordsJudged() | OrderFailed(what="judge_words"):
            yield from _judged(session, event)
        case WorkDescribed() | OrderFailed(what="describe_work"):
            ship.take_pull_text(session, event)
        case DocumentsCommitted() if session.plan.spec:
            session.plan.spec = session.plan.spec.model_copy(update={"commit": event.commit})
        case BaseSeen() | OrderFailed(what="look_at_base"):
            yield from moved_base.decide(session, event)
        case OrderFailed():
            yield from blocked.block_refused(session, event)
        case _:
            pass


def _pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    match event.verb:
        case Verb.REPLY | Verb.ALWAYS:
            yield from dialogs.pressed(session, event)
        case Verb.ACCEPT | Verb.SEND_BACK | Verb.TESTS | Verb.UNTESTED:
            yield from verify.hold_pressed(session, event)
        case Verb.TAKE_AS_DONE | Verb.NUDGE | Verb.STOP_TASK:
            yield from dialogs.quiet_pressed(session, event)
        case Verb.USE_AGENT | Verb.CHECK_AGAIN:
            yield from limits.pressed(session, event)
        case verb if verb in pull_requests.VERBS:
            yield from pull_requests.pressed(session, event)
        case Verb.SHIP_AGAIN | Verb.KEEP:
            yield from ship.pressed(session, event)
        case _:
            yield from blocked.pressed(session, event)


def _judged(session: Session, event: WordsJudged | OrderFailed) -> Iterator[Deed]:
    """Start a change if that is what the message asks for; answer or ignore anything else."""
    if isinstance(event, OrderFailed):
        yield from talk.words_not_judged(session, event)
        return
    words = talk.take_words(session, event.words_id)
    if words is None:
        return
    if event.what is WordKind.CHANGE:
        yield from change.begin(session, words)
    else:
        yield from talk.answer_words(session, event, words)


def _place_or_workspace(
    session: Session,
    event: PlaceGranted | PlaceAwaited | BranchesListed | NameTaken | WorkspaceReady,
) -> None:
    match event:
        case PlaceGranted() | PlaceAwaited() if not _is_current_wait(session, event):
            return
        case PlaceGranted():
            session.queue.has_place, session.queue.position = True, None
            if session.status is Status.QUEUED:
                session.become(Status.ACTIVE)
            moved_base.require_base_check(session, event.at)
        case PlaceAwaited(position=position, waiting=waiting):
            session.queue.position, session.queue.waiting = position or None, waiting
        case BranchesListed(names=names):
            _name_workspaces(session, event, set(names))
        case NameTaken(task_id=task_id, branch=branch):
            task = session.task(task_id)
            if task and task.workspace and task.workspace.branch == branch:
                plan.detach_shared_branches(session, task)
                task.workspace = _workspace(session, task, event, _taken_names(session) | {branch})
        case WorkspaceReady():
            _workspace_ready(session, event)


def _is_current_wait(session: Session, event: PlaceGranted | PlaceAwaited) -> bool:
    # A slot that was granted before a stop is no longer held.
    since = session.queue.since
    return since is not None and event.answers == HoldPlace(since=since).key


def _taken_names(session: Session) -> set[str]:
    own = {workspace.branch for workspace in session.workspaces}
    own |= {workspace.branch for task in session.tasks for workspace in task.former_workspaces}
    return own | ({session.plan.spec.workspace.branch} if session.plan.spec else set())


def _name_workspaces(session: Session, event: EventBase, existing: set[str]) -> None:
    # Names are saved before anything is created, so that a repetition uses the same ones.
    for task in session.tasks:
        if task.workspace is None and task.state not in plan.SETTLED:
            own = _workspace(session, task, event, existing | _taken_names(session))
            task.workspace = plan.workspace_for(session, task) or own


def _workspace(session: Session, task: Task, event: EventBase, taken: set[str]) -> Workspace:
    fallback = (
        f"{session.plan.spec.id[5:] if session.plan.spec else session.short}-{task.key.lower()}"
    )
    branch = naming.branch_for(task.name, taken, fallback)
    path = naming.worktree_path(session.repository.path, branch)
    return Workspace(branch=branch, path=path, created_at=event.at, task_ids=(task.id,))


def _workspace_ready(session: Session, event: WorkspaceReady) -> None:
    task = session.task(event.task_id)
    if task is None or task.workspace is None or task.workspace.branch != event.workspace.branch:
        return
    run = task.run
    if run is None or run.state is not RunState.STARTING:
        return  # it was stopped meanwhile; the next run prepares again and is told of conflicts
    task.workspace = event.workspace
    if event.conflicts:
        other = session.task(event.conflicting) or task
        feedback = task_conflict_instructions(task, other, event.conflicts)
        task.count("conflict_rounds")
        task.require_merge(feedback)
        told = "\n\n".join(part for part in (run.feedback, feedback) if part)
        task.update_run(run.model_copy(update={"why": Why.CONFLICT, "feedback": told}))


def _started(session: Session, event: RunStarted) -> None:
    task = session.task_of_run(event.run_id)
    if task and task.run and task.run.state is RunState.STARTING:
        seen = {"attach": event.attach, "before": event.before}
        running = task.run.become(RunState.RUNNING, pane_id=event.pane_id, pid=event.pid, **seen)
        task.update_run(running)


# The end of a run. Its work is examined by the step verify.

MAX_FAILED_RUNS = 3


def run_ended(session: Session, event: RunEnded) -> Iterator[Deed]:
    """Take the end of a task's current run. A late event of an earlier run changes nothing."""
    task = session.task_of_run(event.run_id)
    if task is None or task.run is None or not task.run.alive:
        return
    if task.run.dialog:
        gone = CardDecision(what="Its agent has ended", by="the pane", at=event.at)
        yield from dialog_cards.close_dialog(task, task.run, gone)
    yield from dialog_cards.close_quiet_card(
        task, CardDecision(what="It has ended", by="the agent", at=event.at)
    )
    task.update_run(_ended_run(task.run, event))
    task.note_evidence(event.evidence)
    task.note_evidence(event.report_evidence)
    if task.state is not TaskState.RUNNING:
        return
    end = event.end
    if end.outcome is Outcome.FINISHED:
        task.become(TaskState.VERIFYING)
    elif end.limit:
        yield from limits.wait_for_account(session, task, event, end.limit)
    else:
        yield from _run_failed(session, task, event)


def _ended_run(run: Run, event: RunEnded) -> Run:
    end = event.end
    return run.end(
        end.outcome,
        event.at,
        exit_code=end.exit_code,
        ended_by=end.source,
        message=end.message,
        log_path=event.log_path,
        noticed=event.noticed,
        report=event.report,
        usage=end.usage,
        conversation=end.conversation or run.conversation,
        dialog=None,
        reply="",
    )


def _run_failed(session: Session, task: Task, event: RunEnded) -> Iterator[Deed]:
    failed = task.count("failed_runs")
    how = _how_it_ended(event)
    if failed >= MAX_FAILED_RUNS:
        yield from blocked.fail(session, task, f"its agent {how}, {failed} times now", event)
        return
    task.go_on(
        f"Your last run {how}. Look at what is there already (git status, git log) and go on from it.",
    )
    happened = f"the agent {how} ({failed} of {MAX_FAILED_RUNS})"
    options = (
        next_step.AGAIN,
        next_step.FRESH,
        *next_step.other_agents(session, task),
        next_step.ASK,
    )
    yield from next_step.offer_steps(session, task, event, "run_failed", happened, *options)


def _how_it_ended(event: RunEnded) -> str:
    end = event.end
    if end.outcome is Outcome.VANISHED:
        return "vanished with its pane"
    if end.exit_code is not None:
        return f"ended with exit code {end.exit_code}"
    return f"ended early ({end.outcome.value.replace('_', ' ')})"


# Orders while the plan is carried out.


def due(session: Session) -> Iterator[Order]:
    if session.queue.since:
        rework = any(t.pull_request and t.state in plan.MOVING for t in session.tasks)
        yield HoldPlace(since=session.queue.since, rework=rework)
    if session.approval.checking_base:
        yield LookAtBase()
    elif session.plan.spec and not session.plan.spec.commit:
        yield CommitDocuments(revision=session.plan.spec.revision)
    if session.change:
        yield from change.due(session.change)
    yield from due_pull_texts(session)
    yield from pull_requests.due(session)
    for task in session.in_state(TaskState.NEEDS_CONTINUATION):
        if task.next_run.not_before:
            yield WaitUntil(task_id=task.id, at=task.next_run.not_before)
    if session.queue.has_place:
        yield from _due_with_place(session)


def _due_with_place(session: Session) -> Iterator[Order]:
    if any(task.workspace is None and task.state not in plan.SETTLED for task in session.tasks):
        yield ListBranches()
    if session.execution.choice:
        yield ChooseStep(step_id=session.execution.choice.id)
    if test_command.base_check_wanted(session):
        yield CheckBase(
            commit=session.repository.base_commit, command=test_command.for_base(session)
        )
    for task in session.tasks:
        match task.state:
            case TaskState.RUNNING | TaskState.VERIFYING:
                yield from _due_for_task(session, task)
            case TaskState.NEEDS_CONTINUATION:
                yield from _due_for_base(session, task)
            case TaskState.INTEGRATING:
                yield from ship.due(session, task)
            case _:
                pass


def _due_for_base(session: Session, task: Task) -> Iterator[Order]:
    if task.base_to_merge and task.pull_request and not _is_worked_in(session, task):
        number = task.pull_request.number
        yield TakeInBase(task_id=task.id, number=number, merged=task.base_to_merge)


def _is_worked_in(session: Session, task: Task) -> bool:
    others = plan.tasks_on_branch(session, task)
    return any(other.state in (TaskState.RUNNING, TaskState.VERIFYING) for other in others)


def _due_for_task(session: Session, task: Task) -> Iterator[Order]:
    if task.choice:
        yield ChooseStep(step_id=task.choice.id)
    elif task.replan_reason:
        yield ReplanTask(task_id=task.id, number=task.counters.replans + 1)
    elif task.run and task.state is TaskState.RUNNING:
        yield from _due_for_run(session, task, task.run)
    elif task.run:
        yield from verify.due(session, task, task.run)


def _due_for_run(session: Session, task: Task, run: Run) -> Iterator[Order]:
    if run.state is not RunState.STARTING:
        if not task.taken_by:
            yield AwaitRun(task_id=task.id, run_id=run.id)
        if run.quiet.look and not task.taken_by:
            ask = run.quiet.look in (LookFor.ASK, LookFor.NUDGE)
            number = run.quiet.looks
            yield LookIn(task_id=task.id, run_id=run.id, number=number, ask=ask)
        if run.reply:
            yield AnswerDialog(task_id=task.id, run_id=run.id, number=run.dialogs)
    elif is_workspace_prepared(session, task):
        if not test_command.base_check_wanted(session):
            yield StartRun(task_id=task.id, run_id=run.id)
    elif plan.may_start(session, task):
        yield PrepareWorkspace(task_id=task.id, run_id=run.id)


def is_workspace_prepared(session: Session, task: Task) -> bool:
    """Whether the worktree exists and the work of every dependency is merged into it (or left to the agent to merge)."""
    workspace = task.workspace
    return bool(workspace and workspace.ready) and not unmerged_dependencies(session, task)


def unmerged_dependencies(session: Session, task: Task) -> list[Task]:
    """Return the dependencies whose branch is not merged into the task's branch yet."""
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

"""From an approved plan to agents at work: workspaces, runs, and who may start when."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import naming
from bot.domain.actions import Deed, HoldPlace
from bot.domain.choices import Verb
from bot.domain.collided import told_of_task
from bot.domain.events import (
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
    Happening,
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
from bot.domain.session import Session
from bot.domain.states import Phase, RunState, Status
from bot.domain.tasks import Task, Why, Workspace
from bot.domain.words import WordKind
from bot.flow import (
    blocked,
    change,
    dialogs,
    finish,
    let_pass,
    limits,
    moved_base,
    overlap,
    place,
    pulls,
    quiet,
    replan,
    replies,
    shared,
    ship,
    standing,
    steps,
    verify,
)

_ABOUT_PULLS = PullOpened | PullsSeen | PullMergeTried | BaseTakenIn


def decide(session: Session, event: Event) -> Iterator[Deed]:
    change_under_way = session.change
    if change_under_way and change.concerns(session, event):
        yield from change.decide(session, change_under_way, event)
    else:
        yield from _heard(session, event)
    yield from pulls.attend(session, event)
    blocked.free(session)
    steps.advance(session, event)
    pressed = isinstance(event, Pressed) and event.verb in pulls.VERBS
    if pressed or isinstance(event, _ABOUT_PULLS):
        yield from pulls.card(session)
    if place.all_settled(session) and session.change is None:
        session.enter(Phase.FINISHING)
        yield from finish.begin(session, event)
    elif not isinstance(event, Ticked | Said):
        yield standing.status(session, event.at)


def _heard(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case LookedIn() | OrderFailed(what="look_in"):
            yield from quiet.looked_in(session, event)
        case Result():
            yield from _came_back(session, event)
        case Pressed():
            yield from _pressed(session, event)
        case Ticked(tails=tails, anew=anew):
            yield from limits.seconds(session, event)
            limits.silence(session, event)
            yield from quiet.looked(session, event)
            yield standing.status(session, event.at, tails, anew=anew)
        case CollisionsSeen():
            yield from overlap.seen(session, event)
        case Said(text=text):
            yield from replies.heard(session, event, text)
        case _:
            pass


def _came_back(session: Session, event: Result) -> Iterator[Deed]:  # noqa: C901 - one case per event
    match event:
        case PlaceGranted() | PlaceAwaited() | BranchesListed() | NameTaken() | WorkspaceReady():
            _place_or_workspace(session, event)
        case RunStarted():
            _started(session, event)
        case SettingsChanged():
            yield from blocked.not_started(session, event)
        case RunEnded():
            yield from verify.ended(session, event)
        case DialogOpened() | DialogClosed() | DialogAnswered() | OrderFailed(what="answer_dialog"):
            yield from dialogs.decide(session, event)
        case BaseChecked() | WorkSeen() | CheckRan() | WorkJudged():
            yield from verify.decide(session, event)
        case TaskReplanned() | OrderFailed(what="replan_task"):
            yield from replan.decide(session, event)
        case TimeCame() | OrderFailed(what="wait_until"):
            yield from limits.time_came(session, event)
        case PullOpened():
            yield from ship.opened(session, event)
        case OrderFailed(what="open_pull"):
            yield from ship.not_opened(session, event)
        case PullsSeen() | PullMergeTried() | BaseTakenIn():
            yield from pulls.decide(session, event)
        case OrderFailed(what="merge_pull" | "watch_pulls"):
            yield from pulls.decide(session, event)
        case StepChosen() | OrderFailed(what="choose_step"):
            yield from steps.chosen(session, event)
        case WordsJudged() | OrderFailed(what="judge_words"):
            yield from _judged(session, event)
        case WorkDescribed() | OrderFailed(what="describe_work"):
            finish.described(session, event)
        case DocumentsCommitted() if session.spec:
            session.spec = session.spec.model_copy(update={"commit": event.commit})
        case BaseSeen() | OrderFailed(what="look_at_base"):
            yield from moved_base.decide(session, event)
        case OrderFailed():
            yield from blocked.hold(session, event)
        case _:
            pass


def _pressed(session: Session, event: Pressed) -> Iterator[Deed]:
    match event.verb:
        case Verb.REPLY | Verb.ALWAYS:
            yield from dialogs.pressed(session, event)
        case Verb.ACCEPT | Verb.SEND_BACK | Verb.TESTS | Verb.UNTESTED:
            yield from let_pass.pressed(session, event)
        case Verb.TAKE_AS_DONE | Verb.NUDGE | Verb.STOP_TASK:
            yield from quiet.pressed(session, event)
        case Verb.USE_AGENT | Verb.CHECK_AGAIN:
            yield from limits.pressed(session, event)
        case verb if verb in pulls.VERBS:
            yield from pulls.pressed(session, event)
        case Verb.SHIP_AGAIN | Verb.KEEP:
            yield from ship.pressed(session, event)
        case _:
            yield from blocked.pressed(session, event)


def _judged(session: Session, event: WordsJudged | OrderFailed) -> Iterator[Deed]:
    """What people want changed is a change; the rest is answered, or let be."""
    if isinstance(event, OrderFailed):
        yield from replies.not_judged(session, event)
        return
    words = replies.judged(session, event.words_id)
    if words is None:
        return
    if event.what is WordKind.CHANGE:
        yield from change.begin(session, words)
    else:
        yield from replies.answered(session, event, words)


def _place_or_workspace(
    session: Session,
    event: PlaceGranted | PlaceAwaited | BranchesListed | NameTaken | WorkspaceReady,
) -> None:
    match event:
        case PlaceGranted() | PlaceAwaited() if not _is_of_this_wait(session, event):
            return
        case PlaceGranted():
            session.has_place, session.queue_position = True, None
            if session.status is Status.QUEUED:
                session.become(Status.ACTIVE)
            moved_base.look_before_start(session, event.at)
        case PlaceAwaited(position=position, waiting=waiting):
            session.queue_position, session.queue_waiting = position or None, waiting
        case BranchesListed(names=names):
            _name_workspaces(session, event, set(names))
        case NameTaken(task_id=task_id, branch=branch):
            task = session.task(task_id)
            if task and task.workspace and task.workspace.branch == branch:
                shared.part(session, task)
                task.workspace = _workspace(session, task, event, _taken(session) | {branch})
        case WorkspaceReady():
            _workspace_ready(session, event)


def _is_of_this_wait(session: Session, event: PlaceGranted | PlaceAwaited) -> bool:
    """A place that was granted before a stop is no longer held."""
    since = session.wants_place_since
    return since is not None and event.answers == HoldPlace(since=since).key


def _taken(session: Session) -> set[str]:
    own = {workspace.branch for workspace in session.workspaces}
    own |= {workspace.branch for task in session.tasks for workspace in task.left}
    return own | ({session.spec.workspace.branch} if session.spec else set())


def _name_workspaces(session: Session, event: Happening, existing: set[str]) -> None:
    """Names are saved before they are created, so that doing it again uses the same ones."""
    for task in session.tasks:
        if task.workspace is None and task.state not in place.SETTLED:
            own = _workspace(session, task, event, existing | _taken(session))
            task.workspace = shared.workspace_for(session, task) or own


def _workspace(session: Session, task: Task, event: Happening, taken: set[str]) -> Workspace:
    fallback = f"{session.spec.id[5:] if session.spec else session.short}-{task.key.lower()}"
    branch = naming.branch_for(task.name, taken, fallback)
    path = naming.worktree_path(session.repository, branch)
    return Workspace(branch=branch, path=path, created_at=event.at, task_ids=(task.id,))


def _workspace_ready(session: Session, event: WorkspaceReady) -> None:
    task = session.task(event.task_id)
    if task is None or task.workspace is None or task.workspace.branch != event.workspace.branch:
        return
    run = task.run
    if run is None or run.state is not RunState.STARTING:
        return  # it was stopped meanwhile; the next run prepares anew, and is told of conflicts
    task.workspace = event.workspace
    if event.conflicts:
        other = session.task(event.conflicting) or task
        feedback = told_of_task(task, other, event.conflicts)
        task.count("conflict_rounds")
        task.must_merge(feedback)
        told = "\n\n".join(part for part in (run.feedback, feedback) if part)
        task.update_run(run.model_copy(update={"why": Why.CONFLICT, "feedback": told}))


def _started(session: Session, event: RunStarted) -> None:
    task = session.task_of_run(event.run_id)
    if task and task.run and task.run.state is RunState.STARTING:
        seen = {"attach": event.attach, "before": event.before}
        running = task.run.become(RunState.RUNNING, pane_id=event.pane_id, pid=event.pid, **seen)
        task.update_run(running)

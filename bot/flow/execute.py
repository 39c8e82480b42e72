"""From an approved plan to agents at work: workspaces, runs, and who may start when."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain import naming
from bot.domain.actions import Deed, HoldPlace
from bot.domain.events import (
    BranchesListed,
    CheckRan,
    Event,
    Happening,
    NameTaken,
    OrderFailed,
    PlaceAwaited,
    PlaceGranted,
    Pressed,
    RunEnded,
    RunStarted,
    Said,
    Ticked,
    WorkSeen,
    WorkspaceReady,
)
from bot.domain.session import Session
from bot.domain.states import Phase, RunState, Status, TaskState
from bot.domain.tasks import Run, Task, Why, Workspace
from bot.flow import blocked, finish, place, replies, telling, verify


def decide(session: Session, event: Event) -> Iterator[Deed]:
    yield from _heard(session, event)
    advance(session, event)
    if place.all_settled(session):
        session.enter(Phase.FINISHING)
        yield from finish.begin(session, event)
    elif not isinstance(event, Ticked | Said):
        yield telling.status(session, event.at)


def _heard(session: Session, event: Event) -> Iterator[Deed]:
    match event:
        case PlaceGranted() | PlaceAwaited() | BranchesListed() | NameTaken() | WorkspaceReady():
            _place_or_workspace(session, event)
        case RunStarted():
            _started(session, event)
        case RunEnded():
            yield from verify.ended(session, event)
        case WorkSeen() | CheckRan():
            yield from verify.decide(session, event)
        case OrderFailed():
            yield from blocked.hold(session, event)
        case Pressed():
            yield from blocked.pressed(session, event)
        case Ticked(tails=tails):
            yield telling.status(session, event.at, tails)
        case Said(text=text):
            yield from replies.noted(session, event, text)
        case _:
            pass


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
        case PlaceAwaited(position=position, waiting=waiting):
            session.queue_position, session.queue_waiting = position or None, waiting
        case BranchesListed(names=names):
            _name_workspaces(session, event, set(names))
        case NameTaken(task_id=task_id, branch=branch):
            task = session.task(task_id)
            if task and task.workspace and task.workspace.branch == branch:
                task.workspace = _workspace(session, task, event, _taken(session) | {branch})
        case WorkspaceReady():
            _workspace_ready(session, event)


def _is_of_this_wait(session: Session, event: PlaceGranted | PlaceAwaited) -> bool:
    """A place that was granted before a stop is no longer held."""
    since = session.wants_place_since
    return since is not None and event.answers == HoldPlace(since=since).key


def _taken(session: Session) -> set[str]:
    own = {workspace.branch for workspace in session.workspaces}
    return own | ({session.spec.workspace.branch} if session.spec else set())


def _name_workspaces(session: Session, event: Happening, existing: set[str]) -> None:
    """Names are saved before they are created, so that doing it again uses the same ones."""
    for task in session.tasks:
        if task.workspace is None:
            task.workspace = _workspace(session, task, event, existing | _taken(session))


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
        other = session.task(event.conflicting)
        branch = other.workspace.branch if other and other.workspace else ""
        feedback = (
            f"Before anything else run `git merge {branch}`: the work of {other.key if other else branch} "
            f"collides with this branch in {', '.join(event.conflicts)}. Resolve the conflicts so that both "
            "intentions survive, and commit the merge."
        )
        task.count("conflict_rounds")
        told = "\n\n".join(part for part in (run.feedback, feedback) if part)
        task.update_run(run.model_copy(update={"why": Why.CONFLICT, "feedback": told}))


def _started(session: Session, event: RunStarted) -> None:
    task = session.task_of_run(event.run_id)
    if task and task.run and task.run.state is RunState.STARTING:
        task.update_run(task.run.become(RunState.RUNNING, pane_id=event.pane_id, pid=event.pid))


def advance(session: Session, event: Happening) -> None:
    """Free what has become free; start what may start, as many at once as the plan says."""
    if not (session.has_place and session.status is Status.ACTIVE):
        return
    for task in session.in_state(TaskState.PENDING):
        if place.is_free(session, task):
            task.become(TaskState.READY)
    working = len(session.in_state(TaskState.RUNNING, TaskState.VERIFYING))
    for task in session.in_state(TaskState.NEEDS_CONTINUATION, TaskState.READY):
        if working < session.parallelism and task.workspace:
            _start(session, task, event)
            working += 1


def _start(session: Session, task: Task, event: Happening) -> None:
    """A new run, with all its names, before anything of it exists."""
    former = task.run
    number = len(task.runs) + 1
    run_id = naming.derived_id(session.id, task.id, "run", str(number))
    resumes = former is not None and task.next_why is not Why.RETRY
    task.runs.append(
        Run(
            id=run_id,
            number=number,
            agent=task.agent or session.agent,
            conversation=former.conversation
            if former and resumes
            else naming.derived_id(run_id, "cli"),
            resumes=resumes,
            why=task.next_why,
            feedback=task.next_feedback,
            nonce=naming.derived_nonce(session.id, run_id),
            started_at=event.at,
            auto_flag=session.agent_flags or None,
        )
    )
    task.become(TaskState.RUNNING)
    task.started_at = task.started_at or event.at
    task.completed_at = None
    task.next_why, task.next_feedback = Why.FIRST, ""

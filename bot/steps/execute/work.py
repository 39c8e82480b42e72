"""Waits for the repository's slot, prepares worktrees, starts agents in panes and waits for their end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator

from bot.core.actions import (
    AwaitRun,
    HoldPlace,
    ListBranches,
    PrepareWorkspace,
    StartRun,
    StopRun,
    WaitUntil,
)
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.events import (
    BranchesListed,
    Event,
    NameTaken,
    PlaceAwaited,
    PlaceGranted,
    RunEnded,
    RunStarted,
    RunStopped,
    SettingsChanged,
    TimeCame,
    WorkspaceReady,
)
from bot.core.projections.registry import parse_observations
from bot.core.retry import with_retries
from bot.core.runs import Run
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import Status
from bot.core.task import Task, Workspace
from bot.core.world import World, performs, performs_telling
from bot.steps.dialogs.work import watch_dialogs
from bot.steps.execute.instruction import instruction
from bot.steps.execute.next_step import approved_flags
from bot.steps.execute.rules import unmerged_dependencies
from bot.steps.repository_state import settings_changed
from bot.steps.workspaces import (
    dependencies_changed,
    explain_taken,
    keep_evidence,
    set_up,
    task_and_run,
    verified_commit,
)

log = logging.getLogger("agent.sub")
SCREEN_LINES = 60
"""Lines of a pane that are searched for an agent's last words."""
LONGEST_SLEEP = 60.0
"""Seconds per sleep: the wall clock may be changed meanwhile."""


@performs(PrepareWorkspace)
async def prepare_workspace(
    world: World, session: Session, order: PrepareWorkspace
) -> WorkspaceReady | NameTaken:
    """Create the worktree and merge the dependencies into it.

    Idempotent: an existing worktree of the bot is reused, and repeated merges change nothing.
    """
    task, _, workspace = task_and_run(session, order.run_id)
    start = session.plan.spec.commit if session.plan.spec else session.repository.base_commit
    begun = bool(workspace.start)
    try:
        await world.worktrees.prepare(
            session.repository.path, workspace.branch, workspace.path, start
        )
    except Refused as refusal:
        if refusal.reason != "taken" or begun:
            raise explain_taken(refusal, workspace) from refusal
        return NameTaken(
            **world.mark(),
            answers=order.key,
            task_id=task.id,
            branch=workspace.branch,
        )
    return await _merge_dependencies(world, session, order, task, workspace)


async def _merge_dependencies(
    world: World, session: Session, order: PrepareWorkspace, task: Task, workspace: Workspace
) -> WorkspaceReady:
    # A conflict is left to the task's own agent, which knows both sides best.
    conflicts: tuple[str, ...] = ()
    conflicting = ""
    merged, outdated = [*workspace.merged], not workspace.ready
    for predecessor in unmerged_dependencies(session, task):
        if predecessor.workspace and not conflicts:
            branch = predecessor.workspace.branch
            message = f"chore: merge {predecessor.key} ({branch})"
            plan = session.plan.spec.directory if session.plan.spec else ""
            commit = verified_commit(predecessor)
            outcome = await world.worktrees.merge(workspace.path, commit, message, plan=plan)
            conflicts = outcome.conflicts
            conflicting = predecessor.id if conflicts else ""
            merged.append(predecessor.id)
            outdated = outdated or dependencies_changed(predecessor.work)
    if outdated:
        await set_up(world, session, workspace.path, task.key, f"the worktree of {task.key}")
    head = (await world.worktrees.work(workspace.path, session.repository.base_commit)).head
    return WorkspaceReady(
        **world.mark(),
        answers=order.key,
        task_id=task.id,
        workspace=workspace.model_copy(
            update={"start": workspace.start or head, "merged": tuple(merged), "ready": True}
        ),
        conflicts=conflicts,
        conflicting=conflicting,
    )


@performs(StartRun)
async def start_run(
    world: World, session: Session, order: StartRun
) -> RunStarted | SettingsChanged:
    """Start the agent. Idempotent: the pane is named after the run, and an ended run is not started again."""
    task, run, workspace = task_and_run(session, order.run_id)
    await _require_worktree(world, task, workspace)
    await _stop_earlier_runs(world, task, run)
    _require_approved_flags(world, session, run)
    _require_sandbox(world, session)
    if changed := await settings_changed(world, session, order.key, task, run, workspace):
        return changed
    before = await world.repository.checkout(session.repository.path)
    marked = world.agents.uses_marker(run.agent)
    kept = world.registrar.registry is not None
    notebook = world.panes.notebook(run.name) if kept else ""
    report = world.panes.report(run.name)
    told = instruction(session, task, run, needs_marker=marked, notebook=notebook, report=report)
    prompt = world.masker.mask(told)
    launch = await world.agents.launch(
        run.agent,
        cwd=workspace.path,
        prompt=prompt,
        conversation=run.conversation,
        resume=run.resumes,
        nonce=run.nonce,
        spool=f"{world.home}/spool/{run.name}",
    )
    pane = await world.panes.start(run.name, workspace.path, launch, prompt)
    _log_run("started", session, task, run, pane=pane.pane_id, pid=pane.pid, why=run.why)
    return RunStarted(
        **world.mark(),
        answers=order.key,
        run_id=run.id,
        pane_id=pane.pane_id,
        pid=pane.pid,
        attach=world.panes.attach(run.name),
        before=before,
    )


def _require_approved_flags(world: World, session: Session, run: Run) -> None:
    # The settings may have changed since somebody approved how agents are started.
    let = run.agent == session.agents.default or run.agent in session.agents.allowed
    if not let or world.agents.flags(run.agent) != approved_flags(session, run.agent):
        raise Refused(
            f"{run.agent} would be started with other flags than were approved: {world.agents.flags(run.agent)}",
            "Set GWT_AGENT and GWT_AGENT_COMMAND as they were, or discard this session and ask anew.",
        )


def _require_sandbox(world: World, session: Session) -> None:
    # Whoever was told of a sandbox has not approved that agents run without one.
    if session.agents.sandboxed and not world.rules.sandboxed:
        raise Refused(
            "Its agents were to run in a sandbox, and there is none any more.",
            "Set SANDBOX=bwrap as it was, or discard this session and ask anew.",
        )


async def _require_worktree(world: World, task: Task, workspace: Workspace) -> None:
    # It may have been removed by hand.
    try:
        await world.worktrees.work(workspace.path, workspace.start)
    except Refused as refusal:
        reason = f"The worktree of {task.key} is gone or cannot be used: {refusal.reason}"
        raise type(refusal)(reason, refusal.remedy) from refusal


async def _stop_earlier_runs(world: World, task: Task, run: Run) -> None:
    # Never two agents in one worktree: one that should have been stopped may live on, if tmux could not be reached.
    for earlier in task.runs:
        if earlier.id == run.id or await world.panes.find(earlier.name) is None:
            continue
        if survivors := await world.panes.stop(earlier.name):
            pids = ", ".join(map(str, survivors))
            raise Unavailable(
                f"An earlier agent of {task.key} will not end (process {pids}).", "End it by hand."
            )


@performs_telling(AwaitRun)
async def await_run(
    world: World, session: Session, order: AwaitRun, tell: Callable[[Event], None]
) -> RunEnded:
    """Wait for the end of a run, and report its dialogs meanwhile.

    Idempotent: the end is on disk before it is reported.
    """
    task, run, _ = task_and_run(session, order.run_id)
    asking = asyncio.create_task(watch_dialogs(world, order, run, tell))
    try:
        end = await world.panes.ended(run.name)
    finally:
        asking.cancel()
        await asyncio.wait({asking})
    screen = await world.panes.tail(run.name, SCREEN_LINES)
    end = world.agents.with_limit(run.agent, end, screen, world.clock.now())
    _log_run(
        "ended", session, task, run, outcome=end.outcome, exit_code=end.exit_code, by=end.source
    )
    seen = await _keep_observations(world, session, run)
    log_path = await world.panes.keep_transcript(run.name)
    report = await _report(world, task, run)
    summary = f"{task.key}: run {run.number} of {run.agent} ended, {end.outcome} by {end.source}"
    evidence = await keep_evidence(
        world, session, task, "run", (run.id,), summary, executor=run.agent, source=log_path
    )
    return RunEnded(
        **world.mark(),
        answers=order.key,
        run_id=run.id,
        end=end,
        log_path=log_path,
        evidence=evidence,
        report=report,
        report_evidence=await _keep_report(world, session, task, run, report),
        noticed=seen,
    )


async def _report(world: World, task: Task, run: Run) -> str:
    # If there is no report file, the agent's last message serves as the report.
    if task.type is not TaskType.INVESTIGATION:
        return ""
    return (await world.panes.read_report(run.name)).strip()


async def _keep_report(world: World, session: Session, task: Task, run: Run, report: str) -> str:
    # Kept among the evidence, because the session itself is deleted some day.
    if not report:
        return ""
    summary = f"{task.key}: the report of run {run.number} of {run.agent}"
    return await keep_evidence(
        world, session, task, "report", (run.id,), summary, executor=run.agent, raw=report
    )


async def _keep_observations(world: World, session: Session, run: Run) -> tuple[str, ...]:
    # A failure is only logged: the run is over, and observations are optional.
    if world.registrar.registry is None:
        return ()
    try:
        text = await world.panes.noticed(run.name)
        found = parse_observations(text, run.id, session.intent.id, world.clock.now())
        await world.registrar.observe(session.repository.path, found)
    except PortError as trouble:
        log.warning("not noted", extra={"data": {"run": run.id, "why": trouble.reason}})
        return ()
    return tuple(one.id for one in found)


@performs(WaitUntil)
async def wait_until(world: World, session: Session, order: WaitUntil) -> TimeCame:
    while (left := (order.at - world.clock.now()).total_seconds()) > 0:
        await world.clock.sleep(min(left, LONGEST_SLEEP))
    return TimeCame(**world.mark(), answers=order.key, task_id=order.task_id)


@performs(StopRun)
async def stop_run(world: World, session: Session, deed: StopRun) -> RunStopped:
    """End the run's agent. Idempotent."""
    survivors = await world.panes.stop(f"run-{deed.run_id}")
    log.info(
        "stopped",
        extra={"data": {"session": session.id, "run": deed.run_id, "survivors": survivors}},
    )
    return RunStopped(
        **world.mark(),
        answers=deed.key,
        run_id=deed.run_id,
        survivors=survivors,
    )


def _log_run(what: str, session: Session, task: Task, run: Run, **more: object) -> None:
    """Log the start or end of an agent in the program's log."""
    data = {"session": session.id, "task": task.key, "run": run.id, "agent": run.agent, **more}
    log.info(what, extra={"data": data})


# Whose turn it is in the repository, and which branch names are taken.

queue_log = logging.getLogger("bot.perform")


@performs_telling(HoldPlace)
async def hold_place(
    world: World, session: Session, order: HoldPlace, tell: Callable[[Event], None]
) -> None:
    """Wait for the slot and keep it until cancelled.

    The queue is in memory only: after a restart everybody queues again.
    """

    async def tell_granted() -> None:
        tell(PlaceGranted(**world.mark(), answers=order.key))

    async def granted() -> None:
        # Retried even if the disk is full: giving up would release the slot to another session.
        await with_retries(world, tell_granted, tell, order=order.key, quiet=True)

    def moved(position: int, waiting: int) -> None:
        try:
            tell(
                PlaceAwaited(**world.mark(), answers=order.key, position=position, waiting=waiting)
            )
        except Unavailable:
            # called while another session releases the slot, which a full disk here must not prevent
            queue_log.warning("position not told", extra={"data": {"id": session.id}})

    await world.places.hold(
        session.repository.path,
        session.id,
        order.since,
        granted,
        moved,
        held=session.queue.has_place,
        rework=order.rework,
    )


@performs(ListBranches)
async def list_branches(world: World, session: Session, order: ListBranches) -> BranchesListed:
    names = await world.repository.branches(session.repository.path)
    names = (*names, *_promised_branches(world, session))
    return BranchesListed(**world.mark(), answers=order.key, names=names)


def _promised_branches(world: World, session: Session) -> Iterator[str]:
    """Yield branch names that other sessions have chosen but not created yet; a stop may come between the two."""
    for listed in world.store.sessions():
        ended = listed.status in (Status.COMPLETED, Status.DISCARDED)
        if ended or listed.id == session.id or listed.repository != session.repository.path:
            continue
        record = world.store.find(listed.id)
        for workspace in record.session.workspaces if record else ():
            yield workspace.branch

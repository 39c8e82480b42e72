"""Tasks, their worktrees and their evidence, as the work of several steps needs them."""

from __future__ import annotations

from bot.core.errors import Refused
from bot.core.evidence import Evidence, EvidenceInventory
from bot.core.git import Work
from bot.core.naming import derived_id
from bot.core.repositories import Repositories
from bot.core.runs import Run
from bot.core.session import Session
from bot.core.task import Task, Workspace
from bot.core.world import World


def task_in(session: Session, task_id: str) -> tuple[Task, Workspace]:
    task = session.task(task_id)
    if task is None or task.workspace is None:
        raise Refused("that task is no longer part of the plan")
    return task, task.workspace


def finished_commit(task: Task) -> str:
    """What it is done with: the commit that was looked at, wherever its branch has been moved since."""
    branch = task.workspace.branch if task.workspace else ""
    return task.work.head if task.work else branch


async def require_head(world: World, task: Task, workspace: Workspace, commit: str) -> Work:
    """What is tested and published is what was looked at."""
    work = await world.worktrees.work(workspace.path, workspace.start)
    if work.head != commit:
        raise Refused(
            f"The branch of {task.key} has moved since it was looked at: {work.head[:10]} is not {commit[:10]}.",
            "Try again with the button below: it is looked at and tested anew.",
        )
    return work


async def keep_evidence(
    world: World,
    session: Session,
    task: Task,
    kind: str,
    parts: tuple[str, ...],
    summary: str,
    *,
    executor: str = "gwt-bot",
    raw: str = "",
    source: str = "",
) -> str:
    """Write down that something happened, under a name that follows from what it was: twice is once."""
    evidence = Evidence(
        evidence_id=derived_id(session.id, task.id, kind, *parts),
        timestamp=world.clock.now(),
        operation_type=kind,
        executor_id=executor or None,
        summary=summary,
    )
    kept = await world.archive.keep(
        evidence, session_id=session.id, task_id=task.id, raw=raw, source=source
    )
    return kept.evidence_id


async def evidence_inventory(world: World, session: Session) -> EvidenceInventory:
    """What is there of the evidence of all tasks."""
    return await world.archive.inventory(
        ref for task in session.tasks for ref in task.evidence_refs
    )


def task_and_run(session: Session, run_id: str) -> tuple[Task, Run, Workspace]:
    task = session.task_of_run(run_id)
    if task is None or task.run is None or task.workspace is None:
        raise Refused("that run is no longer part of the plan")
    return task, task.run, task.workspace


def explain_taken(refusal: Refused, workspace: Workspace) -> Refused:
    """`taken` is a word between programs; people get a sentence."""
    if refusal.reason != "taken":
        return refusal
    reason = f"The branch {workspace.branch} or its worktree is there already, and is not mine."
    return Refused(reason, refusal.remedy)


SHOWN = 1_500
"""Characters of a set-up command's output that people see."""


async def set_up(world: World, session: Session, path: str, name: str, whose: str) -> None:
    """What the operator wants done in a new worktree before anybody works in it. It may be done twice."""
    await world.worktrees.copy_ignored(session.repository, path, world.rules.copied_files)
    for number, command in enumerate(Repositories(world).set_up_for(session.repository), 1):
        log_path = f"{world.home}/runs/setup-{session.short}-{name}-{number}.log"
        done = await world.commands.run(
            path, command, seconds=world.rules.check_seconds, log=log_path
        )
        if done.exit_code != 0:
            how = "took too long" if done.exit_code is None else f"ended with {done.exit_code}"
            output = world.masker.mask(done.output)[-SHOWN:]
            raise Refused(
                f"The set-up command `{command}` {how} in {whose}: {output}",
                f"Mend it (GWT_SET_UP), then press Retry. All of its output: {done.output_path}",
            )

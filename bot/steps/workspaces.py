"""Helpers that several steps share: tasks, their worktrees and their evidence."""

from __future__ import annotations

import re

from bot.core.errors import Refused
from bot.core.evidence import Evidence, EvidenceInventory
from bot.core.git import Work
from bot.core.naming import derived_id
from bot.core.repositories import Repositories
from bot.core.runs import Executed, Run
from bot.core.session import Session
from bot.core.task import Task, Workspace
from bot.core.world import World


def task_in(session: Session, task_id: str) -> tuple[Task, Workspace]:
    task = session.task(task_id)
    if task is None or task.workspace is None:
        raise Refused("that task is no longer part of the plan")
    return task, task.workspace


def verified_commit(task: Task) -> str:
    """Return the commit that was verified, even if its branch has moved since; the branch's name if there is none."""
    branch = task.workspace.branch if task.workspace else ""
    return task.work.head if task.work else branch


async def require_head(world: World, task: Task, workspace: Workspace, commit: str) -> Work:
    # Only the verified commit is tested and published.
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
    """Record evidence of what happened; return its id. Idempotent: the id is derived from what it was."""
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
    """Return which evidence of all tasks exists."""
    return await world.archive.inventory(
        ref for task in session.tasks for ref in task.evidence_refs
    )


def task_and_run(session: Session, run_id: str) -> tuple[Task, Run, Workspace]:
    task = session.task_of_run(run_id)
    if task is None or task.run is None or task.workspace is None:
        raise Refused("that run is no longer part of the plan")
    return task, task.run, task.workspace


def explain_taken(refusal: Refused, workspace: Workspace) -> Refused:
    # `taken` is a word between programs; users need a sentence.
    if refusal.reason != "taken":
        return refusal
    reason = f"The branch {workspace.branch} or its worktree is there already, and is not mine."
    return Refused(reason, refusal.remedy)


MAX_OUTPUT_SHOWN = 1_500
"""Characters of a set-up command's output that are shown."""


class SetUpFailed(Refused):
    """A set-up command failed; `done` is its result."""

    def __init__(self, reason: str, remedy: str, done: Executed) -> None:
        super().__init__(reason, remedy)
        self.done = done


def set_up_commands(world: World, session: Session) -> tuple[str, ...]:
    """Return the set-up commands: set in the thread, or else by the operator, or else found and approved."""
    repositories = Repositories(world)
    if session.repository.set_up_by_person or not repositories.is_set_up_configured(
        session.repository.path
    ):
        return (session.repository.set_up,) if session.repository.set_up else ()
    return repositories.set_up_for(session.repository.path)


async def set_up(world: World, session: Session, path: str, name: str, whose: str) -> None:
    """Set up a worktree before anybody works in it.

    Idempotent. Files that the commands leave behind are kept out of every commit.
    """
    await world.worktrees.copy_ignored(session.repository.path, path, world.rules.copied_files)
    commands = set_up_commands(world, session)
    if not commands:
        return
    before = await world.worktrees.untracked(path)
    try:
        for number, command in enumerate(commands, 1):
            log_path = f"{world.home}/runs/setup-{session.short}-{name}-{number}.log"
            await _set_up_by(world, path, command, log_path, whose)
    finally:
        await world.worktrees.ignore_new_files(path, before)


async def _set_up_by(world: World, path: str, command: str, log_path: str, whose: str) -> None:
    done = await world.commands.run(path, command, seconds=world.rules.check_seconds, log=log_path)
    if done.exit_code != 0:
        how = "took too long" if done.exit_code is None else f"ended with {done.exit_code}"
        output = done.output[-MAX_OUTPUT_SHOWN:]
        raise SetUpFailed(
            f"The set-up command `{command}` {how} in {whose}: {output}",
            "Mend it (GWT_SET_UP, or `setup: …` here; `setup: none` leaves it out), then press Retry. "
            f"All of its output: {done.output_path}",
            done,
        )


_DEPENDENCIES = frozenset(
    {
        *("package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml"),
        *("yarn.lock", "bun.lock", "bun.lockb", "pyproject.toml", "setup.py", "uv.lock"),
        *("poetry.lock", "pdm.lock", "Pipfile", "Pipfile.lock", "Gemfile", "Gemfile.lock"),
    }
)
_REQUIREMENTS = re.compile(r"requirements[\w.-]*\.txt")


def dependencies_changed(work: Work | None) -> bool:
    """Whether the earlier set-up is outdated because a lock file or a list of dependencies has changed."""
    paths = (*work.changed_files, *work.created_files, *work.deleted_files) if work else ()
    names = (path.rpartition("/")[2] for path in paths)
    return any(name in _DEPENDENCIES or _REQUIREMENTS.fullmatch(name) for name in names)

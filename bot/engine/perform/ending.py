"""The end of a session's work: merged in a scratch worktree, tested as a whole, and only then the base moves."""

from __future__ import annotations

import logging

from bot.domain.actions import CleanUp, MergeLocally, SumUp
from bot.domain.events import CleanedUp, MergedLocally, SummedUp
from bot.domain.evidence import Check
from bot.domain.naming import worktree_path
from bot.domain.session import Session
from bot.domain.states import Status, TaskState
from bot.domain.tasks import Workspace
from bot.domain.world import Removal, Usage
from bot.engine.brain.texts import sum_up as summed_up
from bot.engine.perform.checking import check_of
from bot.engine.world import World
from bot.errors import PortError, Refused

log = logging.getLogger("bot.perform")


async def merge_locally(world: World, session: Session, order: MergeLocally) -> MergedLocally:
    """Safe to do twice: merging what is merged makes no commit, and the base moves forward only."""
    scratch = worktree_path(session.repository, f"agent/merge-{session.short}")
    try:
        return await _merged(world, session, order, scratch)
    finally:
        await world.worktrees.remove_scratch(session.repository, scratch)


async def _merged(
    world: World, session: Session, order: MergeLocally, scratch: str
) -> MergedLocally:
    branches = tuple(
        task.workspace.branch for task in session.in_state(TaskState.COMPLETED) if task.workspace
    )
    outcome = await world.worktrees.merge_all(
        session.repository, session.base_branch, branches, scratch
    )
    if outcome.conflicts:
        return _answer(
            world, order, problem=f"the branches collide in {', '.join(outcome.conflicts)}."
        )
    check = None
    if session.test_command:
        log = f"{world.home}/runs/check-{session.short}-merged.log"
        check = await check_of(world, session, scratch, outcome.commit, 1, log)
        if not check.passed:
            problem = f"`{check.command}` fails on the merged whole (see {check.output_path})."
            return _answer(world, order, check=check, problem=problem)
    try:
        await world.worktrees.move_base(session.repository, session.base_branch, outcome.commit)
    except Refused as refusal:
        if refusal.reason != "moved":
            raise
        problem = f"{session.base_branch} has moved meanwhile; merge once more."
        return _answer(world, order, check=check, problem=problem)
    return _answer(world, order, commit=outcome.commit, check=check)


def _answer(
    world: World,
    order: MergeLocally,
    *,
    commit: str = "",
    check: Check | None = None,
    problem: str = "",
) -> MergedLocally:
    return MergedLocally(
        **world.mark(),
        answers=order.key,
        commit=commit,
        check=check,
        problem=problem,
    )


async def sum_up(world: World, session: Session, order: SumUp) -> SummedUp:
    """The end is told already: the model's words only come on top, and nobody waits for them."""
    try:
        text, usage = await summed_up(world.llm, session)
    except PortError as trouble:
        log.info("not summed up", extra={"data": {"id": session.id, "why": trouble.reason}})
        text, usage = "", Usage()
    text = world.masker.mask(text)
    return SummedUp(**world.mark(), answers=order.key, usage=usage, text=text)


async def clean_up(world: World, session: Session, order: CleanUp) -> CleanedUp:
    """Safe to do twice: what is gone is gone. Nothing goes without proof that it is safe."""
    for task in session.tasks:
        if task.run:
            await world.panes.stop(task.run.name)
    # also what an order had only begun when it was called off
    workspaces = [task.workspace for task in session.tasks if task.workspace and task.runs]
    if session.spec and (session.documents or session.spec.revision > 1):
        workspaces.append(session.spec.workspace)
    removals = [await _removed(world, session, workspace) for workspace in workspaces]
    return CleanedUp(**world.mark(), answers=order.key, removals=tuple(removals))


async def _removed(world: World, session: Session, workspace: Workspace) -> Removal:
    merged = bool(session.merged_commit) and session.status is not Status.DISCARDED
    try:
        return await world.worktrees.remove(
            session.repository,
            workspace.path,
            workspace.branch,
            session.base_branch if merged else None,
        )
    except Refused as refusal:
        return Removal(
            branch=workspace.branch,
            path=workspace.path,
            worktree_gone=False,
            branch_gone=False,
            reason=refusal.reason,
        )

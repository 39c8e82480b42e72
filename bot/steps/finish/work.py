"""The end of a session's work: merge in a scratch worktree, test the whole, and only then move the base."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator

from bot.core.actions import CleanUp, MergeLocally
from bot.core.errors import Refused
from bot.core.events import CleanedUp, MergedLocally
from bot.core.evidence import Check
from bot.core.git import Removal
from bot.core.naming import worktree_path
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import Status, TaskState
from bot.core.tampering.signs import Sign
from bot.core.task import PullRequest, Task, Workspace
from bot.core.world import World, performs
from bot.ports.stores import IndexedSession
from bot.steps.plan import pull_request_of
from bot.steps.verify import rules as verify
from bot.steps.verify import test_command
from bot.steps.verify.work import run_tests
from bot.steps.workspaces import SetUpFailed, evidence_inventory, set_up, verified_commit

log = logging.getLogger("bot.perform")


@performs(MergeLocally)
async def merge_locally(world: World, session: Session, order: MergeLocally) -> MergedLocally:
    """Merge and test the whole. Idempotent: repeated merges make no commit, and the base only moves forward."""
    scratch = worktree_path(session.repository.path, f"agent/merge-{session.short}")
    try:
        return await _merged_and_tested(world, session, order, scratch)
    finally:
        await world.worktrees.remove_scratch(session.repository.path, scratch)


async def _merged_and_tested(
    world: World, session: Session, order: MergeLocally, scratch: str
) -> MergedLocally:
    done = [task for task in session.in_state(TaskState.COMPLETED) if task.workspace]
    # if a task resolved conflicts, its branch comes first: it contains the others already resolved
    done.sort(key=lambda task: task.type is not TaskType.INTEGRATION)
    branches = tuple(dict.fromkeys(t.workspace.branch for t in done if t.workspace))
    judged = {one: await _verified_head(world, session, one, done) for one in branches}
    if moved := [_verified_at(one, done) for one, head in judged.items() if not head]:
        problem = f"{', '.join(moved)} is not what was tested and judged: it holds other commits, or lacks some. Put it back, or merge by hand."
        return _merged_event(world, order, problem=problem)
    try:
        outcome = await world.worktrees.merge_all(
            session.repository.path, session.repository.base_branch, judged, scratch
        )
    except Refused as refusal:
        if refusal.reason != "moved":
            raise
        return _merged_event(world, order, problem=refusal.remedy)
    if outcome.conflicts:
        problem = f"the branches collide in {', '.join(outcome.conflicts)}."
        return _merged_event(world, order, problem=problem, conflicts=outcome.conflicts)
    check, problem = await _test_whole(world, session, done, scratch, outcome.commit)
    if problem:
        return _merged_event(world, order, check=check, problem=problem)
    try:
        await world.worktrees.move_base(
            session.repository.path, session.repository.base_branch, outcome.commit
        )
    except Refused as refusal:
        if refusal.reason != "moved":
            raise
        problem = f"{session.repository.base_branch} has moved meanwhile; merge once more."
        return _merged_event(world, order, check=check, problem=problem)
    return _merged_event(world, order, commit=outcome.commit, check=check)


async def _test_whole(
    world: World, session: Session, done: list[Task], scratch: str, commit: str
) -> tuple[Check | None, str]:
    """Run the tests in a worktree set up like a task's.

    Return the check, and what speaks against the merge (empty if nothing).
    """
    command = test_command.for_whole(session)
    if not command:
        return None, ""
    log = f"{world.home}/runs/check-{session.short}-merged.log"
    try:
        await set_up(world, session, scratch, "merged", "the merged whole")
    except SetUpFailed as failed:
        return None, failed.reason
    accepted = [flag for task in done for flag in verify.accepted_flags(session, task)]
    missing = [
        name
        for task in done
        if task.checks and task.checks[-1].tests and _are_missing_tests_accepted(task)
        for name in task.checks[-1].tests.missing
    ]
    check = await run_tests(world, session, command, scratch, commit, 1, log, accepted, missing)
    said = {flag.says for flag in accepted if flag.sign is Sign.TESTS_MISSING}
    return check, _why_unproven(check, said)


def _are_missing_tests_accepted(task: Task) -> bool:
    """Whether a person has accepted missing tests at the task's final commit."""
    return any(
        flag.sign is Sign.TESTS_MISSING and verify.acceptance_mark(task, flag) in task.accepted
        for flag in task.flags
    )


def _why_unproven(check: Check, accepted: Collection[str]) -> str:
    """Return why the merged whole must not become the base; empty if its tests passed and ran as at the base."""
    if not check.passed:
        return f"`{check.command}` fails on the merged whole (see {check.output_path})."
    signs = [one for one in check.tests.signs if one not in accepted] if check.tests else []
    return (
        f"`{check.command}` proves nothing on the merged whole. {' '.join(signs)}" if signs else ""
    )


async def _verified_head(world: World, session: Session, branch: str, done: list[Task]) -> str:
    """Return the branch's commit; empty if it has commits beyond its last task's verified head, or lacks any task's
    head.
    """
    log_of, heads = world.worktrees.log, _heads(branch, done)
    lacks = [head for head in heads if await log_of(session.repository.path, branch, head)]
    just = [head for head in heads if not await log_of(session.repository.path, head, branch)]
    if lacks or not just:
        return ""
    return (
        just[-1]
        if just[-1] != branch
        else await world.repository.tip(session.repository.path, branch) or ""
    )


def _verified_at(branch: str, done: list[Task]) -> str:
    """Return the branch's name and its verified commit."""
    return f"{branch} (judged at {_heads(branch, done)[-1][:10]})"


def _heads(branch: str, done: list[Task]) -> list[str]:
    return [verified_commit(t) for t in done if t.workspace and t.workspace.branch == branch]


def _merged_event(
    world: World,
    order: MergeLocally,
    *,
    commit: str = "",
    check: Check | None = None,
    problem: str = "",
    conflicts: tuple[str, ...] = (),
) -> MergedLocally:
    return MergedLocally(
        **world.mark(),
        answers=order.key,
        commit=commit,
        check=check,
        problem=problem,
        conflicts=conflicts,
    )


@performs(CleanUp)
async def clean_up(world: World, session: Session, order: CleanUp) -> CleanedUp:
    """Remove worktrees and branches that are proven safe to remove. Idempotent."""
    for task in session.tasks:
        if task.run:
            await world.panes.stop(task.run.name)
    base = await _merge_proof(world, session)
    removals = [
        await _remove_workspace(world, session, workspace, base, pull)
        for workspace, pull in _workspaces(session)
    ]
    await _release_held_commits(world, session)
    lost = await world.logbook.settle(session)
    why = next(iter(lost.values()), None)
    return CleanedUp(
        **world.mark(),
        answers=order.key,
        removals=tuple(removals),
        evidence=await evidence_inventory(world, session),
        unlogged=tuple(lost),
        unlogged_because=why.reason if why else "",
        unlogged_remedy=why.remedy if why else "",
    )


async def _release_held_commits(world: World, session: Session) -> None:
    """Release fetched commits of the host that no unfinished session starts from."""
    records = (
        world.store.find(one.id) for one in world.store.sessions() if _is_unfinished(one, session)
    )
    needed = frozenset(record.session.repository.base_commit for record in records if record)
    try:
        await world.worktrees.let_go(session.repository.path, needed)
    except Refused as refusal:
        log.warning("not let go", extra={"data": {"id": session.id, "why": refusal.reason}})


def _is_unfinished(other: IndexedSession, session: Session) -> bool:
    ended = other.status in (Status.COMPLETED, Status.DISCARDED)
    return not ended and other.id != session.id and other.repository == session.repository.path


def _workspaces(session: Session) -> Iterator[tuple[Workspace, PullRequest | None]]:
    """Yield each workspace once, including those of cancelled orders; the spec's comes last."""
    begun = {t.workspace.branch: t for t in session.tasks if t.workspace and t.runs}
    for task in begun.values():
        if task.workspace:
            yield task.workspace, pull_request_of(session, task)
    for task in session.tasks:
        yield from ((workspace, None) for workspace in task.former_workspaces)
    if session.plan.spec and (session.plan.documents or session.plan.spec.revision > 1):
        yield session.plan.spec.workspace, None


async def _merge_proof(world: World, session: Session) -> str | None:
    """Return the commit or branch that proves what is merged; `None` if there is no proof."""
    if session.status is Status.DISCARDED:
        return None
    if session.ending.merged_commit:
        return session.repository.base_branch
    merged = any(task.pull_request and task.pull_request.merged for task in session.tasks)
    if not merged or world.forge is None or session.pulls.host is None:
        return None
    try:
        fetched = await world.forge.fetch(session.pulls.host.slug, session.repository.base_branch)
        await world.worktrees.import_commit(session.repository.path, fetched.path, fetched.commit)
    except Refused as refusal:
        log.warning("base not fetched", extra={"data": {"id": session.id, "why": refusal.reason}})
        return None
    return fetched.commit


async def _remove_workspace(
    world: World, session: Session, workspace: Workspace, base: str | None, pull: PullRequest | None
) -> Removal:
    tip = pull.head if pull and pull.merged else ""
    plan = (
        session.plan.spec.directory
        if session.plan.spec and workspace == session.plan.spec.workspace
        else ""
    )
    try:
        removal = await world.worktrees.remove(
            session.repository.path,
            workspace.path,
            workspace.branch,
            base if base and (pull is None or tip) else None,
            merged_tip=tip,
            plan=plan,
        )
        return await _remove_forge_branch(world, session, removal, pull)
    except Refused as refusal:
        return Removal(
            branch=workspace.branch,
            path=workspace.path,
            worktree_gone=False,
            branch_gone=False,
            reason=refusal.reason,
        )


async def _remove_forge_branch(
    world: World, session: Session, removal: Removal, pull: PullRequest | None
) -> Removal:
    """Also remove the branch on the forge once its pull request is merged, if it is still where the bot pushed it."""
    if world.forge is None or session.pulls.host is None or pull is None or not pull.merged:
        return removal
    try:
        left = await world.forge.delete_remote_branch(
            session.pulls.host.slug, removal.branch, pull.head
        )
    except Refused as refusal:
        left = refusal.reason
    reason = "; ".join(part for part in (removal.reason, left and f"on GitHub: {left}") if part)
    return removal.model_copy(update={"reason": reason})

"""Merges and deletes a branch that somebody has looked at: as it was shown, or not at all."""

from __future__ import annotations

from bot.domain.branches import BranchDetails
from bot.domain.naming import worktree_path
from bot.domain.people import Person
from bot.engine.branch_mode.pressed import About
from bot.engine.branch_mode.whose import Carried, Whose
from bot.engine.world import World
from bot.errors import Refused


async def merge(world: World, path: str, about: About, by: Person) -> str:
    """In a worktree of its own; the base moves only forward, and only where nothing of people's can be touched."""
    scratch = worktree_path(path, f"agent/merge-{about.asked}")
    try:
        commit = await _moved_forward(world, path, about, scratch)
    except Refused as refusal:
        if refusal.reason != "moved":
            raise
        raise Refused("Something has moved since you looked.", refusal.remedy) from refusal
    finally:
        await world.worktrees.remove_scratch(path, scratch)
    return f"Merged into {about.base} by {by}: {commit[:10]}"


async def _moved_forward(world: World, path: str, about: About, scratch: str) -> str:
    """The base, with the branch as it was shown and no other commit."""
    wanted = {about.name: about.commit}
    merged = await world.worktrees.merge_all(path, about.base, wanted, scratch)
    if merged.conflicts:
        files = ", ".join(merged.conflicts[:8])
        raise Refused(f"{about.name} and {about.base} collide in {files}.", "Merge by hand.")
    await world.worktrees.move_base(path, about.base, merged.commit)
    return merged.commit


async def delete(
    world: World, about: About, by: Person, found: BranchDetails, worktree: str
) -> str:
    """`worktree`: of the bot's own, which may go with it."""
    free = worktree if worktree == found.branch.worktree else ""
    await world.worktrees.delete_branch(
        found.repository, about.name, about.commit, about.lost, worktree=free
    )
    return f"Deleted by {by}. It stood at {about.commit}; git branch {about.name} {about.commit[:10]} brings it back."


def obstacle(found: BranchDetails, carried: Carried | None, needed: str) -> str:
    """Why a branch may not be deleted; empty: it may, once somebody has confirmed it. `needed`: by whom."""
    if needed:
        return f"session {needed} is built upon it"
    where = found.branch.worktree
    if where and not (where == spare(found, carried) and not found.uncommitted):
        return f"it is checked out in {where}"
    return ""


def spare(found: BranchDetails, carried: Carried | None) -> str:
    """A worktree of the bot's that no session needs any more."""
    if carried and carried.session.over:
        return carried.worktree
    return ""


def needed_by(whose: Whose, path: str, branch: str) -> str:
    session = whose.needs(path, branch)
    return session.short if session else ""

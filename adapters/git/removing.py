"""Removes a worktree and its branch. Its rule: only what is proven to be kept elsewhere, never forced; else it says what is left."""

from __future__ import annotations

import asyncio
from pathlib import Path

from adapters.git.held import Held
from adapters.git.ledger import Made, Stage
from adapters.git.place import Place, first_line, is_there
from adapters.git.proofs import Elsewhere, Proofs
from adapters.git.recovery import Recovery, remove_old_lock, remove_stale_locks
from adapters.git.run import Git
from adapters.git.standing import Standing, at_path, at_work_in, nameless, standing
from adapters.git.tree import Tree
from adapters.git.trust import Trust
from bot.domain.world import Removal
from bot.errors import Refused


class Removing:
    def __init__(self, git: Git, tree: Tree, trust: Trust) -> None:
        self._git = git
        self._tree = tree
        self._trust = trust
        self._recovery = Recovery(git)
        self._proofs = Proofs(tree)

    async def remove(self, held: Held, path: Path, branch: str, kept: Elsewhere) -> Removal:
        """The worktree, and the branch if everything on it is kept elsewhere."""
        tip = await self._tree.tip(held.main, branch)
        missing = await self._proofs.missing(held.main, branch, tip, kept) if tip else ""
        if missing:
            return _removal(held, path, branch, False, missing)
        if reason := await self.remove_worktree(held, path, branch):
            return _removal(held, path, branch, tip is None, reason)
        if tip is None or not kept.is_told:
            why = "" if tip is None else "nothing says that it was merged: the branch is kept"
            return _removal(held, path, branch, tip is None, why)
        reason = await self.remove_branch(held, branch, tip)
        return _removal(held, path, branch, not reason, reason)

    async def remove_worktree(self, held: Held, path: Path, branch: str) -> str:
        """Why it was left; empty when it is gone."""
        entries = standing(held.main)
        entry = at_path(entries, path)
        made = held.made(path)
        if made is not None and made.stage in {Stage.PREPARING, Stage.REMOVING}:
            left = ([entry] if entry else []) + nameless(entries, path)
            return await self._finish(held, path, made, left)
        if entry is None and not is_there(path):
            await held.strike(path)
            return ""
        if made is None or entry is None:
            return f"{path} is no worktree of the bot's"
        if not is_there(path):
            return await self._git_removes(held, path)
        at = await self._trust.worktree(held.main, path)
        remove_stale_locks(held.main, path, entry.git_dir, branch)
        if reason := await self._in_use(at, entry, branch):
            return reason
        ignored = await self._tree.ignored(at)
        head = await self._tree.commit(at, "HEAD")
        news = {"stage": Stage.REMOVING, "start": head, "ignored": ignored}
        held.note(path, made.model_copy(update=news))
        reason = await self._git_removes(held, path)
        if reason and is_there(path) and not await self._tree.dirt(at):
            held.note(path, made)  # nothing has been removed yet
        return reason

    async def _finish(self, held: Held, path: Path, made: Made, left: list[Standing]) -> str:
        """A git of ours was killed while it made or removed this worktree: what git can make again may go."""
        try:
            await self._recovery.clear(held.main, path, made.start, left, made.ignored)
        except Refused as refused:
            return refused.remedy or refused.reason
        await held.strike(path)
        return ""

    async def _in_use(self, at: Place, entry: Standing, branch: str) -> str:
        """Why nobody may remove it now."""
        if entry.locked is not None:
            return f"the worktree is locked: {entry.locked or 'no reason given'}"
        if pids := await asyncio.to_thread(at_work_in, at.top):
            return f"process {pids[0]} still works in the worktree"
        if dirt := (*await self._tree.dirt(at), *await self._tree.hidden(at)):
            return f"uncommitted changes: {', '.join(dirt[:5])}" + ("…" if len(dirt) > 5 else "")
        if entry.branch != branch and not await self._is_on_a_branch(at):
            return "the worktree has commits that are on no branch"
        return ""

    async def _is_on_a_branch(self, at: Place) -> bool:
        answer = await self._git.read(
            *("for-each-ref", "--count=1", "--contains", "HEAD", "refs/heads/"), at=at
        )
        return bool(answer.out)

    async def _git_removes(self, held: Held, path: Path) -> str:
        """git looks once more whether it is clean; a worktree with submodules it does not remove at all."""
        try:
            await self._git.write("worktree", "remove", str(path), at=held.main, lock=held.lock)
        except Refused as refused:
            return refused.reason
        await held.strike(path)
        return ""

    async def remove_branch(self, held: Held, branch: str, tip: str) -> str:
        where = [entry.path for entry in standing(held.main) if entry.branch == branch]
        if first_line(held.main.git_dir / "HEAD") == f"ref: refs/heads/{branch}":
            where.append(str(held.main.top))
        if where:
            return f"the branch is checked out in {where[0]}"
        # of a removal that was killed: nobody else would ever take them away
        remove_stale_locks(held.main, held.main.top, None, branch)
        remove_old_lock(held.main)
        try:
            # with the tip that was proven to be merged: a branch that moved meanwhile stays
            await self._git.write(
                *("update-ref", "-d", f"refs/heads/{branch}", tip), at=held.main, lock=held.lock
            )
        except Refused as refused:
            return refused.reason
        held.strike_branch(branch)
        return ""


def _removal(held: Held, path: Path, branch: str, branch_gone: bool, reason: str) -> Removal:
    return Removal(
        branch=branch,
        path=str(path),
        worktree_gone=not is_there(path) and at_path(standing(held.main), path) is None,
        branch_gone=branch_gone,
        reason=reason,
    )

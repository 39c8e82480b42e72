"""Lets a branch go that a person has looked at. Its rule: what goes is what they saw, and never what somebody works on."""

from __future__ import annotations

from pathlib import Path

from adapters.git.branches import Branches, worktrees_of
from adapters.git.held import Held
from adapters.git.removing import Removing
from bot.errors import Refused


class Deleting:
    def __init__(self, branches: Branches, removing: Removing) -> None:
        self._branches = branches
        self._removing = removing

    async def delete(
        self, held: Held, branch: str, commit: str, lost: int, worktree: Path | None
    ) -> None:
        tip = await self._branches.tip(held.main, branch)
        if tip is None:
            held.strike_branch(branch)
            return
        if tip != commit:
            raise Refused(f"{branch} has moved since you looked", "Look at it again.")
        now_lost, _ = await self._branches.only_on(held.main, branch, tip)
        if now_lost > lost:
            raise Refused(
                f"{now_lost} commits of {branch} are nowhere else by now", "Look at it again."
            )
        where = worktrees_of(held.main).get(branch)
        if where is not None:
            await self._clear(held, branch, where, worktree)
        if reason := await self._removing.remove_branch(held, branch, tip):
            raise Refused(reason)

    async def _clear(self, held: Held, branch: str, where: str, worktree: Path | None) -> None:
        """Only a worktree of the bot's own that nobody needs any more, and only if it is clean."""
        if worktree is None or str(worktree) != where or held.made(worktree) is None:
            raise Refused(f"{branch} is checked out in {where}", "Check something else out there.")
        if reason := await self._removing.remove_worktree(held, worktree, branch):
            raise Refused(f"its worktree {where} cannot go: {reason}")

"""Brings finished branches to the base. Its rule: people's checkouts are moved forward only where nothing of theirs can be touched."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from pathlib import Path

from adapters.git.exclude import is_registry
from adapters.git.held import Held
from adapters.git.ledger import Stage
from adapters.git.merging import AS_TOLD, Merges
from adapters.git.place import Place, first_line, under_way
from adapters.git.preparing import Preparing
from adapters.git.run import Git
from adapters.git.standing import at_path, points_back, standing
from adapters.git.tree import Tree
from bot.domain.world import Merged
from bot.errors import Refused


class MovingBase:
    def __init__(self, git: Git, tree: Tree, preparing: Preparing) -> None:
        self._git = git
        self._tree = tree
        self._preparing = preparing
        self._merges = Merges(git, tree)

    async def merge_all(
        self, held: Held, base_branch: str, branches: Mapping[str, str], path: Path
    ) -> Merged:
        tip = await self._tip(held, base_branch)
        for name, commit in branches.items():
            if await self._tree.commit(held.main, f"refs/heads/{name}") != commit:
                raise Refused(
                    "moved", f"{name} stands no longer at {commit[:10]}. Look at it again."
                )
        if done := await self._done(held, path, (tip, *branches.values())):
            return Merged(commit=done)
        await self._preparing.scratch(held, path, tip)
        at = scratch_place(held, path)
        if at is None:
            raise Refused(f"git made no worktree at {path}")
        merged = Merged(commit=tip)
        for name, commit in branches.items():
            merged = await self._merges.merge(
                at,
                commit,
                f"Merge branch '{name}'",
                lock=held.lock,
                begun=None,
                note=lambda _: None,
            )
            if merged.conflicts:
                break
        return merged

    async def move(self, held: Held, base_branch: str, commit: str) -> None:
        """Fast-forward the base branch to `commit`."""
        new = await self._tree.commit(held.main, commit)
        old = await self._tip(held, base_branch)
        if await self._tree.contains(held.main, old, new):
            return
        if not await self._tree.contains(held.main, new, old):
            raise Refused("moved", f"{base_branch} has new commits. Merge once more.")
        where = [entry.path for entry in standing(held.main) if entry.branch == base_branch]
        if where:
            raise Refused(
                f"{base_branch} is checked out in {where[0]}",
                f"Merge there: git merge --ff-only {new}",
            )
        if first_line(held.main.git_dir / "HEAD") == f"ref: refs/heads/{base_branch}":
            await self._forward_main_checkout(held, new)
        else:
            await self._git.write(
                *("update-ref", "-m", "gwt-bot: merge", f"refs/heads/{base_branch}", new, old),
                at=held.main,
                lock=held.lock,
            )

    async def _forward_main_checkout(self, held: Held, new: str) -> None:
        if begun := under_way(held.main):
            raise Refused(
                f"{begun} is under way in the main checkout",
                "Finish it or give it up, and try again.",
            )
        # what stands in the way of the merge in the registry, git refuses by itself
        dirt = await self._tree.dirt(held.main, tracked_only=True)
        if dirt := [path for path in dirt if not is_registry(path)]:
            raise Refused(
                f"the main checkout has uncommitted changes ({', '.join(dirt[:5])})",
                "Commit or stash them, and try again.",
            )
        async with self._former(held.main) as at:
            # git refuses by itself, before it touches anything, where an untracked or ignored file stands in the way
            await self._git.write(
                *("merge", "--quiet", "--ff-only", *AS_TOLD, "--no-overwrite-ignore", "--no-stat"),
                new,
                at=at,
                lock=held.lock,
            )

    @contextlib.asynccontextmanager
    async def _former(self, main: Place) -> AsyncGenerator[Place]:
        """The main checkout, with filters found where it is as it was: in itself git would take the merged ones halfway."""
        if not await self._git.runs_what_lies_there(main):
            yield main
            return
        with tempfile.TemporaryDirectory(prefix="gwt-bot-") as folder:
            options = ("--quiet", "--shared", "--template=", "--no-recurse-submodules")
            copy = Path(folder) / "checkout"
            await self._git.make("clone", *options, "--", str(main.top), str(copy), at=Path(folder))
            yield replace(main, main=copy)

    async def _tip(self, held: Held, branch: str) -> str:
        tip = await self._tree.tip(held.main, branch)
        if tip is None:
            raise Refused(f"there is no branch {branch} in the repository")
        return tip

    async def _done(self, held: Held, path: Path, wanted: tuple[str, ...]) -> str | None:
        """The result of an earlier call for the same commits, where its worktree still stands."""
        at = scratch_place(held, path)
        if at is None:
            return None
        head = await self._tree.commit_or_none(at, "HEAD")
        if head is None or await self._tree.dirt(at):
            return None
        contained = [await self._tree.contains(at, head, commit) for commit in wanted]
        return head if all(contained) else None


def scratch_place(held: Held, path: Path) -> Place | None:
    """Where a scratch worktree of the bot's stands; none: there is none that is whole."""
    made = held.made(path)
    entry = at_path(standing(held.main), path)
    if made is None or entry is None or made.stage is not Stage.SCRATCH or not made.git_dir:
        return None
    return held.main.linked(entry.git_dir, path) if points_back(path, entry) else None

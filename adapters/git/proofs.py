"""What proves that a branch's work is kept elsewhere. Its rule: read from commits and their contents, never from what anybody says was done."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.git.place import Place
from adapters.git.tree import Tree, readable


@dataclass(frozen=True)
class Elsewhere:
    """Where the work on a branch is said to be kept."""

    merged_into: str | None
    """A branch or commit that contains it."""
    merged_tip: str = ""
    """A commit of it that was merged somewhere, squashed perhaps."""
    plan: str = ""
    """A folder of documents: it is enough that `merged_into` holds what the branch made of them."""

    @property
    def is_told(self) -> bool:
        return self.merged_into is not None or bool(self.merged_tip)


class Proofs:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def missing(self, main: Place, branch: str, tip: str, kept: Elsewhere) -> str:
        """Why the branch has to stay; empty: all of it is kept elsewhere."""
        if kept.merged_tip and await self._is_in(main, tip, kept.merged_tip):
            return ""
        if kept.merged_into is None:
            return f"{branch} has moved since it was merged" if kept.merged_tip else ""
        merged = await self._tree.commit(main, kept.merged_into)
        if await self._tree.contains(main, merged, tip):
            return ""
        if kept.plan:
            return await self._documents(main, branch, tip, merged, kept.plan)
        commits = await self._tree.commits(main, merged, tip)
        return f"{branch} has {len(commits)} commits that are not merged"

    async def _is_in(self, main: Place, tip: str, merged_tip: str) -> bool:
        """The tip itself, or one before it: whoever merges may have added to the branch first."""
        if tip == merged_tip:
            return True
        newer = await self._tree.commit_or_none(main, merged_tip)
        return newer is not None and await self._tree.contains(main, newer, tip)

    async def _documents(self, main: Place, branch: str, tip: str, merged: str, plan: str) -> str:
        """The branch has changed nothing but documents, and each is the same where they were merged."""
        parted = await self._tree.parted(main, merged, tip)
        if parted is None:
            return f"{branch} has no history in common with what it was merged into"
        made = {path for _, path in await self._tree.touched(main, parted, tip)}
        differing = {path for _, path in await self._tree.touched(main, merged, tip)}
        lost = {path for path in made if path in differing or not path.startswith(f"{plan}/")}
        if not lost:
            return ""
        names = ", ".join(readable(path) for path in sorted(lost)[:3])
        return f"{branch} has files that are not merged: {names}"

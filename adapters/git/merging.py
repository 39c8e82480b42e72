"""Merges branches in a worktree. Its rule: it ends with a commit or with the worktree as it was, also after a kill."""

from __future__ import annotations

from collections.abc import Callable

from adapters.git.failures import translated
from adapters.git.ledger import Merging
from adapters.git.place import Place
from adapters.git.run import Git
from adapters.git.settling import Settling
from adapters.git.tree import Tree, readable
from bot.domain.world import Merged
from bot.errors import Refused

AS_TOLD = ("--commit", "--no-squash", "--no-autostash")
"""Whatever `branch.*.mergeOptions` says: a merge that makes no commit ends well all the same."""
Note = Callable[[Merging | None], None]
"""Write down that a merge begins, or that it is over."""


class Merges:
    def __init__(self, git: Git, tree: Tree) -> None:
        self._git = git
        self._tree = tree
        self._settling = Settling(git)

    async def merge(
        self,
        at: Place,
        other: str,
        message: str,
        *,
        lock: int,
        begun: Merging | None,
        note: Note,
        plan: str = "",
    ) -> Merged:
        """Merge the commit `other` into what is checked out. Collisions below `plan` alone are settled with our copy."""
        if begun is not None:
            await self._undo(at, begun, lock)
            note(None)
        head = await self._tree.commit(at, "HEAD")
        if await self._tree.contains(at, head, other):
            return Merged(commit=head)
        if dirt := await self._tree.dirt(at, tracked_only=True):
            raise Refused(
                f"the worktree has uncommitted changes ({', '.join(dirt[:5])})",
                "Commit them first.",
            )
        note(Merging(head=head, other=other))
        merged = await self._try(at, other, message, lock, plan)
        note(None)
        return merged

    async def _try(self, at: Place, other: str, message: str, lock: int, plan: str) -> Merged:
        answer = await self._git.write(
            *("merge", "--quiet", "--no-edit", "--no-ff", "--no-verify", "--no-stat"),
            *AS_TOLD,
            *("--no-overwrite-ignore", "--strategy=ort", "-m", message, other),
            at=at,
            lock=lock,
            ok=(0, 1, 2, 128),
        )
        if answer.code == 0:
            return Merged(commit=await self._tree.commit(at, "HEAD"))
        unmerged = await self._settling.unmerged(at)
        others = [one for one in unmerged if not plan or not one.path.startswith(f"{plan}/")]
        if (
            unmerged
            and not others
            and await self._settling.settle(at, unmerged, plan, message, lock)
        ):
            return Merged(commit=await self._tree.commit(at, "HEAD"))
        await self._abort(at, lock)
        if unmerged:
            return Merged(conflicts=tuple(readable(one.path) for one in others or unmerged))
        # neither merged nor in conflict: an untracked file in the way, unrelated histories, a full disk
        raise translated("merge", answer.err, answer.code, at)

    async def _abort(self, at: Place, lock: int) -> None:
        if (at.git_dir / "MERGE_HEAD").exists():
            await self._git.write("merge", "--abort", at=at, lock=lock)

    async def _undo(self, at: Place, begun: Merging, lock: int) -> None:
        """Take back a merge the bot died in. It began in a clean worktree, so what it touched is git's to restore."""
        if await self._tree.commit(at, "HEAD") != begun.head:
            # the commit was made; what is left is at most the note that it was under way
            await self._git.write("merge", "--quit", at=at, lock=lock)
            return
        await self._git.write("read-tree", "--reset", begun.head, at=at, lock=lock)
        await self._git.write("update-index", "-q", "--refresh", at=at, lock=lock, ok=(0, 1))
        await self._git.write("merge", "--quit", at=at, lock=lock)
        touched = await self._touched(at, begun)
        kept = set((await self._git.read("ls-files", "-z", at=at)).fields)
        await self._restore(at, [path for path in touched if path in kept], lock)
        await self._take_away(at, [path for path in touched if path not in kept], begun.other)

    async def _touched(self, at: Place, begun: Merging) -> list[str]:
        """What a merge changes: that which the other side has changed since they parted."""
        parted = await self._tree.parted(at, begun.head, begun.other)
        if parted is None:
            return []
        changes = await self._tree.touched(at, parted, begun.other)
        return [path for _, path in changes]

    async def _restore(self, at: Place, paths: list[str], lock: int) -> None:
        told = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
        await self._git.write(
            *("checkout-index", "--force", "--index", "--quiet", "-z", "--stdin"),
            at=at,
            lock=lock,
            stdin=told,
        )

    async def _take_away(self, at: Place, paths: list[str], other: str) -> None:
        """Files the merge was to add, as far as git wrote them."""
        for path in paths:
            file = at.top / path
            inside = file.parent.resolve().is_relative_to(at.top)
            if not inside or file.is_symlink() or not file.is_file():
                continue
            wanted = await self._git.read(
                *("cat-file", "--filters", f"{other}:{path}"), at=at, ok=(0, 128)
            )
            if wanted.code == 0 and wanted.out.startswith(file.read_bytes()):
                file.unlink()

"""Merges branches, advances the base branch, and predicts conflicts.

A merge ends with a commit or with the worktree unchanged, even after a kill.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from adapters.git.commits import Commits, readable
from adapters.git.errors import git_error
from adapters.git.layout import (
    GitCheckout,
    entry_at,
    first_line,
    is_in_registry,
    points_back,
    unfinished_operation,
    worktree_entries,
)
from adapters.git.ledger import LockedRepository, MergeUnderWay, Stage
from adapters.git.run import Git
from adapters.git.worktree_setup import WorktreeSetup
from bot.core.errors import Refused
from bot.core.git import Collision, Merged

# Merges into a worktree.

MERGE_OPTIONS = ("--commit", "--no-squash", "--no-autostash")
"""Override `branch.*.mergeOptions`: a merge that makes no commit would still exit with 0."""
RecordMerge = Callable[[MergeUnderWay | None], None]
"""Records that a merge starts or, with None, has ended."""


class Merges:
    def __init__(self, git: Git, tree: Commits) -> None:
        self._git = git
        self._tree = tree
        self._document_conflicts = DocumentConflicts(git)

    async def merge(
        self,
        at: GitCheckout,
        other: str,
        message: str,
        *,
        lock: int,
        unfinished: MergeUnderWay | None,
        record: RecordMerge,
        plan: str = "",
    ) -> Merged:
        """Merge the commit `other` into the checkout.

        Conflicts only below `plan` are resolved in favour of our side.
        """
        if unfinished is not None:
            await self._undo(at, unfinished, lock)
            record(None)
        head = await self._tree.commit(at, "HEAD")
        if await self._tree.is_ancestor(at, head, other):
            return Merged(commit=head)
        if dirt := await self._tree.uncommitted_paths(at, tracked_only=True):
            raise Refused(
                f"the worktree has uncommitted changes ({', '.join(dirt[:5])})",
                "Commit them first.",
            )
        record(MergeUnderWay(head=head, other=other))
        merged = await self._try(at, other, message, lock, plan)
        record(None)
        return merged

    async def _try(self, at: GitCheckout, other: str, message: str, lock: int, plan: str) -> Merged:
        answer = await self._git.write(
            *("merge", "--quiet", "--no-edit", "--no-ff", "--no-verify", "--no-stat"),
            *MERGE_OPTIONS,
            *("--no-overwrite-ignore", "--strategy=ort", "-m", message, other),
            at=at,
            lock=lock,
            ok=(0, 1, 2, 128),
        )
        if answer.code == 0:
            return Merged(commit=await self._tree.commit(at, "HEAD"))
        unmerged = await self._document_conflicts.unmerged(at)
        others = [one for one in unmerged if not plan or not one.path.startswith(f"{plan}/")]
        if (
            unmerged
            and not others
            and await self._document_conflicts.resolve(at, unmerged, plan, message, lock)
        ):
            return Merged(commit=await self._tree.commit(at, "HEAD"))
        await self._abort(at, lock)
        if unmerged:
            return Merged(conflicts=tuple(readable(one.path) for one in others or unmerged))
        # neither merged nor in conflict: an untracked file in the way, unrelated histories, a full disk
        raise git_error("merge", answer.err, answer.code, at)

    async def _abort(self, at: GitCheckout, lock: int) -> None:
        if (at.git_dir / "MERGE_HEAD").exists():
            await self._git.write("merge", "--abort", at=at, lock=lock)

    async def _undo(self, at: GitCheckout, begun: MergeUnderWay, lock: int) -> None:
        """Undo a merge during which the bot died.

        It started in a clean worktree, so git can restore everything it touched.
        """
        if await self._tree.commit(at, "HEAD") != begun.head:
            # the commit was made; only git's merge state may be left
            await self._git.write("merge", "--quit", at=at, lock=lock)
            return
        await self._git.write("read-tree", "--reset", begun.head, at=at, lock=lock)
        await self._git.write("update-index", "-q", "--refresh", at=at, lock=lock, ok=(0, 1))
        await self._git.write("merge", "--quit", at=at, lock=lock)
        touched = await self._touched(at, begun)
        kept = set((await self._git.read("ls-files", "-z", at=at)).fields)
        await self._restore(at, [path for path in touched if path in kept], lock)
        await self._remove_added(at, [path for path in touched if path not in kept], begun.other)

    async def _touched(self, at: GitCheckout, begun: MergeUnderWay) -> list[str]:
        """Return the paths a merge changes: those the other side changed since the merge base."""
        parted = await self._tree.merge_base(at, begun.head, begun.other)
        if parted is None:
            return []
        changes = await self._tree.changed_paths(at, parted, begun.other)
        return [path for _, path in changes]

    async def _restore(self, at: GitCheckout, paths: list[str], lock: int) -> None:
        told = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
        await self._git.write(
            *("checkout-index", "--force", "--index", "--quiet", "-z", "--stdin"),
            at=at,
            lock=lock,
            stdin=told,
        )

    async def _remove_added(self, at: GitCheckout, paths: list[str], other: str) -> None:
        """Remove the files the merge added, if they are what git wrote."""
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


# Merges finished branches into the base branch. People's checkouts are fast-forwarded only if none of their changes can
# be affected.


class BaseUpdate:
    def __init__(self, git: Git, tree: Commits, preparing: WorktreeSetup) -> None:
        self._git = git
        self._tree = tree
        self._preparing = preparing
        self._merges = Merges(git, tree)

    async def merge_all(
        self, held: LockedRepository, base_branch: str, branches: Mapping[str, str], path: Path
    ) -> Merged:
        tip = await self._tip(held, base_branch)
        for name, commit in branches.items():
            if await self._tree.commit(held.main, f"refs/heads/{name}") != commit:
                raise Refused(
                    "moved", f"{name} stands no longer at {commit[:10]}. Look at it again."
                )
        if done := await self._earlier_result(held, path, (tip, *branches.values())):
            return Merged(commit=done)
        await self._preparing.create_scratch(held, path, tip)
        at = scratch_checkout(held, path)
        if at is None:
            raise Refused(f"git made no worktree at {path}")
        merged = Merged(commit=tip)
        for name, commit in branches.items():
            merged = await self._merges.merge(
                at,
                commit,
                f"Merge branch '{name}'",
                lock=held.lock,
                unfinished=None,
                record=lambda _: None,
            )
            if merged.conflicts:
                break
        return merged

    async def fast_forward(self, held: LockedRepository, base_branch: str, commit: str) -> None:
        """Fast-forward the base branch to `commit`; raise Refused if it has other commits or is checked out elsewhere."""
        new = await self._tree.commit(held.main, commit)
        old = await self._tip(held, base_branch)
        if await self._tree.is_ancestor(held.main, old, new):
            return
        if not await self._tree.is_ancestor(held.main, new, old):
            raise Refused("moved", f"{base_branch} has new commits. Merge once more.")
        where = [entry.path for entry in worktree_entries(held.main) if entry.branch == base_branch]
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

    async def _forward_main_checkout(self, held: LockedRepository, new: str) -> None:
        if begun := unfinished_operation(held.main):
            raise Refused(
                f"{begun} is under way in the main checkout",
                "Finish it or give it up, and try again.",
            )
        # uncommitted registry files do not count here: git itself refuses if they are in the way of the merge
        dirt = await self._tree.uncommitted_paths(held.main, tracked_only=True)
        if dirt := [path for path in dirt if not is_in_registry(path)]:
            raise Refused(
                f"the main checkout has uncommitted changes ({', '.join(dirt[:5])})",
                "Commit or stash them, and try again.",
            )
        async with self._with_unmerged_filters(held.main) as at:
            # git itself refuses, before it changes anything, if an untracked or ignored file is in the way
            await self._git.write(
                *(
                    "merge",
                    "--quiet",
                    "--ff-only",
                    *MERGE_OPTIONS,
                    "--no-overwrite-ignore",
                    "--no-stat",
                ),
                new,
                at=at,
                lock=held.lock,
            )

    @contextlib.asynccontextmanager
    async def _with_unmerged_filters(self, main: GitCheckout) -> AsyncGenerator[GitCheckout]:
        """Yield the checkout with filters taken from an unchanged copy: while git merges in place it would run
        half-merged filters.
        """
        if not await self._git.runs_repository_filters(main):
            yield main
            return
        with tempfile.TemporaryDirectory(prefix="gwt-bot-") as folder:
            options = ("--quiet", "--shared", "--template=", "--no-recurse-submodules")
            copy = Path(folder) / "checkout"
            await self._git.run_in_new_folder(
                "clone", *options, "--", str(main.top), str(copy), at=Path(folder)
            )
            yield replace(main, main=copy)

    async def _tip(self, held: LockedRepository, branch: str) -> str:
        tip = await self._tree.tip(held.main, branch)
        if tip is None:
            raise Refused(f"there is no branch {branch} in the repository")
        return tip

    async def _earlier_result(
        self, held: LockedRepository, path: Path, wanted: tuple[str, ...]
    ) -> str | None:
        """Return the result of an earlier call for the same commits, if its worktree still exists."""
        at = scratch_checkout(held, path)
        if at is None:
            return None
        head = await self._tree.commit_or_none(at, "HEAD")
        if head is None or await self._tree.uncommitted_paths(at):
            return None
        contained = [await self._tree.is_ancestor(at, head, commit) for commit in wanted]
        return head if all(contained) else None


def scratch_checkout(held: LockedRepository, path: Path) -> GitCheckout | None:
    """Return the bot's scratch worktree, or None if there is no intact one."""
    made = held.worktree_record(path)
    entry = entry_at(worktree_entries(held.main), path)
    if made is None or entry is None or made.stage is not Stage.SCRATCH or not made.git_dir:
        return None
    return held.main.linked_worktree(entry.git_dir, path) if points_back(path, entry) else None


# Resolves a merge that conflicts only in the bot's own documents: the worktree's copy of each wins; anything unusual is
# left alone.

_OURS_STAGE = "2"


@dataclass(frozen=True)
class UnmergedFile:
    """A file with conflicting changes on both sides."""

    path: str
    ours: bool
    """Whether the file exists on the worktree's own side."""


class DocumentConflicts:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def unmerged(self, at: GitCheckout) -> list[UnmergedFile]:
        answer = await self._git.read("ls-files", "--unmerged", "-z", at=at)
        stages: dict[str, set[str]] = {}
        for field in answer.fields:
            facts, _, path = field.partition("\t")
            stages.setdefault(path, set()).add(facts.split()[2])
        return [UnmergedFile(path, _OURS_STAGE in found) for path, found in stages.items()]

    async def resolve(
        self, at: GitCheckout, unmerged: list[UnmergedFile], plan: str, message: str, lock: int
    ) -> bool:
        """Take our side of all files and commit. Return False, without changes, if one of them was renamed."""
        listed = await self._git.read(
            *("ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD", "--", plan), at=at
        )
        ours = set(listed.fields)
        if any((one.path in ours) != one.ours for one in unmerged):
            return False
        told = ("--pathspec-from-file=-", "--pathspec-file-nul")
        kept = _as_input(one.path for one in unmerged if one.ours)
        gone = _as_input(one.path for one in unmerged if not one.ours)
        if kept:
            await self._git.write(
                *("checkout", "--quiet", *told, "HEAD"), at=at, lock=lock, stdin=kept
            )
        if gone:
            await self._git.write(
                "rm", "--quiet", "--force", "--sparse", *told, at=at, lock=lock, stdin=gone
            )
        await self._git.write(
            *("commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", message), at=at, lock=lock
        )
        return True


def _as_input(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


# Predicts which branches would conflict. The merges are tried in a separate repository, so that the real one is not
# touched and nothing of its configuration runs.

MAX_PAIRS = 45
FORECAST_SECONDS = 60.0
ATTRIBUTES_LIMIT = 64 * 1024
MIN_FORECAST_VERSION = (2, 38)
log = logging.getLogger("bot.git")


class MergeForecast:
    def __init__(self, git: Git, tree: Commits, *, seconds: float = FORECAST_SECONDS) -> None:
        self._git = git
        self._tree = tree
        self._seconds = seconds
        self._supported: bool | None = None

    async def predict_conflicts(
        self, main: GitCheckout, branches: tuple[str, ...]
    ) -> tuple[Collision, ...]:
        if not await self._is_supported():
            return ()
        tips: dict[str, str] = {}
        for branch in branches:
            if tip := await self._tree.tip(main, branch):
                tips[branch] = tip
        found: list[Collision] = []
        if len(tips) < 2:
            return ()
        attributes = await self._attributes(main, next(iter(tips.values())))
        with tempfile.TemporaryDirectory(prefix="gwt-bot-") as directory:
            beside = _scratch_repository(main, Path(directory), tips, attributes)
            try:
                async with asyncio.timeout(self._seconds):
                    for one, other in itertools.islice(itertools.combinations(tips, 2), MAX_PAIRS):
                        files = await self._conflicting_files(beside, tips[one], tips[other])
                        if files:
                            found.append(Collision(one=one, other=other, files=files))
            except TimeoutError:
                log.warning("forecast cut short", extra={"data": {"seconds": self._seconds}})
        return tuple(found)

    async def _conflicting_files(
        self, beside: GitCheckout, one: str, other: str
    ) -> tuple[str, ...]:
        """Return the files in which two commits conflict."""
        if one == other:
            return ()
        answer = await self._git.read(
            *("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", one, other),
            at=beside,
            ok=(0, 1, 128),
        )
        if answer.code == 128:  # they share no history, or the repository lacks objects
            data = {"one": one, "other": other, "why": answer.err[:300]}
            log.warning("no forecast", extra={"data": data})
        tree_and_files = answer.fields if answer.code == 1 else []
        return tuple(dict.fromkeys(readable(name) for name in tree_and_files[1:]))

    async def _attributes(self, main: GitCheckout, commit: str) -> bytes:
        # The attributes matter, because files with `merge=union` do not conflict.
        answer = await self._git.read(
            *("cat-file", "blob", f"{commit}:.gitattributes"),
            at=main,
            ok=(0, 128),
            limit=ATTRIBUTES_LIMIT,
        )
        return answer.out if answer.code == 0 else b""

    async def _is_supported(self) -> bool:
        if self._supported is None:
            version = await self._git.version()
            self._supported = version >= MIN_FORECAST_VERSION
            if not self._supported:
                log.warning("no forecasts", extra={"data": {"why": "git 2.38 is needed"}})
        return self._supported


def _scratch_repository(
    main: GitCheckout, directory: Path, tips: dict[str, str], attributes: bytes
) -> GitCheckout:
    """Create an empty repository that reads the objects of the other one.

    Results of merges are written only here and deleted with it.
    """
    sha256 = any(len(tip) == 64 for tip in tips.values())
    version, extension = (1, "[extensions]\nobjectFormat = sha256\n") if sha256 else (0, "")
    for inner in ("objects/info", "refs", "info"):
        (directory / inner).mkdir(parents=True)
    (directory / "HEAD").write_text("ref: refs/heads/none\n")
    (directory / "config").write_text(f"[core]\nrepositoryformatversion = {version}\n{extension}")
    (directory / "info" / "attributes").write_bytes(attributes)
    objects = os.fsencode(main.common / "objects")
    (directory / "objects" / "info" / "alternates").write_bytes(objects + b"\n")
    return GitCheckout(git_dir=directory, common=directory, top=directory, main=directory)

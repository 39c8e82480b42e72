"""Removes worktrees and branches whose work is proven to be kept elsewhere, and cleans up after a killed git.

Nothing is forced: what cannot be removed safely stays, and the answer says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from adapters.git.commits import Branches, Commits, readable, worktrees_by_branch
from adapters.git.layout import (
    GitCheckout,
    WorktreeEntry,
    entry_at,
    first_line,
    git_runs_in,
    is_directory,
    path_exists,
    processes_in,
    unnamed_entries,
    worktree_entries,
)
from adapters.git.ledger import LockedRepository, Stage, WorktreeRecord
from adapters.git.run import Git
from adapters.git.trust import Trust
from bot.core.errors import Refused
from bot.core.git import Removal


class WorktreeRemoval:
    def __init__(self, git: Git, tree: Commits, trust: Trust) -> None:
        self._git = git
        self._tree = tree
        self._trust = trust
        self._recovery = Recovery(git)
        self._proofs = MergeProofs(tree)

    async def remove(
        self, held: LockedRepository, path: Path, branch: str, kept: KeptElsewhere
    ) -> Removal:
        """Remove the worktree, and the branch if everything on it is kept elsewhere."""
        tip = await self._tree.tip(held.main, branch)
        missing = await self._proofs.reason_to_keep(held.main, branch, tip, kept) if tip else ""
        if missing:
            return _removal(held, path, branch, False, missing)
        if reason := await self.remove_worktree(held, path, branch):
            return _removal(held, path, branch, tip is None, reason)
        if tip is None or not kept.is_told:
            why = "" if tip is None else "nothing says that it was merged: the branch is kept"
            return _removal(held, path, branch, tip is None, why)
        reason = await self.remove_branch(held, branch, tip)
        return _removal(held, path, branch, not reason, reason)

    async def remove_worktree(self, held: LockedRepository, path: Path, branch: str) -> str:
        """Remove the worktree; return why it was kept, or an empty string."""
        entries = worktree_entries(held.main)
        entry = entry_at(entries, path)
        made = held.worktree_record(path)
        if made is not None and made.stage in {Stage.PREPARING, Stage.REMOVING}:
            left = ([entry] if entry else []) + unnamed_entries(entries, path)
            return await self._finish_interrupted(held, path, made, left)
        if entry is None and not path_exists(path):
            await held.remove_worktree(path)
            return ""
        if made is None or entry is None:
            return f"{path} is no worktree of the bot's"
        if not path_exists(path):
            return await self._git_removes(held, path)
        at = await self._trust.checked_worktree(held.main, path)
        remove_stale_locks(held.main, path, entry.git_dir, branch)
        if reason := await self._reason_in_use(at, entry, branch):
            return reason
        ignored = await self._tree.ignored_paths(at)
        head = await self._tree.commit(at, "HEAD")
        news = {"stage": Stage.REMOVING, "start": head, "ignored": ignored}
        held.note(path, made.model_copy(update=news))
        reason = await self._git_removes(held, path)
        if reason and path_exists(path) and not await self._tree.uncommitted_paths(at):
            held.note(path, made)  # nothing has been removed yet
        return reason

    async def _finish_interrupted(
        self, held: LockedRepository, path: Path, made: WorktreeRecord, left: list[WorktreeEntry]
    ) -> str:
        # A git of the bot was killed while it created or removed this worktree: whatever git can restore may be
        # removed.
        try:
            await self._recovery.remove_remains(held.main, path, made.start, left, made.ignored)
        except Refused as refused:
            return refused.remedy or refused.reason
        await held.remove_worktree(path)
        return ""

    async def _reason_in_use(self, at: GitCheckout, entry: WorktreeEntry, branch: str) -> str:
        """Return why the worktree must not be removed now; empty if it may."""
        if entry.locked is not None:
            return f"the worktree is locked: {entry.locked or 'no reason given'}"
        if pids := await asyncio.to_thread(processes_in, at.top):
            return f"process {pids[0]} still works in the worktree"
        if dirt := (*await self._tree.uncommitted_paths(at), *await self._tree.hidden_paths(at)):
            return f"uncommitted changes: {', '.join(dirt[:5])}" + ("…" if len(dirt) > 5 else "")
        if entry.branch != branch and not await self._is_on_a_branch(at):
            return "the worktree has commits that are on no branch"
        return ""

    async def _is_on_a_branch(self, at: GitCheckout) -> bool:
        answer = await self._git.read(
            *("for-each-ref", "--count=1", "--contains", "HEAD", "refs/heads/"), at=at
        )
        return bool(answer.out)

    async def _git_removes(self, held: LockedRepository, path: Path) -> str:
        # git itself checks once more that it is clean; it never removes a worktree with submodules.
        try:
            await self._git.write("worktree", "remove", str(path), at=held.main, lock=held.lock)
        except Refused as refused:
            return refused.reason
        await held.remove_worktree(path)
        return ""

    async def remove_branch(self, held: LockedRepository, branch: str, tip: str) -> str:
        where = [entry.path for entry in worktree_entries(held.main) if entry.branch == branch]
        if first_line(held.main.git_dir / "HEAD") == f"ref: refs/heads/{branch}":
            where.append(str(held.main.top))
        if where:
            return f"the branch is checked out in {where[0]}"
        # left by a removal that was killed; nothing else would ever remove them
        remove_stale_locks(held.main, held.main.top, None, branch)
        remove_stale_shared_lock(held.main)
        try:
            # with the tip that was proven to be merged, so that a branch that has moved meanwhile stays
            await self._git.write(
                *("update-ref", "-d", f"refs/heads/{branch}", tip), at=held.main, lock=held.lock
            )
        except Refused as refused:
            return refused.reason
        held.strike_branch(branch)
        return ""


def _removal(
    held: LockedRepository, path: Path, branch: str, branch_gone: bool, reason: str
) -> Removal:
    return Removal(
        branch=branch,
        path=str(path),
        worktree_gone=not path_exists(path) and entry_at(worktree_entries(held.main), path) is None,
        branch_gone=branch_gone,
        reason=reason,
    )


# Deletes a branch that a person has looked at: only in the state they saw, and never while somebody works on it.


class BranchDeletion:
    def __init__(self, branches: Branches, removing: WorktreeRemoval) -> None:
        self._branches = branches
        self._removing = removing

    async def delete(
        self, held: LockedRepository, branch: str, commit: str, lost: int, worktree: Path | None
    ) -> None:
        tip = await self._branches.tip(held.main, branch)
        if tip is None:
            held.strike_branch(branch)
            return
        if tip != commit:
            raise Refused(f"{branch} has moved since you looked", "Look at it again.")
        now_lost, _ = await self._branches.unmerged_commits(held.main, branch, tip)
        if now_lost > lost:
            raise Refused(
                f"{now_lost} commits of {branch} are nowhere else by now", "Look at it again."
            )
        where = worktrees_by_branch(held.main).get(branch)
        if where is not None:
            await self._remove_worktree(held, branch, where, worktree)
        if reason := await self._removing.remove_branch(held, branch, tip):
            raise Refused(reason)

    async def _remove_worktree(
        self, held: LockedRepository, branch: str, where: str, worktree: Path | None
    ) -> None:
        # Only a clean worktree of the bot itself that is no longer needed.
        if worktree is None or str(worktree) != where or held.worktree_record(worktree) is None:
            raise Refused(f"{branch} is checked out in {where}", "Check something else out there.")
        if reason := await self._removing.remove_worktree(held, worktree, branch):
            raise Refused(f"its worktree {where} cannot go: {reason}")


# Proof that a branch's work is kept elsewhere: commits and their contents, never what anybody claims.


@dataclass(frozen=True)
class KeptElsewhere:
    """Where the work on a branch is said to be kept."""

    merged_into: str | None
    """A branch or commit that contains it."""
    merged_tip: str = ""
    """A commit of the branch that was merged, possibly squashed."""
    plan: str = ""
    """A folder of documents: it is enough that `merged_into` contains the branch's versions of them."""

    @property
    def is_told(self) -> bool:
        return self.merged_into is not None or bool(self.merged_tip)


class MergeProofs:
    def __init__(self, tree: Commits) -> None:
        self._tree = tree

    async def reason_to_keep(
        self, main: GitCheckout, branch: str, tip: str, kept: KeptElsewhere
    ) -> str:
        """Return why the branch must stay; empty if all of it is kept elsewhere."""
        if kept.merged_tip and await self._is_in(main, tip, kept.merged_tip):
            return ""
        if kept.merged_into is None:
            return f"{branch} has moved since it was merged" if kept.merged_tip else ""
        merged = await self._tree.commit(main, kept.merged_into)
        if await self._tree.is_ancestor(main, merged, tip):
            return ""
        if kept.plan:
            return await self._documents_problem(main, branch, tip, merged, kept.plan)
        commits = await self._tree.commits(main, merged, tip)
        return f"{branch} has {len(commits)} commits that are not merged"

    async def _is_in(self, main: GitCheckout, tip: str, merged_tip: str) -> bool:
        # The tip may also be older than what was merged: whoever merges may have added commits first.
        if tip == merged_tip:
            return True
        newer = await self._tree.commit_or_none(main, merged_tip)
        return newer is not None and await self._tree.is_ancestor(main, newer, tip)

    async def _documents_problem(
        self, main: GitCheckout, branch: str, tip: str, merged: str, plan: str
    ) -> str:
        # Proven if the branch changed only documents, and each is identical where they were merged.
        parted = await self._tree.merge_base(main, merged, tip)
        if parted is None:
            return f"{branch} has no history in common with what it was merged into"
        made = {path for _, path in await self._tree.changed_paths(main, parted, tip)}
        differing = {path for _, path in await self._tree.changed_paths(main, merged, tip)}
        lost = {path for path in made if path in differing or not path.startswith(f"{plan}/")}
        if not lost:
            return ""
        names = ", ".join(readable(path) for path in sorted(lost)[:3])
        return f"{branch} has files that are not merged: {names}"


# Cleans up after a git of the bot that was killed. A file is removed only if git can restore it. Called under the
# repository's lock, so that no git of the bot is alive.

STALE_LOCK_SECONDS = 300.0
"""Seconds after which a shared lock file counts as stale: git needs it only for an instant."""
MAX_INCOMPLETE_FILES = 32
"""A killed checkout leaves one incomplete file, or one per worker. More than this are somebody's work."""


@dataclass(frozen=True)
class TreeEntry:
    mode: str
    blob: str


class Recovery:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def remove_remains(
        self,
        main: GitCheckout,
        path: Path,
        commit: str,
        entries: list[WorktreeEntry],
        ignored: tuple[str, ...] = (),
    ) -> None:
        """Remove a worktree that was left half created or half removed.

        `ignored`: ignored paths at the beginning of the removal, which are removed with it. Raises Refused, with
        nothing removed, if any other file may be somebody's work.
        """
        if is_directory(path):
            proven = await self._restorable_files(main, path, commit, entries, ignored)
            _remove(path, proven)
        for entry in entries:
            shutil.rmtree(entry.git_dir)

    async def _restorable_files(
        self,
        main: GitCheckout,
        path: Path,
        commit: str,
        entries: list[WorktreeEntry],
        ignored: tuple[str, ...],
    ) -> list[Path]:
        """Return all files below `path`, if git can restore each of them."""
        files = await asyncio.to_thread(_files_below, path)
        tree = await self._tree(main, commit)
        pointer = path / ".git"
        own = [pointer] if pointer in files and _is_pointer(pointer, main, entries) else []
        passed = [file for file in files if _is_ignored(str(file.relative_to(path)), ignored)]
        known = {*own, *passed}
        rest = [file for file in files if file not in known]
        foreign = await self._unrestorable_files(
            main.linked_worktree(main.git_dir, path), rest, tree
        )
        if foreign:
            names = ", ".join(str(file.relative_to(path)) for file in foreign[:5])
            raise Refused(
                "taken",
                f"{path} was left half made and holds files that are not the bot's ({names}). "
                "Move them away, and try again.",
            )
        return files

    async def _tree(self, main: GitCheckout, commit: str) -> dict[str, TreeEntry]:
        answer = await self._git.read("ls-tree", "-r", "-z", "--full-tree", commit, at=main)
        tree: dict[str, TreeEntry] = {}
        for field in answer.fields:
            facts, _, name = field.partition("\t")
            mode, _, blob = facts.split()
            tree[name] = TreeEntry(mode, blob)
        return tree

    async def _unrestorable_files(
        self, at: GitCheckout, files: list[Path], tree: dict[str, TreeEntry]
    ) -> list[Path]:
        """Return the files that neither equal the tree's version nor are the beginning of it."""
        named = {file: str(file.relative_to(at.top)) for file in files}
        known = [file for file in files if named[file] in tree]
        foreign = [file for file in files if named[file] not in tree]
        links = [file for file in known if file.is_symlink()]
        plain = [file for file in known if not file.is_symlink()]
        hashes = await self._hashes(at, [named[file] for file in plain])
        suspects = links + [
            file for file, blob in zip(plain, hashes, strict=True) if blob != tree[named[file]].blob
        ]
        if len(suspects) > MAX_INCOMPLETE_FILES + len(links):
            return foreign + suspects
        begun = [
            await self._is_beginning_of(at, file, named[file], tree[named[file]])
            for file in suspects
        ]
        return foreign + [file for file, ours in zip(suspects, begun, strict=True) if not ours]

    async def _hashes(self, at: GitCheckout, names: list[str]) -> list[str]:
        """Return the hashes as git would store the files, with the repository's filters and line endings applied."""
        if not names:
            return []
        if any("\n" in name for name in names):
            raise Refused("taken", f"{at.top} was left half made. Remove it by hand.")
        told = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        answer = await self._git.read("hash-object", "--stdin-paths", at=at, stdin=told)
        return answer.text.splitlines()

    async def _is_beginning_of(
        self, at: GitCheckout, file: Path, name: str, entry: TreeEntry
    ) -> bool:
        link, content = _link_or_content(file)
        if link:
            wanted = await self._git.read("cat-file", "blob", entry.blob, at=at)
            return content == wanted.out
        wanted = await self._git.read(
            *("cat-file", "--filters", f"--path={name}", entry.blob), at=at
        )
        return wanted.out.startswith(content)


def remove_stale_locks(main: GitCheckout, path: Path, git_dir: Path | None, branch: str) -> None:
    """Remove the lock files of a killed git that belong to the bot: those of the branch and of its worktree."""
    locks = [main.common / "refs" / "heads" / f"{branch}.lock"] if branch else []
    if git_dir is not None:
        locks += git_dir.glob("*.lock")  # index, HEAD, ORIG_HEAD, next-index-<pid> …
    left = [lock for lock in locks if lock.exists()]
    # an agent or a person may use git here, too; their git is running as long as its lock exists
    if left and not git_runs_in(path, main.top):
        for lock in left:
            lock.unlink(missing_ok=True)


def remove_stale_shared_lock(main: GitCheckout) -> None:
    """Remove the lock that a git killed while deleting a branch may leave, which would prevent everybody from deleting
    branches.

    It may be a person's, so it must be old and no git may run there.
    """
    lock = main.common / "packed-refs.lock"
    with contextlib.suppress(FileNotFoundError):
        age = time.time() - lock.stat().st_mtime
        if age > STALE_LOCK_SECONDS and not git_runs_in(main.top):
            lock.unlink()


def _files_below(path: Path) -> list[Path]:
    """Return all files and links; raise Refused if there is anything else, such as a FIFO or device, which git never
    creates.
    """
    found: list[Path] = []
    for directory, inner, names in os.walk(path):
        here = Path(directory)
        links = [name for name in inner if (here / name).is_symlink()]
        found += [here / name for name in (*names, *links)]
    odd = [file for file in found if not _is_ordinary(file)]
    if odd:
        raise Refused("taken", f"{odd[0]} is no ordinary file. Move it away, and try again.")
    return found


def _link_or_content(file: Path) -> tuple[bool, bytes]:
    """Return whether it is a symbolic link, and its target or content."""
    if file.is_symlink():
        return True, os.fsencode(file.readlink())
    return False, file.read_bytes()


def _is_ignored(name: str, ignored: tuple[str, ...]) -> bool:
    return any(name == part or (part.endswith("/") and name.startswith(part)) for part in ignored)


def _is_ordinary(file: Path) -> bool:
    mode = file.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _is_pointer(pointer: Path, main: GitCheckout, entries: list[WorktreeEntry]) -> bool:
    """Whether the `.git` file is what git wrote, or the beginning of it."""
    if pointer.is_symlink():
        return False
    line = first_line(pointer)
    expected = [f"gitdir: {entry.git_dir}" for entry in entries]
    below = f"gitdir: {main.common / 'worktrees'}/"
    return line.startswith(below) or below.startswith(line) or line in expected


def _remove(path: Path, files: list[Path]) -> None:
    # Exactly these files, then empty directories. What somebody put there meanwhile stays.
    for file in files:
        file.unlink(missing_ok=True)
    for directory, _, _ in os.walk(path, topdown=False):
        with contextlib.suppress(OSError):
            Path(directory).rmdir()
    if path.exists():
        raise Refused("taken", f"{path} holds files that are not the bot's. Move them away.")

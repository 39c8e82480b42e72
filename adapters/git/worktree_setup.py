"""Creates, finds or repairs the worktree of a branch.

It is recorded before it is created; what belongs to somebody else is left alone.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from adapters.git.commits import Commits
from adapters.git.layout import (
    INITIALIZING,
    GitCheckout,
    WorktreeEntry,
    entry_at,
    is_directory,
    path_exists,
    points_back,
    unnamed_entries,
    worktree_entries,
)
from adapters.git.ledger import GitLedger, LockedRepository, RepositoryRecord, Stage, WorktreeRecord
from adapters.git.run import Git
from adapters.git.trust import Trust
from adapters.git.worktree_removal import Recovery, remove_stale_locks
from bot.core.errors import Lost, Refused


class WorktreeSetup:
    def __init__(self, git: Git, tree: Commits, trust: Trust) -> None:
        self._git = git
        self._tree = tree
        self._trust = trust
        self._recovery = Recovery(git)
        self._manual_changes = ManualChanges(tree)

    async def prepare(self, held: LockedRepository, branch: str, path: Path, start: str) -> str:
        """Make sure there is a worktree at `path` on `branch`, started at `start`, and return the branch's head."""
        start = await self._tree.commit(held.main, start)
        await self._manual_changes.require_branch(held.main, path, held.worktree_record(path))
        found = entry_at(worktree_entries(held.main), path)
        if found is not None and _is_usable(found, path, held.worktree_record(path)):
            return await self._adopt_existing(held, branch, path, start, found)
        await self._remove_remains(held, path)
        remove_stale_locks(held.main, path, None, branch)
        tip = await self._free_tip(held, branch, path, start)
        begun = WorktreeRecord(branch=branch, stage=Stage.PREPARING, start=tip or start)
        origin = await self._origin(held, branch, path, tip or start, start)
        held.note(path, begun.model_copy(update={"origin": origin}))
        if tip is None:
            await self._create(held, branch, start)
        await self._add(held, path, branch)
        return tip or start

    async def create_scratch(self, held: LockedRepository, path: Path, commit: str) -> None:
        """Create a worktree for the bot alone, on no branch, after removing an earlier one."""
        await self.remove_scratch(held, path)
        held.note(path, WorktreeRecord(stage=Stage.SCRATCH, start=commit))
        await self._add(held, path, commit, "--detach")

    async def restore(
        self, held: LockedRepository, at: GitCheckout, files: Collection[str], since: str
    ) -> None:
        """Reset these files to a commit; files missing there are removed."""
        commit = await self._tree.commit(held.main, since)
        for name in files:
            which = ("--", name)  # taken literally, because of the environment of every call
            there = await self._git.read("ls-tree", "--name-only", commit, *which, at=at)
            how = (
                ("checkout", "--quiet", commit)
                if there.text
                else ("rm", "--force", "--quiet", "--ignore-unmatch")
            )
            await self._git.write(*how, *which, at=at, lock=held.lock)

    async def remove_scratch(self, held: LockedRepository, path: Path) -> None:
        made = held.worktree_record(path)
        if made is None or made.stage is not Stage.SCRATCH:
            if path_exists(path):
                raise Refused("taken", f"{path} is no scratch worktree of the bot's.")
            return
        entry = entry_at(worktree_entries(held.main), path)
        if entry is not None and _is_usable(entry, path, None):
            # tracked files only: the removal fails if anybody put others there
            at = held.main.linked_worktree(entry.git_dir, path)
            remove_stale_locks(held.main, path, entry.git_dir, "")
            await self._git.write("reset", "--hard", "--quiet", at=at, lock=held.lock)
            await self._git.write("clean", "-fdq", at=at, lock=held.lock)
            await self._git.write("worktree", "remove", str(path), at=held.main, lock=held.lock)
        else:
            await self._remove_remains(held, path)
        await held.remove_worktree(path)

    async def _adopt_existing(
        self, held: LockedRepository, branch: str, path: Path, start: str, found: WorktreeEntry
    ) -> str:
        """Use the existing worktree; raise Refused if it is on another branch, Lost if its branch is gone."""
        if found.branch != branch:
            on = found.branch or "no branch"
            raise Refused("taken", f"The worktree {path} is on {on}, not on {branch}.")
        tip = await self._tree.tip(held.main, branch)
        if tip is None:
            raise Lost(f"the branch {branch} is gone, and the worktree {path} stands on it")
        made = held.worktree_record(path)
        if made is None or made.stage is not Stage.READY or made.git_dir != str(found.git_dir):
            origin = await self._origin(held, branch, path, tip, start)
            begun = WorktreeRecord(
                branch=branch, stage=Stage.READY, start=made.start if made else start
            )
            await self._record_ready(held, path, begun.model_copy(update={"origin": origin}))
        return tip

    async def _origin(
        self, held: LockedRepository, branch: str, path: Path, tip: str, start: str
    ) -> str:
        # The branch may have started earlier: a plan can be moved to a newer start.
        made = held.worktree_record(path)
        if made is not None and made.branch == branch and made.origin:
            return made.origin
        return start if await self._tree.is_ancestor(held.main, tip, start) else ""

    async def _remove_remains(self, held: LockedRepository, path: Path) -> None:
        """Remove what a killed git of the bot left at this path; raise Refused if it is not provably the bot's."""
        entries = worktree_entries(held.main)
        found = entry_at(entries, path)
        made = held.worktree_record(path)
        if made is not None and (made.stage is not Stage.READY or not path_exists(path)):
            ours = [found] if found else []
            _require_unlocked(ours, path)
            await self._recovery.remove_remains(
                held.main, path, made.start, ours + unnamed_entries(entries, path), made.ignored
            )
        elif found is not None and not path_exists(path):
            # removes the entry of this one path; `prune` would also drop worktrees on unplugged disks
            await self._git.write("worktree", "remove", str(path), at=held.main, lock=held.lock)
        elif path_exists(path) and (found is not None or not _is_empty(path)):
            raise Refused("taken", f"{path} is there already, and not the bot's. Move it away.")

    async def _free_tip(
        self, held: LockedRepository, branch: str, path: Path, start: str
    ) -> str | None:
        """Return the branch's head if it is the bot's or still at `start`; None if the branch must be created.

        Raises Refused if it is somebody else's.
        """
        elsewhere = [entry.path for entry in worktree_entries(held.main) if entry.branch == branch]
        if elsewhere:
            raise Refused("taken", f"The branch {branch} is checked out in {elsewhere[0]}.")
        tip = await self._tree.tip(held.main, branch)
        if tip is not None and tip != start and not held.owns(branch, path):
            raise Refused("taken", f"The branch {branch} exists already. Choose another name.")
        return tip

    async def _create(self, held: LockedRepository, branch: str, start: str) -> None:
        answer = await self._git.write(
            *("update-ref", "--create-reflog", f"refs/heads/{branch}", start, "0" * len(start)),
            at=held.main,
            lock=held.lock,
            ok=(0, 128),
        )
        if answer.code and await self._tree.tip(held.main, branch) != start:
            # agent/x/y exists, or a name that differs only in case on a case-insensitive file system
            raise Refused("taken", f"The branch {branch} cannot be made: {answer.err.strip()}")

    async def _add(self, held: LockedRepository, path: Path, what: str, *options: str) -> None:
        path.parent.mkdir(exist_ok=True)
        await self._git.write(
            *("worktree", "add", "--quiet", *options, str(path), what),
            at=held.main,
            lock=held.lock,
        )
        made = held.worktree_record(path)
        if made is None:
            raise Refused(f"{path} was not written down before it was made")
        await self._record_ready(held, path, made)

    async def _record_ready(self, held: LockedRepository, path: Path, made: WorktreeRecord) -> None:
        """Record what must not change from now on: the pointers, and the worktree's own configuration."""
        found = entry_at(worktree_entries(held.main), path)
        if found is None:
            raise Refused(f"git made no worktree at {path}")
        stage = Stage.SCRATCH if made.stage is Stage.SCRATCH else Stage.READY
        keys = await self._trust.worktree_keys(found.git_dir)
        if made.branch:
            held.note_branch(made.branch, path)
        news = {"stage": stage, "git_dir": str(found.git_dir), "keys": keys}
        held.note(path, made.model_copy(update=news))


def _is_usable(entry: WorktreeEntry, path: Path, made: WorktreeRecord | None) -> bool:
    """Whether the worktree is complete and its removal has not begun."""
    removing = made is not None and made.stage is Stage.REMOVING
    whole = entry.whole and entry.locked != INITIALIZING and path.is_dir()
    return whole and not removing and points_back(path, entry)


def _require_unlocked(entries: list[WorktreeEntry], path: Path) -> None:
    if any(entry.locked not in {None, INITIALIZING} for entry in entries):
        raise Refused(f"the worktree {path} is locked", f"Unlock it: git worktree unlock {path}")


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


# Detects manual changes to a branch of the bot. It reports the commit the branch was at, and repairs nothing.

REFLOG_LIMIT = 64 * 1024


class ManualChanges:
    def __init__(self, tree: Commits) -> None:
        self._tree = tree

    async def require_branch(
        self, main: GitCheckout, path: Path, made: WorktreeRecord | None
    ) -> None:
        """Raise Lost if the branch of a worktree of the bot is gone, or no longer contains the commit it started with."""
        if made is None or made.stage is not Stage.READY or not made.branch:
            return
        tip = await self._tree.tip(main, made.branch)
        if tip is None:
            raise _branch_gone(made, path)
        if made.origin and not await self._tree.is_ancestor(main, tip, made.origin):
            raise _branch_moved(main, made)


def _branch_gone(made: WorktreeRecord, path: Path) -> Lost:
    # The branch's own reflog is gone, too, but that of its worktree may still exist.
    _, last = _last_reflog_entry(Path(made.git_dir) / "logs" / "HEAD")
    known = last or "<commit> (git fsck --lost-found may know it)"
    return Lost(
        f"the branch {made.branch} is gone, and the worktree {path} stood on it",
        f"Bring it back: git branch {made.branch} {known}. Or give the task up.",
    )


def _branch_moved(main: GitCheckout, made: WorktreeRecord) -> Lost:
    before, _ = _last_reflog_entry(main.common / "logs" / "refs" / "heads" / made.branch)
    stood = f"; before its last move it stood at {before}" if before else ""
    return Lost(
        f"the branch {made.branch} was moved by hand: it no longer holds the commit {made.origin[:12]} it began with{stood}",
        f"Put it back: git update-ref refs/heads/{made.branch} {before or '<commit>'}. Or give the task up.",
    )


def _last_reflog_entry(reflog: Path) -> tuple[str, str]:
    """Return old and new commit from the last line of a reflog; empty if there is none."""
    if reflog.is_symlink() or not reflog.is_file():
        return "", ""
    with reflog.open("rb") as file:
        file.seek(max(0, reflog.stat().st_size - REFLOG_LIMIT))
        lines = file.read(REFLOG_LIMIT).decode("utf-8", "replace").splitlines()
    fields = lines[-1].split(" ") if lines else []
    return (fields[0], fields[1]) if len(fields) > 2 else ("", "")


# A repository that was moved, with the bot's worktrees in it. The ledger is updated first, then git is told. What could
# run code is compared with the ledger afterwards, as before every other call.


class MovedRepository:
    def __init__(self, git: Git, ledger: GitLedger) -> None:
        self._git = git
        self._ledger = ledger

    def move_record(self, old_top: Path, top: Path, common: Path) -> tuple[str, ...]:
        """Move the ledger's record from the former path; return the former paths of the worktrees. Safe to do twice."""
        page = self._ledger.page(old_top)
        if page is None or old_top == top:
            return ()
        moved = _moved_record(page, str(top), str(common))
        here = self._ledger.page(top)
        if here is not None:
            known = {**moved.worktrees, **here.worktrees}
            moved = moved.model_copy(
                update={"worktrees": known, "branches": {**moved.branches, **here.branches}}
            )
        self._ledger.save(moved)
        self._ledger.drop(old_top)
        return tuple(page.worktrees)

    async def repair(self, held: LockedRepository) -> None:
        # git finds its worktrees by absolute paths, in both directions.
        paths = [path for path in held.worktrees if is_directory(Path(path))]
        if paths:
            await self._git.write("worktree", "repair", *paths, at=held.main, lock=held.lock)


def _moved_record(page: RepositoryRecord, top: str, common: str) -> RepositoryRecord:
    def here(path: str) -> str:
        # Also applied to keys, which contain the path of an included configuration file.
        if path == page.common or path.startswith(f"{page.common}/"):
            return common + path.removeprefix(page.common)
        if path == page.top or path.startswith(f"{page.top}/"):
            return top + path.removeprefix(page.top)
        return path

    def made_here(made: WorktreeRecord) -> WorktreeRecord:
        return made.model_copy(update={"git_dir": here(made.git_dir)})

    return RepositoryRecord(
        top=top,
        common=common,
        keys={here(key): digest for key, digest in page.keys.items()},
        shallow=page.shallow,
        worktrees={here(path): made_here(made) for path, made in page.worktrees.items()},
        branches={name: here(path) for name, path in page.branches.items()},
    )

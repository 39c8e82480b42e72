"""Makes a worktree on a branch, or finds it, or mends it. Its rule: the name is written down first, and what is somebody else's is left alone."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from adapters.git.by_hand import ByHand
from adapters.git.held import Held
from adapters.git.ledger import Made, Stage
from adapters.git.place import Place, is_there
from adapters.git.recovery import Recovery, remove_stale_locks
from adapters.git.run import Git
from adapters.git.standing import (
    HALF_MADE,
    Standing,
    at_path,
    nameless,
    points_back,
    standing,
)
from adapters.git.tree import Tree
from adapters.git.trust import Trust
from bot.errors import Lost, Refused


class Preparing:
    def __init__(self, git: Git, tree: Tree, trust: Trust) -> None:
        self._git = git
        self._tree = tree
        self._trust = trust
        self._recovery = Recovery(git)
        self._by_hand = ByHand(tree)

    async def prepare(self, held: Held, branch: str, path: Path, start: str) -> str:
        """A worktree at `path` on `branch`, begun at `start`. The branch's head."""
        start = await self._tree.commit(held.main, start)
        await self._by_hand.require_branch(held.main, path, held.made(path))
        found = at_path(standing(held.main), path)
        if found is not None and _is_usable(found, path, held.made(path)):
            return await self._adopted(held, branch, path, start, found)
        await self._clear(held, path)
        remove_stale_locks(held.main, path, None, branch)
        tip = await self._free_tip(held, branch, path, start)
        begun = Made(branch=branch, stage=Stage.PREPARING, start=tip or start)
        origin = await self._origin(held, branch, path, tip or start, start)
        held.note(path, begun.model_copy(update={"origin": origin}))
        if tip is None:
            await self._create(held, branch, start)
        await self._add(held, path, branch)
        return tip or start

    async def scratch(self, held: Held, path: Path, commit: str) -> None:
        """A worktree of the bot's alone, on no branch. What was left of an earlier one goes."""
        await self.remove_scratch(held, path)
        held.note(path, Made(stage=Stage.SCRATCH, start=commit))
        await self._add(held, path, commit, "--detach")

    async def restore(self, held: Held, at: Place, files: Collection[str], since: str) -> None:
        """Have these files as they were at a commit; what was not there goes."""
        commit = await self._tree.commit(held.main, since)
        for name in files:
            which = ("--", name)  # taken literally: see the environment of every call
            there = await self._git.read("ls-tree", "--name-only", commit, *which, at=at)
            how = (
                ("checkout", "--quiet", commit)
                if there.text
                else ("rm", "--force", "--quiet", "--ignore-unmatch")
            )
            await self._git.write(*how, *which, at=at, lock=held.lock)

    async def remove_scratch(self, held: Held, path: Path) -> None:
        made = held.made(path)
        if made is None or made.stage is not Stage.SCRATCH:
            if is_there(path):
                raise Refused("taken", f"{path} is no scratch worktree of the bot's.")
            return
        entry = at_path(standing(held.main), path)
        if entry is not None and _is_usable(entry, path, None):
            # tracked files only: what anybody else put there makes the removal fail
            at = held.main.linked(entry.git_dir, path)
            remove_stale_locks(held.main, path, entry.git_dir, "")
            await self._git.write("reset", "--hard", "--quiet", at=at, lock=held.lock)
            await self._git.write("clean", "-fdq", at=at, lock=held.lock)
            await self._git.write("worktree", "remove", str(path), at=held.main, lock=held.lock)
        else:
            await self._clear(held, path)
        await held.strike(path)

    async def _adopted(
        self, held: Held, branch: str, path: Path, start: str, found: Standing
    ) -> str:
        """It is there already."""
        if found.branch != branch:
            on = found.branch or "no branch"
            raise Refused("taken", f"The worktree {path} is on {on}, not on {branch}.")
        tip = await self._tree.tip(held.main, branch)
        if tip is None:
            raise Lost(f"the branch {branch} is gone, and the worktree {path} stands on it")
        made = held.made(path)
        if made is None or made.stage is not Stage.READY or made.git_dir != str(found.git_dir):
            origin = await self._origin(held, branch, path, tip, start)
            begun = Made(branch=branch, stage=Stage.READY, start=made.start if made else start)
            await self._ready(held, path, begun.model_copy(update={"origin": origin}))
        return tip

    async def _origin(self, held: Held, branch: str, path: Path, tip: str, start: str) -> str:
        """Where the branch began, as far as it is known: a plan may be moved to a newer start than its branch had."""
        made = held.made(path)
        if made is not None and made.branch == branch and made.origin:
            return made.origin
        return start if await self._tree.contains(held.main, tip, start) else ""

    async def _clear(self, held: Held, path: Path) -> None:
        """Away with what a killed git left of ours at this path. Refused where it is not provably ours."""
        entries = standing(held.main)
        found = at_path(entries, path)
        made = held.made(path)
        if made is not None and (made.stage is not Stage.READY or not is_there(path)):
            ours = [found] if found else []
            _require_unlocked(ours, path)
            await self._recovery.clear(
                held.main, path, made.start, ours + nameless(entries, path), made.ignored
            )
        elif found is not None and not is_there(path):
            # removes the entry of this one path; `prune` would forget worktrees on unplugged disks
            await self._git.write("worktree", "remove", str(path), at=held.main, lock=held.lock)
        elif is_there(path) and (found is not None or not _is_empty(path)):
            raise Refused("taken", f"{path} is there already, and not the bot's. Move it away.")

    async def _free_tip(self, held: Held, branch: str, path: Path, start: str) -> str | None:
        """The tip of the branch if it is ours or as good as new; None where it must be created."""
        elsewhere = [entry.path for entry in standing(held.main) if entry.branch == branch]
        if elsewhere:
            raise Refused("taken", f"The branch {branch} is checked out in {elsewhere[0]}.")
        tip = await self._tree.tip(held.main, branch)
        if tip is not None and tip != start and not held.owns(branch, path):
            raise Refused("taken", f"The branch {branch} exists already. Choose another name.")
        return tip

    async def _create(self, held: Held, branch: str, start: str) -> None:
        answer = await self._git.write(
            *("update-ref", "--create-reflog", f"refs/heads/{branch}", start, "0" * len(start)),
            at=held.main,
            lock=held.lock,
            ok=(0, 128),
        )
        if answer.code and await self._tree.tip(held.main, branch) != start:
            # agent/x/y exists, or a name that differs in case only where the file system does not tell
            raise Refused("taken", f"The branch {branch} cannot be made: {answer.err.strip()}")

    async def _add(self, held: Held, path: Path, what: str, *options: str) -> None:
        path.parent.mkdir(exist_ok=True)
        await self._git.write(
            *("worktree", "add", "--quiet", *options, str(path), what),
            at=held.main,
            lock=held.lock,
        )
        made = held.made(path)
        if made is None:
            raise Refused(f"{path} was not written down before it was made")
        await self._ready(held, path, made)

    async def _ready(self, held: Held, path: Path, made: Made) -> None:
        """Note what must not change from now on: the pointers, and the worktree's own configuration."""
        found = at_path(standing(held.main), path)
        if found is None:
            raise Refused(f"git made no worktree at {path}")
        stage = Stage.SCRATCH if made.stage is Stage.SCRATCH else Stage.READY
        keys = await self._trust.own_keys(found.git_dir)
        if made.branch:
            held.note_branch(made.branch, path)
        news = {"stage": stage, "git_dir": str(found.git_dir), "keys": keys}
        held.note(path, made.model_copy(update=news))


def _is_usable(entry: Standing, path: Path, made: Made | None) -> bool:
    """Complete. One whose removal began is not, whatever it looks like."""
    removing = made is not None and made.stage is Stage.REMOVING
    whole = entry.whole and entry.locked != HALF_MADE and path.is_dir()
    return whole and not removing and points_back(path, entry)


def _require_unlocked(entries: list[Standing], path: Path) -> None:
    if any(entry.locked not in {None, HALF_MADE} for entry in entries):
        raise Refused(f"the worktree {path} is locked", f"Unlock it: git worktree unlock {path}")


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())

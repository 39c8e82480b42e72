"""Brings commits from another repository on this machine. Its rule: exactly the commit asked for, checked, below refs/gwt-bot and on no branch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from adapters.git.environment import MAIL, NAME
from adapters.git.held import Held
from adapters.git.place import is_directory
from adapters.git.run import Git
from adapters.git.tree import Tree
from bot.errors import Refused

KEPT = "refs/gwt-bot/"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NOTHING_ELSE = (
    "--no-tags",
    "--no-prune",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
    "--no-write-fetch-head",
    "--no-write-commit-graph",
)


class TakingIn:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def take_in(self, held: Held, source: Path, commit: str) -> None:
        if not _COMMIT.fullmatch(commit):
            raise Refused(f"{commit!r} is no commit's full hash")
        if commit in await self._kept(held):
            return
        if not source.is_absolute() or not is_directory(source):
            raise Refused(f"there is no repository at {source}")
        await self._git.write(
            *("fetch", "--quiet", *_NOTHING_ELSE, "--end-of-options", source.as_uri(), commit),
            at=held.main,
            lock=held.lock,
            protocol="file",
        )
        await self._keep(held, commit)

    async def with_history(self, held: Held, commit: str, squashed: Sequence[str]) -> str:
        """The same commit each time it is asked for: nothing in it is of today."""
        for one in (commit, *squashed):
            if not _COMMIT.fullmatch(one):
                raise Refused(f"{one!r} is no commit's full hash")
        at, tree = held.main, Tree(self._git)
        parents = [one for one in squashed if not await tree.contains(at, commit, one)]
        if not parents:
            return commit
        shown = await self._git.read("show", "--no-patch", "--format=%T %ct", commit, at=at)
        root, seconds = shown.text.split()
        by = f"{NAME} <{MAIL}> {seconds} +0000"
        lines = [f"tree {root}", *(f"parent {one}" for one in (commit, *parents))]
        lines += [
            f"author {by}",
            f"committer {by}",
            "",
            f"chore: note what was squashed into {commit[:10]}",
        ]
        made = await self._git.write(
            *("hash-object", "-t", "commit", "-w", "--stdin"),
            at=at,
            lock=held.lock,
            stdin="".join(f"{line}\n" for line in lines).encode(),
        )
        await self._keep(held, made.text)
        return made.text

    async def let_go(self, held: Held, keep: frozenset[str]) -> None:
        """Once the bot has no worktree here, nothing needs them but a plan that is not carried out yet: what was merged
        is on a branch."""
        if held.is_at_work:
            return
        kept = [commit for commit in await self._kept(held) if commit not in keep]
        if not kept:
            return
        orders = "".join(f"delete {KEPT}{commit} {commit}\n" for commit in kept)
        await self._git.write(
            *("update-ref", "--no-deref", "--stdin"),
            at=held.main,
            lock=held.lock,
            stdin=orders.encode(),
        )

    async def _keep(self, held: Held, commit: str) -> None:
        # not through what an agent may have planted in this place: a name that stands for a branch
        await self._git.write(
            *("update-ref", "--no-deref", KEPT + commit, commit), at=held.main, lock=held.lock
        )

    async def _kept(self, held: Held) -> list[str]:
        """The commits that are held in place, each by a name of its own."""
        answer = await self._git.read(
            *("for-each-ref", "--format=%(objectname) %(refname) %(symref)", KEPT), at=held.main
        )
        lines = [line.split(" ") for line in answer.out.decode("utf-8", "replace").splitlines()]
        return [line[0] for line in lines if line[1:] == [KEPT + line[0], ""]]

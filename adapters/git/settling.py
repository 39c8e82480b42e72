"""Settles a merge that collides in the bot's own documents alone. Its rule: the worktree's copy of each wins, and anything odd is left alone."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from adapters.git.place import Place
from adapters.git.run import Git

_OURS = "2"


@dataclass(frozen=True)
class Unmerged:
    """A file two sides have changed in different ways."""

    path: str
    ours: bool
    """Whether the worktree's own side has it there."""


class Settling:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def unmerged(self, at: Place) -> list[Unmerged]:
        answer = await self._git.read("ls-files", "--unmerged", "-z", at=at)
        stages: dict[str, set[str]] = {}
        for field in answer.fields:
            facts, _, path = field.partition("\t")
            stages.setdefault(path, set()).add(facts.split()[2])
        return [Unmerged(path, _OURS in found) for path, found in stages.items()]

    async def settle(
        self, at: Place, unmerged: list[Unmerged], plan: str, message: str, lock: int
    ) -> bool:
        """Take our side of all of them and commit. False, with nothing done, where one has moved to another place."""
        listed = await self._git.read(
            *("ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD", "--", plan), at=at
        )
        ours = set(listed.fields)
        if any((one.path in ours) != one.ours for one in unmerged):
            return False
        told = ("--pathspec-from-file=-", "--pathspec-file-nul")
        kept = _told(one.path for one in unmerged if one.ours)
        gone = _told(one.path for one in unmerged if not one.ours)
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


def _told(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)

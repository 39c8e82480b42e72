"""Questions about commits and checkouts. Its rule: it only reads, and it takes names apart before git sees them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from adapters.git.failures import recognised
from adapters.git.place import Place
from adapters.git.run import Git
from bot.domain.world import Apart, Commit, Work
from bot.errors import Refused

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
STATUS_LIMIT = 4 * 1024 * 1024
NAMES_LIMIT = 256 * 1024
"""Of the files that differ between two commits."""


class Tree:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def commit(self, at: Place, name: str) -> str:
        """The commit a name (a full hash, a branch, HEAD) stands for."""
        found = await self.commit_or_none(at, name)
        if found is None:
            raise Refused(f"there is no commit {name!r} in the repository")
        return found

    async def commit_or_none(self, at: Place, name: str) -> str | None:
        if not name:
            return None
        answer = await self._git.read(
            *("rev-parse", "--verify", "--quiet", "--end-of-options"),
            f"{_spelled(name)}^{{commit}}",
            at=at,
            ok=(0, 1, 128),
        )
        if answer.code and (known := recognised(answer.err, at)):
            raise known
        return answer.text if answer.code == 0 else None

    async def tip(self, at: Place, branch: str) -> str | None:
        return await self.commit_or_none(at, f"refs/heads/{branch}")

    async def contains(self, at: Place, newer: str, older: str) -> bool:
        """Whether `older` is `newer` or an ancestor of it."""
        answer = await self._git.read(
            *("merge-base", "--is-ancestor", older, newer), at=at, ok=(0, 1)
        )
        return answer.code == 0

    async def parted(self, at: Place, one: str, other: str) -> str | None:
        """The last commit two have in common."""
        answer = await self._git.read("merge-base", one, other, at=at, ok=(0, 1))
        return answer.text if answer.code == 0 else None

    async def commits(self, at: Place, since: str, until: str) -> tuple[Commit, ...]:
        answer = await self._git.read("log", "-z", "--format=%H %s", f"{since}..{until}", at=at)
        entries = answer.out.decode("utf-8", "replace").split("\0")
        lines = (entry.partition(" ") for entry in entries if entry)
        return tuple(Commit(sha=sha, subject=subject.strip()) for sha, _, subject in lines)

    async def apart(self, at: Place, one: str, other: str) -> Apart:
        one, other = await self.commit(at, one), await self.commit(at, other)
        told = await self._git.read(
            "rev-list", "--count", "--left-right", f"{one}...{other}", at=at
        )
        behind, ahead = map(int, told.text.split())
        differ = await self._git.read(
            *("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty"),
            *(one, other),
            at=at,
            limit=NAMES_LIMIT,
        )
        files = differ.fields[: -1 if differ.truncated else None]
        return Apart(ahead=ahead, behind=behind, files=tuple(map(readable, files)))

    async def dirt(self, at: Place, *, tracked_only: bool = False) -> tuple[str, ...]:
        """Paths with uncommitted changes, untracked files included."""
        answer = await self._git.read(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"),
            "--untracked-files=no" if tracked_only else "--untracked-files=all",
            at=at,
            limit=STATUS_LIMIT,
        )
        return tuple(readable(entry[3:]) for entry in answer.fields)

    async def hidden(self, at: Place) -> tuple[str, ...]:
        """Tracked files that git was told not to look at, so that no status tells of their changes.

        Those that are not there at all are none: a sparse checkout leaves them out.
        """
        answer = await self._git.read("ls-files", "-v", "-z", at=at)
        return tuple(_hidden(at.top, answer.fields))

    async def ignored(self, at: Place) -> tuple[str, ...]:
        """What the repository ignores in a checkout; a directory ignored as a whole is one entry."""
        answer = await self._git.read(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"),
            *("--untracked-files=normal", "--ignored=traditional"),
            at=at,
        )
        return tuple(readable(entry[3:]) for entry in answer.fields if entry.startswith("!! "))

    async def work(self, at: Place, since: str, exclude: Iterable[str]) -> Work:
        head = await self.commit(at, "HEAD")
        changes = await self._changes(at, since, head)
        patterns = tuple(exclude)
        dirt = dict.fromkeys((*await self.dirt(at), *await self.hidden(at)))
        return Work(
            head=head,
            commits=await self.commits(at, since, head),
            changed_files=tuple(path for kind, path in changes if kind not in "AD"),
            created_files=tuple(path for kind, path in changes if kind == "A"),
            deleted_files=tuple(path for kind, path in changes if kind == "D"),
            uncommitted=tuple(path for path in dirt if not _matches(path, patterns)),
        )

    async def touched(self, at: Place, old: str, new: str) -> list[tuple[str, str]]:
        """Kind (A, D, M, T) and exact path of everything that differs between two commits."""
        return await self._changes(at, old, new, raw=True)

    async def _changes(
        self, at: Place, old: str, new: str, *, raw: bool = False
    ) -> list[tuple[str, str]]:
        answer = await self._git.read(
            *("diff-tree", "-r", "-z", "--no-renames", "--name-status", "--no-ext-diff"),
            *("--ignore-submodules=dirty", old, new),
            at=at,
        )
        fields = answer.fields
        pairs = zip(fields[::2], fields[1::2], strict=True)
        return [(kind, path if raw else readable(path)) for kind, path in pairs]


def _hidden(top: Path, listed: Iterable[str]) -> Iterator[str]:
    """Skipped, or, in small letters, assumed to be unchanged."""
    for entry in listed:
        if (entry[0] == "S" or entry[0].islower()) and os.path.lexists(top / entry[2:]):
            yield readable(entry[2:])


def _spelled(name: str) -> str:
    """In full: git would take a tag or a planted file of that name before the branch."""
    if name == "HEAD" or name.startswith("refs/") or _HASH.fullmatch(name):
        return name
    return f"refs/heads/{name}"


def readable(path: str) -> str:
    """A path for people and for state files: what is no UTF-8 in it is replaced."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    """A pattern is a path, a directory, or a path with * and ?."""
    return any(
        fnmatchcase(path, pattern) or path.startswith(pattern.rstrip("/") + "/")
        for pattern in patterns
    )

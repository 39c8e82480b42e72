"""Brings ignored files of the main checkout into a worktree. Its rule: only what both ignore, bounded, so nothing shows up as a change.

Nothing of git's is touched, so the repository's lock is not taken: nobody else need wait for gigabytes.
"""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from adapters.git.patterns import Pattern, is_ours, read_patterns, stays_inside
from adapters.git.place import Place
from adapters.git.pouring import copied
from adapters.git.run import Git
from adapters.git.tree import readable
from bot.errors import Refused

T = TypeVar("T")


@dataclass(frozen=True)
class Bounds:
    """How much may be copied into one worktree."""

    files: int = 50_000
    size: int = 2 * 1024**3
    looked_at: int = 500_000


@dataclass(frozen=True)
class _Found:
    path: str
    size: int


class Copying:
    """`home` is the bot's own directory: should it lie in the repository, it is not copied."""

    def __init__(self, git: Git, home: Path, bounds: Bounds) -> None:
        self._git = git
        self._home = home.resolve()
        self._bounds = bounds

    async def copy(self, main: Place, at: Place, lines: tuple[str, ...]) -> tuple[str, ...]:
        patterns = read_patterns(lines)
        if not patterns:
            return ()
        entries = await self._ignored(main)
        wanted = await _in_thread(lambda stop: self._wanted(main, at, entries, patterns, stop))
        names = await self._ignored_there(at, wanted)
        done = await _in_thread(lambda stop: copied(main.top, at.top, names, stop))
        return tuple(readable(name) for name in done)

    async def _ignored(self, main: Place) -> list[str]:
        """A directory that is ignored as a whole is one entry, ending in a slash."""
        answer = await self._git.read(
            *("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"),
            at=main,
        )
        if answer.truncated:
            raise self._too_much("the repository ignores too many files to look through")
        return answer.fields

    async def _ignored_there(self, at: Place, names: list[str]) -> list[str]:
        """Those the worktree ignores, too: its branch may have another .gitignore, and may track some of them."""
        if not names:
            return []
        # this one command takes no literal pathspecs; behind ./ nothing in a name has a meaning
        told = b"".join(b"./" + os.fsencode(name) + b"\0" for name in names)
        answer = await self._git.read(
            *("--no-literal-pathspecs", "check-ignore", "-z", "--stdin"),
            at=at,
            ok=(0, 1),
            stdin=told,
        )
        return [name.removeprefix("./") for name in answer.fields]

    def _wanted(
        self,
        main: Place,
        at: Place,
        entries: list[str],
        patterns: tuple[Pattern, ...],
        stop: threading.Event,
    ) -> list[str]:
        found: dict[str, _Found] = {}
        size = 0
        for looked, file in enumerate(self._files(main.top, entries, patterns), start=1):
            if stop.is_set():
                break
            if looked > self._bounds.looked_at:
                raise self._too_much(f"more than {self._bounds.looked_at} files would be looked at")
            if file is None or file.path in found or _behind_a_link(at.top, file.path):
                continue
            found[file.path] = file
            size += file.size
            if len(found) > self._bounds.files or size > self._bounds.size:
                raise self._too_much(
                    f"the ignored files to copy are more than {self._bounds.files}, "
                    f"or more than {self._bounds.size // 1024**2} MiB"
                )
        return list(found)

    def _files(
        self, top: Path, entries: list[str], patterns: tuple[Pattern, ...]
    ) -> Iterator[_Found | None]:
        """What the patterns name; None for what was looked at for nothing."""
        waiting = list(reversed(entries))
        while waiting:
            path = waiting.pop()
            if is_ours(path) or (top / path).is_relative_to(self._home):
                yield None
            elif path.endswith("/"):
                yield None
                inside = path.rstrip("/")
                if any(pattern.leads_into(inside) for pattern in patterns):
                    waiting += _inside(top, inside)
            else:
                named = any(pattern.names(path) for pattern in patterns)
                yield _found(top, path) if named else None

    def _too_much(self, reason: str) -> Refused:
        return Refused(
            reason, "Name fewer files, or let a set-up command install what can be installed."
        )


def _inside(top: Path, directory: str) -> list[str]:
    """What lies in a directory, which may be gone by now or may have become a link."""
    if (top / directory).is_symlink() or not (top / directory).is_dir():
        return []
    with os.scandir(top / directory) as entries:
        names = [
            f"{directory}/{entry.name}" + ("/" if entry.is_dir(follow_symlinks=False) else "")
            for entry in entries
        ]
    return sorted(names, reverse=True)


def _found(top: Path, path: str) -> _Found | None:
    """A file, or a link that stays in the repository. A FIFO or a device is neither."""
    try:
        about = (top / path).lstat()
        link = stat.S_ISLNK(about.st_mode)
        inside = link and stays_inside(path, os.readlink(top / path))  # noqa: PTH115 - its exact text
    except FileNotFoundError:
        return None
    if inside or stat.S_ISREG(about.st_mode):
        return _Found(path, about.st_size)
    return None


def _behind_a_link(top: Path, path: str) -> bool:
    """Whether something that is no directory stands in its way in the worktree."""
    here = top
    for part in path.split("/")[:-1]:
        here /= part
        if here.is_symlink() or (here.exists() and not here.is_dir()):
            return True
        if not here.exists():
            return False
    return False


async def _in_thread(work: Callable[[threading.Event], T]) -> T:
    """Beside the event loop. Called off, it ends before this returns: nobody writes into what is being removed."""
    stop = threading.Event()
    working = asyncio.create_task(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.gather(working, return_exceptions=True)
        raise

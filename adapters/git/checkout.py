"""How the main checkout looks. Its rule: looked at only, and told in bounds, with a mark of each file that differs from its commit."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections import defaultdict
from pathlib import Path

from adapters.git.exclude import is_registry
from adapters.git.place import Place
from adapters.git.run import Git
from adapters.git.standing import WORKTREES
from adapters.git.tree import STATUS_LIMIT, readable
from bot.domain.world import Checkout

FILES = 1000
"""More than these are told by their directory at the top."""
CONTENT = 1024 * 1024
_UNTRACKED = "??"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Checkouts:
    def __init__(self, git: Git) -> None:
        self._git = git

    async def look(self, main: Place) -> Checkout:
        """Also on no branch, or without a commit: agents can bring that about."""
        branch = await self._git.read("symbolic-ref", "--quiet", "HEAD", at=main, ok=(0, 1))
        head = await self._git.read(
            *("rev-parse", "--verify", "--quiet", "HEAD^{commit}"), at=main, ok=(0, 1, 128)
        )
        status = await self._git.read(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"),
            "--untracked-files=all",
            at=main,
            limit=STATUS_LIMIT,
        )
        # the last one of a list that was cut may be cut itself
        entries = status.fields[:-1] if status.truncated else status.fields
        changed = await asyncio.to_thread(_changed, main.top, entries)
        return Checkout(
            branch=branch.text.removeprefix("refs/heads/"),
            commit=head.text if head.code == 0 else "",
            changed=changed,
        )


def _changed(top: Path, entries: list[str]) -> tuple[str, ...]:
    marks = {
        entry[3:]: mark(top / entry[3:], entry[:2])
        for entry in entries
        if not entry[3:].startswith(f"{WORKTREES}/") and not is_registry(entry[3:])
    }
    folded = _folded(marks)
    return tuple(f"{readable(path)}:{folded[path]}" for path in sorted(folded))


def mark(path: Path, state: str) -> str:
    """Of a tracked file its content; of any other, of which there may be very many, what the file system knows."""
    try:
        about = path.lstat()
        told = f"{state} {about.st_mode:o} {about.st_size}"
        if stat.S_ISLNK(about.st_mode):
            return _short(told, os.fsencode(path.readlink()))
        if state == _UNTRACKED or about.st_size > CONTENT or not stat.S_ISREG(about.st_mode):
            return _short(told, f"{about.st_mtime_ns} {about.st_ctime_ns}".encode())
        return _short(told, _content(path))
    except OSError as error:  # gone, or not for us to read: that is how it looks
        return _short(state, str(error.errno).encode())


def _content(path: Path) -> bytes:
    with os.fdopen(os.open(path, _READ), "rb") as file:
        return file.read(CONTENT)


def _short(told: str, content: bytes) -> str:
    return hashlib.sha256(told.encode() + b"\0" + content).hexdigest()[:16]


def _folded(marks: dict[str, str]) -> dict[str, str]:
    """At most so many: the fullest directories are told as one each."""
    below: dict[str, list[str]] = defaultdict(list)
    for path in sorted(marks):
        below[path.partition("/")[0] + "/" if "/" in path else "./"].append(path)
    folded = dict(marks)
    for directory in sorted(below, key=lambda name: (-len(below[name]), name)):
        if len(folded) <= FILES:
            break
        told = "\n".join(f"{path}:{folded.pop(path)}" for path in below[directory])
        folded[directory] = _short(directory, told.encode("utf-8", "surrogateescape"))
    return folded

"""Explains errors of the operating system in plain words: a full disk or too many open files are no bug of the bot, and
are retried.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

from bot.core.errors import Refused, Unavailable

T = TypeVar("T")

LOOK_SECONDS = 1.0
"""Seconds until the first check whether a program waits for a pipe in place of a file; the next checks come at longer
intervals.
"""
LEAST_DISK_SPACE = 64 * 1024
"""Bytes. With less, git and tests fail with messages of which few mention the disk."""
RIGHTS = "Give the user the bot runs as the right to read and write there."
_FREE_SPACE = "Free some space there; the bot goes on by itself."
_REASONS = {
    errno.ENOSPC: ("the disk is full", _FREE_SPACE),
    errno.EDQUOT: ("the disk quota is used up", _FREE_SPACE),
    errno.EROFS: ("the disk is read-only", "Make it writable; the bot goes on by itself."),
    errno.EIO: ("the disk reports an input/output error", "Check that disk."),
    errno.EMFILE: ("too many files are open", "Raise the limit of the bot's process: ulimit -n."),
    errno.ENFILE: ("too many files are open on this machine", "Look what has opened them."),
}


def as_unavailable(error: OSError, folder: Path | None = None) -> Unavailable | None:
    """Return the error in plain words, or `None` if it is of another kind.

    `folder`: where it occurred; the error itself may only have a name.
    """
    reason, remedy = _REASONS.get(error.errno or 0, ("", ""))
    if not reason:
        return None
    where = folder or error.filename
    return Unavailable(f"{reason} ({where})" if where else reason, remedy)


def permission_error(error: OSError) -> Unavailable | None:
    """Return a permission error with its file, or `None` if it is of another kind."""
    if not (isinstance(error, PermissionError) and error.filename):
        return None
    whole = Path(str(error.filename)).is_absolute()
    see = f" See: ls -ld {error.filename}" if whole else ""
    return Unavailable(f"{error.strerror}: {error.filename}", f"{RIGHTS}{see}")


def require_disk_space(doing: str, *folders: Path) -> None:
    """Raise Unavailable if a full disk is the likely reason for a failure. Call it after one."""
    for folder in folders:
        try:
            disk = os.statvfs(folder)
        except OSError:
            continue
        if disk.f_bavail * disk.f_frsize < LEAST_DISK_SPACE or (disk.f_files and not disk.f_favail):
            raise Unavailable(f"the disk is full ({folder}; {doing} failed)", _FREE_SPACE)


async def refuse_if_blocked(
    talk: Coroutine[Any, Any, T], odd_file: Callable[[], Path | None], program: str = "git"
) -> T:
    """Return a program's answer.

    Refused as soon as it turns out to read a pipe or a device in place of a file, which would never end.
    """
    talking = asyncio.create_task(talk)
    pause = LOOK_SECONDS
    try:
        while not (await asyncio.wait({talking}, timeout=pause))[0]:
            if odd := await asyncio.to_thread(odd_file):
                raise Refused(
                    f"{odd} is a pipe or a device, no ordinary file: {program} would wait for it without an end",
                    f"Look who has put it there, and remove it: rm {odd}",
                )
            pause *= 4
        return await talking
    finally:
        talking.cancel()
        await asyncio.wait({talking})  # it ends the program


def files_in(folder: Path) -> Iterator[Path]:
    """Yield the files of a checkout without `.git`, `.worktrees` and `node_modules`. What cannot be read is skipped."""
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        yield Path(entry.path)
                    elif entry.name not in {".git", ".worktrees", "node_modules"}:
                        waiting.append(Path(entry.path))
        except OSError:
            continue


def is_pipe_or_device(path: Path) -> bool:
    """Whether it is a pipe or a device, which blocks whoever opens it."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)

"""Copies files from one checkout into another. Its rule: through no link, over nothing that is there, and never half a file."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import threading
from collections.abc import Generator, Iterable
from pathlib import Path

from adapters.git.patterns import stays_inside
from adapters.git.writing import DIRECTORY, FRESH, TEMPORARY, translated
from bot.errors import Refused

_ORDINARY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_SHORT_CUT = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}
_PIECE = 64 * 1024 * 1024


def copied(source: Path, target: Path, names: Iterable[str], stop: threading.Event) -> list[str]:
    """Copy what is not there yet; what vanishes meanwhile is passed over. The names of what was copied."""
    done: list[str] = []
    for name in names:
        if stop.is_set():
            break
        try:
            if _copied(source, target, name):
                done.append(name)
        except FileNotFoundError as error:
            if not target.is_dir():
                raise Refused(f"the worktree {target} is missing") from error
        except OSError as error:
            raise translated(error, target, name) from error
    return done


def _copied(source: Path, target: Path, path: str) -> bool:
    *parts, name = path.split("/")
    with _both(source, target, parts) as (here, there):
        if _is_there(there, name):
            return False
        mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            return _link(here, there, name, path)
        return stat.S_ISREG(mode) and _file(here, there, name)


@contextlib.contextmanager
def _both(source: Path, target: Path, parts: list[str]) -> Generator[tuple[int, int]]:
    """Both directories' descriptors, opened step by step so that no step can be a link."""
    with contextlib.ExitStack() as opened:
        here = _opened(opened, source, None)
        there = _opened(opened, target, None)
        for part in parts:
            here = _opened(opened, part, here)
            mode = stat.S_IMODE(os.fstat(here).st_mode) & 0o777 | 0o700
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, mode, dir_fd=there)
            there = _opened(opened, part, there)
        yield here, there


def _opened(opened: contextlib.ExitStack, name: Path | str, within: int | None) -> int:
    descriptor = os.open(name, DIRECTORY, dir_fd=within)
    opened.callback(os.close, descriptor)
    return descriptor


def _is_there(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _link(here: int, there: int, name: str, path: str) -> bool:
    to = os.readlink(name, dir_fd=here)
    if not stays_inside(path, to):
        return False
    try:
        os.symlink(to, name, dir_fd=there)
    except FileExistsError:
        return False
    return True


def _file(here: int, there: int, name: str) -> bool:
    with os.fdopen(os.open(name, _ORDINARY, dir_fd=here), "rb", buffering=0) as old:
        about = os.fstat(old.fileno())
        if not stat.S_ISREG(about.st_mode):
            return False
        with contextlib.suppress(FileNotFoundError):
            os.unlink(TEMPORARY, dir_fd=there)  # of a bot that died here
        try:
            with os.fdopen(os.open(TEMPORARY, FRESH, 0o600, dir_fd=there), "wb", 0) as new:
                _pour(old.fileno(), new.fileno())
                os.fchmod(new.fileno(), about.st_mode & 0o777)
                os.utime(new.fileno(), ns=(about.st_atime_ns, about.st_mtime_ns))
            # unlike a rename, a link never takes the place of what somebody has put there meanwhile
            os.link(TEMPORARY, name, src_dir_fd=there, dst_dir_fd=there)
        except FileExistsError:
            return False
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(TEMPORARY, dir_fd=there)
    return True


def _pour(old: int, new: int) -> None:
    """The kernel copies, where it can by sharing the blocks until one side writes."""
    try:
        while hasattr(os, "copy_file_range") and os.copy_file_range(old, new, _PIECE):
            pass
    except OSError as error:
        if error.errno not in _NO_SHORT_CUT:
            raise
    with os.fdopen(os.dup(old), "rb") as rest, os.fdopen(os.dup(new), "wb") as end:
        shutil.copyfileobj(rest, end)

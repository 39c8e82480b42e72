"""Writes files into a worktree. Its rule: no path, and no symbolic link an agent planted, leads out of it."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator
from pathlib import Path

from bot.errors import Refused, Unavailable
from bot.machine import of_the_machine

TEMPORARY = ".gwt-bot.new"
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def checked(path: str) -> tuple[str, ...]:
    """The parts of a path that lies inside a tree, by its words alone."""
    parts = tuple(path.split("/"))
    odd = any(part in {"", ".", ".."} or part.lower() == ".git" for part in parts)
    if odd or "\\" in path or any(ord(sign) < 32 or ord(sign) == 127 for sign in path):
        raise Refused(f"{path!r} is no path inside the worktree")
    return parts


def write_inside(top: Path, files: dict[str, str]) -> None:
    """Write all of them, each at once or not at all. Every path is checked before the first is written."""
    places = [(checked(path), content) for path, content in files.items()]
    for parts, content in places:
        try:
            with _directory(top, parts[:-1]) as directory:
                _write(directory, parts[-1], content.encode())
        except OSError as error:
            raise translated(error, top, "/".join(parts)) from error


@contextlib.contextmanager
def _directory(top: Path, parts: tuple[str, ...]) -> Generator[int]:
    """The directory's descriptor, opened step by step so that no step can be a link."""
    current = os.open(top, DIRECTORY)
    try:
        for part in parts:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o777, dir_fd=current)
            inner = os.open(part, DIRECTORY, dir_fd=current)
            os.close(current)
            current = inner
        yield current
    finally:
        os.close(current)


def _write(directory: int, name: str, content: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(TEMPORARY, dir_fd=directory)  # of a bot that died here
    mode = 0o666
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode & 0o777
    with os.fdopen(os.open(TEMPORARY, FRESH, mode, dir_fd=directory), "wb") as file:
        file.write(content)
    os.replace(TEMPORARY, name, src_dir_fd=directory, dst_dir_fd=directory)


def translated(error: OSError, top: Path, path: str) -> Refused | Unavailable:
    if trouble := of_the_machine(error, top):
        return trouble
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return Refused(f"a directory of {path} is a symbolic link or a file")
    return Refused(f"{path} cannot be written: {error.strerror}")

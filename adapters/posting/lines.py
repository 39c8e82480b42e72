"""Files of lines that only grow, and are written anew now and then: what was written stands there after a crash, or a
torn line does, which whoever reads passes over."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from bot.errors import Unavailable


def read(path: Path) -> list[bytes]:
    """Empty: there is no such file yet."""
    try:
        found = path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        reason = f"{path} cannot be read: {error.strerror}."
        raise Unavailable(reason, "Let the bot read it.") from error
    return [line for line in found if line]


def append(path: Path, line: str, *, wait: bool = True) -> None:
    """`wait`: until it would be there after a power cut, too."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(path, (line,), wait=wait)
    except OSError as error:
        raise _unwritten(path, error) from error


def write_anew(path: Path, lines: Iterable[str]) -> None:
    """In place of all that stands there; a crash leaves the one or the other."""
    beside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.unlink(missing_ok=True)
        _write(beside, lines, wait=True)
        beside.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise _unwritten(path, error) from error


def newest(lines: Sequence[str], room: int) -> list[str]:
    """The last of them, as many as there is room for, in bytes."""
    kept: list[str] = []
    for line in reversed(lines):
        room -= len(line.encode()) + 2
        if room < 0:
            break
        kept.append(line)
    return kept[::-1]


def size(path: Path) -> int:
    """Of a file that is there or not."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _unwritten(path: Path, error: OSError) -> Unavailable:
    return Unavailable(f"{path} cannot be written: {error.strerror}.", "Is the disk full?")


def _write(path: Path, lines: Iterable[str], *, wait: bool) -> None:
    """A line of its own, also behind one that was torn."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        rest = "".join(f"\n{line}\n" for line in lines).encode()
        while rest:
            # a disk that is nearly full takes a part, and says so by the number only
            rest = rest[os.write(handle, rest) :]
        if wait:
            os.fdatasync(handle) if hasattr(os, "fdatasync") else os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """So that the file is found under its name after a power cut, too."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Files of the bot's own, for the owner only: written whole or not at all, whatever the umask is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from bot.errors import Unavailable

T = TypeVar("T")


def make_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


def replace(path: Path, content: bytes) -> None:
    """After a crash it holds what it held before, or this, and nothing else."""
    make_folder(path.parent)
    temporary = path.with_suffix(".new")
    with suppress(FileNotFoundError):
        temporary.unlink()  # of a crash; its mode may be another
    with os.fdopen(create(temporary), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new = not path.exists()
    temporary.replace(path)
    if new:
        _settle(path.parent)


def append(path: Path, line: str) -> None:
    """On disk when it returns; behind a line that was torn it is one of its own."""
    try:
        make_folder(path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(path, flags, 0o600)
        try:
            rest = f"\n{line}\n".encode()
            while rest:
                # a disk that is nearly full takes a part, and says so by the number only
                rest = rest[os.write(handle, rest) :]
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise unwritten(path, error) from error


def appended(path: Path) -> Iterator[Any]:
    """The JSON of each line. One that was torn is passed over."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unread(path, error) from error
    for line in lines:
        with suppress(ValueError):
            yield json.loads(line)


def create(path: Path) -> int:
    """A new file, open for writing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def read_json(path: Path, shape: type[T]) -> T | None:
    """None: it is not there, or is broken, or holds something else; such a one is put aside."""
    try:
        return TypeAdapter(shape).validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unread(path, error) from error
    except ValueError:
        path.replace(path.with_suffix(".broken"))
        return None


def write_json(path: Path, value: Any) -> None:
    try:
        replace(path, json.dumps(value).encode())
    except OSError as error:
        raise unwritten(path, error) from error


def unwritten(path: Path, error: OSError) -> Unavailable:
    reason = f"{path} cannot be written: {error.strerror or error}."
    return Unavailable(reason, "Free some disk space, or let the bot write there.")


def _unread(path: Path, error: OSError) -> Unavailable:
    return Unavailable(f"{path} cannot be read: {error.strerror or error}.", "Let the bot read it.")


def _settle(folder: Path) -> None:
    """The new name is on disk, too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Small files of typed JSON that outlive the bot: one value that is replaced as a whole, or one value per line.

A damaged file is put aside under another name and its owner starts empty. Errors of the disk are raised as Unavailable.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from adapters.files import Disk, append_lines, make_private, move_aside
from bot.core.errors import Unavailable
from bot.os_errors import as_unavailable

T = TypeVar("T")
log = logging.getLogger("bot.state_files")


class JsonFile(Generic[T]):
    """A file with one value. After a crash it holds the old value or the new one."""

    def __init__(
        self, path: Path, kind: type[T], *, disk: Disk | None = None, indent: int | None = None
    ) -> None:
        self.path = path
        self._type = TypeAdapter(kind)
        self._disk = disk or Disk()
        self._indent = indent

    def read(self) -> T | None:
        """Return the value, or None if the file is missing or was damaged and put aside."""
        try:
            return self._type.validate_json(self._disk.read(self.path))
        except FileNotFoundError:
            return None
        except ValidationError as error:
            self._put_aside(error)
            return None
        except OSError as error:
            raise cannot_read(self.path, error) from error

    def write(self, value: T) -> None:
        """On disk when this returns."""
        try:
            make_private(self.path.parent)
            self._disk.replace(self.path, self._type.dump_json(value, indent=self._indent))
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def _put_aside(self, error: ValidationError) -> None:
        try:
            aside = move_aside(self.path)
        except OSError as refused:
            raise cannot_write(self.path, refused) from refused
        # only the number of problems: the content may be secret
        about = {"file": str(self.path), "kept": str(aside), "problems": error.error_count()}
        log.warning("a damaged file was put aside", extra={"data": about})


class JsonLines(Generic[T]):
    """A file with one value per line, newest last. Lines torn by a crash and invalid lines are skipped."""

    def __init__(self, path: Path, kind: type[T] | TypeAdapter[T], *, largest: int = 0) -> None:
        self.path = path
        self._type = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
        self._largest = largest

    def read(self) -> list[T]:
        """Empty: there is no such file yet."""
        try:
            lines = Disk().read(self.path).splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise cannot_read(self.path, error) from error
        found: list[T] = []
        for line in lines:
            try:
                found.append(self._type.validate_json(line))
            except ValidationError:
                continue
        return found

    def line(self, value: T) -> str:
        """Return the value as a line of the file."""
        return self._type.dump_json(value).decode()

    def append(self, value: T, *, wait: bool = True) -> None:
        """`wait`: until it would be there after a power cut, too."""
        self.append_line(self.line(value), wait=wait)

    def append_line(self, line: str, *, wait: bool = True) -> None:
        try:
            make_private(self.path.parent)
            append_lines(self.path, (line,), wait=wait)
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def append_bounded(self, value: T, every: Iterable[T]) -> None:
        """Append without waiting for the disk.

        A file that has grown beyond `largest` is rewritten with the newest half of `every`.
        """
        self.append(value, wait=False)
        if self._size() > self._largest:
            self.replace_lines(
                newest_that_fit([self.line(one) for one in every], self._largest // 2)
            )

    def rewrite(self, values: Iterable[T]) -> None:
        self.replace_lines(map(self.line, values))

    def replace_lines(self, lines: Iterable[str]) -> None:
        """In place of all that stands there; a crash leaves the one or the other."""
        try:
            make_private(self.path.parent)
            Disk().replace(self.path, "".join(f"{line}\n" for line in lines).encode())
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def _size(self) -> int:
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def newest_that_fit(lines: Sequence[str], room: int) -> list[str]:
    """Return as many of the last lines as fit into `room` bytes."""
    kept: list[str] = []
    for line in reversed(lines):
        room -= len(line.encode()) + 2
        if room < 0:
            break
        kept.append(line)
    return kept[::-1]


def cannot_read(path: Path, error: OSError) -> Unavailable:
    return Unavailable(f"{path} cannot be read: {error.strerror or error}.", "Let the bot read it.")


def cannot_write(path: Path, error: OSError) -> Unavailable:
    if trouble := as_unavailable(error, path):
        return trouble
    reason = f"{path} cannot be written: {error.strerror or error}."
    return Unavailable(reason, "Free some disk space, or let the bot write there.")

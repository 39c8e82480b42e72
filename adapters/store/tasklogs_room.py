"""Room for logs: what is too old goes, then the oldest sessions; of one that is too large the oldest logs keep their ends only."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from adapters.store.disk import TEMPORARY, Disk, make_private
from bot.domain.tasklog import Bounds, TaskLog, TaskLogIndex, slim

INDEX = "index.json"
M = TypeVar("M", bound=BaseModel)
_FIRST, _NEXT, _LAST = b"[\n", b",\n", b"\n]\n"
"""Around the indexes of all sessions, which stand on a line each."""


class _Logs(NamedTuple):
    """The logs of one session."""

    directory: Path
    last: datetime
    bytes: int


class Room:
    def __init__(self, logs: Path, disk: Disk, now: Callable[[], datetime], bounds: Bounds) -> None:
        self._logs = logs
        self._sessions = logs / "sessions"
        self._disk = disk
        self._now = now
        self._bounds = bounds

    def indexes(self) -> list[TaskLogIndex]:
        """Of all sessions; one that cannot be read is left out."""
        found = [read_model(self._disk, path / INDEX, TaskLogIndex) for path in self._directories()]
        return [index for index in found if index]

    def tidy(self) -> None:
        if not self._sessions.is_dir():
            return
        oldest_first = sorted(map(_measured, self._directories()), key=lambda one: one.last)
        total = sum(one.bytes for one in oldest_first)
        for one in oldest_first:
            if one.last < self._now() - self._bounds.age or total > self._bounds.all:
                shutil.rmtree(one.directory)
                total -= one.bytes
            elif one.bytes > self._bounds.session:
                total -= self._shrink(one)
        make_private(self._logs)
        self._write(list(map(_line, self.indexes())))

    def enter(self, index: TaskLogIndex) -> None:
        """Among those of all sessions, in place of what it said before. The others are not read for that, but passed on."""
        begins = index.model_dump_json(include={"session_id"}).removesuffix("}").encode()
        others = [one for one in self._lines() if not one.startswith(begins + b",")]
        self._write([*others, _line(index)])

    def _lines(self) -> list[bytes]:
        try:
            content = self._disk.read(self._logs / INDEX)
        except FileNotFoundError:
            content = b""
        if not (content.startswith(_FIRST) and content.endswith(_LAST)):
            return list(map(_line, self.indexes()))
        lines = content.removeprefix(_FIRST).removesuffix(_LAST).split(_NEXT)
        return [line for line in lines if line]

    def _write(self, lines: list[bytes]) -> None:
        self._disk.replace(self._logs / INDEX, _FIRST + _NEXT.join(lines) + _LAST)

    def _directories(self) -> list[Path]:
        if not self._sessions.is_dir():
            return []
        return sorted(path for path in self._sessions.iterdir() if path.is_dir())

    def _shrink(self, logs: _Logs) -> int:
        """Every task keeps a log. How many bytes are free again."""
        freed = 0
        paths = (logs.directory / "tasks").glob("*.json")
        for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns):
            if logs.bytes - freed <= self._bounds.session:
                break
            log = read_model(self._disk, path, TaskLog)
            before = path.stat().st_size
            if log is not None:
                self._disk.replace(path, slim(log).model_dump_json().encode("utf-8", "replace"))
                freed += before - path.stat().st_size
        return freed


def _line(index: TaskLogIndex) -> bytes:
    return index.model_dump_json().encode("utf-8", "replace")


def read_model(disk: Disk, path: Path, kind: type[M]) -> M | None:
    """None: it is not there, or cannot be read; all of it is drawn from sessions, and made again."""
    try:
        return kind.model_validate_json(disk.read(path))
    except (FileNotFoundError, ValidationError):
        return None


def _measured(directory: Path) -> _Logs:
    for left in directory.rglob(f"*{TEMPORARY}"):
        left.unlink()  # of a write that was never finished
    files = [path.stat() for path in directory.rglob("*") if path.is_file()]
    last = max((file.st_mtime for file in files), default=directory.stat().st_mtime)
    return _Logs(directory, datetime.fromtimestamp(last, UTC), sum(file.st_size for file in files))

"""Room for what programs printed: transcripts and output of checks, evidence, and the raw logs behind it.

Transcripts go after a while; then the oldest go where there is no room left. Evidence of a session that is not over
stays, with its raw logs, and so does whatever is younger than a day.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from adapters.store.folder import JOURNAL
from bot.domain.facts import Fact

_FRESH = timedelta(days=1)
_RUN = "run-"
"""Before the id, in the name of a run's folder."""
_NAMES = re.compile(rb"[\w-]+")


class OutputBounds(Fact):
    """Of transcripts, of raw logs and of evidence, in bytes each."""

    runs: int = 2_000_000_000
    raw: int = 2_000_000_000
    evidence: int = 500_000_000
    age: timedelta = timedelta(days=30)
    """Of transcripts, and of what stood between the bot and an agent. Raw logs stay as long as there is room: evidence is held against them."""


class _File(NamedTuple):
    path: Path
    bytes: int
    at: datetime


class Outputs:
    def __init__(
        self, home: Path, now: Callable[[], datetime], bounds: OutputBounds | None = None
    ) -> None:
        self._home = home
        self._now = now
        self._bounds = bounds or OutputBounds()

    def tidy(self) -> None:
        old = self._now() - self._bounds.age
        runs = list(_files((self._home / "runs").glob("*")))
        _remove([file for file in runs if file.at < old])
        self._fit([file for file in runs if file.at >= old], self._bounds.runs)
        self._remove_spools(old)
        self._fit(list(_files(self._raw_of_ended())), self._bounds.raw)
        self._fit_evidence(self._bounds.evidence)

    def _raw_of_ended(self) -> Iterator[Path]:
        unfinished = self._home / "sessions" / "unfinished"
        for folder in (self._home / "raw").glob("*"):
            if not (unfinished / f"{folder.name}{JOURNAL}").exists():
                yield from folder.rglob("*")

    def _fit_evidence(self, room: int) -> None:
        """A session names its evidence in its journal: what one that is not over names stays."""
        found = list(_files((self._home / "evidence").glob("*.json")))
        if sum(file.bytes for file in found) <= room:
            return
        named = self._named(file.path.stem for file in found)
        free = [file for file in found if file.path.stem not in named]
        self._fit(free, room - sum(file.bytes for file in found) + sum(file.bytes for file in free))

    def _named(self, ids: Iterable[str]) -> set[str]:
        """Those that stand in the journal of a session that is not over."""
        wanted = {id.encode() for id in ids}
        named = set[bytes]()
        for path in (self._home / "sessions" / "unfinished").glob(f"*{JOURNAL}"):
            with suppress(FileNotFoundError):  # that session is over by now
                named |= wanted.intersection(_NAMES.findall(path.read_bytes()))
        return {id.decode() for id in named}

    def _remove_spools(self, old: datetime) -> None:
        """What stood between the bot and an agent, of runs that nobody comes back to. Agents can have put anything there."""
        spools = (self._home / "spool").glob(f"{_RUN}*")
        found = [path for path in spools if _is_older(path, old)]
        named = self._named(path.name.removeprefix(_RUN) for path in found)
        for path in found:
            if path.name.removeprefix(_RUN) not in named:
                shutil.rmtree(path, ignore_errors=True)

    def _fit(self, files: list[_File], room: int) -> None:
        """The oldest go, until the rest fits."""
        fresh = self._now() - _FRESH
        excess = sum(file.bytes for file in files) - room
        for file in sorted(files, key=lambda one: one.at):
            if excess <= 0 or file.at >= fresh:
                return
            _remove([file])
            excess -= file.bytes


def _files(paths: Iterable[Path]) -> Iterator[_File]:
    """Plain files only; what is gone meanwhile is none."""
    for path in paths:
        with suppress(FileNotFoundError):
            if path.is_file() and not path.is_symlink():
                yield _File(path, path.stat().st_size, _changed(path))


def _is_older(path: Path, than: datetime) -> bool:
    """What is gone meanwhile, or leads elsewhere, is not."""
    with suppress(FileNotFoundError):
        return not path.is_symlink() and _changed(path) < than
    return False


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _remove(files: Iterable[_File]) -> None:
    for file in files:
        file.path.unlink(missing_ok=True)

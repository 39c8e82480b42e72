"""What the bot has pushed itself, on disk: written before it pushes, so that it knows its own work after a crash."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from pydantic import BaseModel, ValidationError

from bot.errors import Unavailable

_COMMITS_KEPT = 20
_BRANCHES_KEPT = 2_000


class _Page(BaseModel):
    pushed: dict[str, tuple[str, ...]] = {}


class Pushed:
    """The commits that were pushed to each branch, the newest last."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def has(self, branch: str, commit: str) -> bool:
        return commit in self._read().pushed.get(branch, ())

    def note(self, branch: str, commit: str) -> None:
        pushed = self._read().pushed
        before = pushed.pop(branch, ())
        commits = (*(one for one in before if one != commit), commit)[-_COMMITS_KEPT:]
        newest = list(pushed.items())[-(_BRANCHES_KEPT - 1) :]
        if before[-1:] != (commit,):
            self._write(_Page(pushed={**dict(newest), branch: commits}))

    def strike(self, branch: str) -> None:
        pushed = self._read().pushed
        if pushed.pop(branch, None) is not None:
            self._write(_Page(pushed=pushed))

    def _read(self) -> _Page:
        try:
            return _Page.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return _Page()
        except ValidationError:
            # without it the bot only trusts less: what it finds on a branch counts as somebody else's
            return _Page()

    def _write(self, page: _Page) -> None:
        fresh = self._path.with_suffix(".new")
        try:
            with contextlib.suppress(FileNotFoundError):
                fresh.unlink()
            with os.fdopen(
                os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb"
            ) as file:
                file.write(page.model_dump_json().encode())
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path)
        except OSError as error:
            raise Unavailable(
                f"{self._path.name} cannot be written: {error.strerror}", "Make room on the disk."
            ) from error

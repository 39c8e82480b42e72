"""What the bot has made in a repository, kept outside of it. Its rule: written before the thing is made, struck out after it is gone.

The repository lies within reach of the agents, the ledger lies in the bot's own home: what is in it is a proof of what
is ours, and of how the repository's configuration was before agents worked.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import Refused
from bot.machine import of_the_machine


class Stage(StrEnum):
    """How far a worktree has come."""

    PREPARING = "preparing"
    READY = "ready"
    REMOVING = "removing"
    SCRATCH = "scratch"


class Merging(BaseModel):
    """A merge that was begun in a clean worktree. If it stands here at the next call, the bot died in it."""

    model_config = ConfigDict(frozen=True)

    head: str
    other: str


class Made(BaseModel):
    """A worktree of the bot's."""

    model_config = ConfigDict(frozen=True)

    branch: str = ""
    stage: Stage
    start: str
    """What was checked out when it was made."""
    origin: str = ""
    """The commit its branch began with; empty: not known."""
    git_dir: str = ""
    keys: Mapping[str, str] = {}
    """Of its own config.worktree: watched key → digest."""
    merging: Merging | None = None
    ignored: tuple[str, ...] = ()
    """When it is being removed: what the repository ignores there."""


class Page(BaseModel):
    """All that is known of one repository."""

    model_config = ConfigDict(frozen=True)

    top: str
    common: str
    keys: Mapping[str, str] = {}
    """Of the repository's configuration: watched key → digest of its values."""
    shallow: tuple[str, ...] | None = None
    """Commits at which the history was cut off in the repository; None: it was not looked at."""
    worktrees: Mapping[str, Made] = {}
    branches: Mapping[str, str] = {}
    """Branches the bot created and has not removed: name → path of the worktree."""

    def with_worktree(self, path: str, made: Made) -> Page:
        return self.model_copy(update={"worktrees": {**self.worktrees, path: made}})

    def without_worktree(self, path: str) -> Page:
        left = {key: made for key, made in self.worktrees.items() if key != path}
        return self.model_copy(update={"worktrees": left})

    def with_branch(self, branch: str, path: str) -> Page:
        return self.model_copy(update={"branches": {**self.branches, branch: path}})

    def without_branch(self, branch: str) -> Page:
        left = {name: path for name, path in self.branches.items() if name != branch}
        return self.model_copy(update={"branches": left})


class Ledger:
    """One small file per repository under `home`/repositories."""

    def __init__(self, home: Path) -> None:
        self._directory = home / "repositories"

    def page(self, top: Path) -> Page | None:
        path = self.path(top)
        try:
            return Page.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError:
            path.replace(path.with_suffix(".broken"))
            return None
        except OSError as error:
            raise Refused(f"{path} cannot be read: {error.strerror}") from error

    def save(self, page: Page) -> None:
        """Old or new, never half: a temporary file, fsync, rename."""
        path = self.path(Path(page.top))
        temporary = path.with_suffix(".new")
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _written(temporary, page.model_dump_json().encode())
            temporary.replace(path)
        except OSError as error:
            if trouble := of_the_machine(error, path):
                raise trouble from error
            raise Refused(f"{path} cannot be written: {error.strerror}") from error

    def drop(self, top: Path) -> None:
        self.path(top).unlink(missing_ok=True)

    def path(self, top: Path) -> Path:
        name = hashlib.sha256(str(top).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return self._directory / f"{name}.json"


def _written(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

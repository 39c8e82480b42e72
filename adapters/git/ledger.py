"""Records in the bot's home what it created in a repository, and locks the repository during changes.

Agents can reach the repository but not the ledger, so it proves which worktrees and branches are the bot's, and what
the configuration was before agents worked. An entry is written before the thing is created and removed after it is
gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from adapters.files import take_lock
from adapters.git.layout import GitCheckout
from adapters.state_files import JsonFile
from bot.core.errors import Refused, Unavailable
from bot.os_errors import as_unavailable


class Stage(StrEnum):
    """Progress of creating or removing a worktree."""

    PREPARING = "preparing"
    READY = "ready"
    REMOVING = "removing"
    SCRATCH = "scratch"


class MergeUnderWay(BaseModel):
    """A merge that was started in a clean worktree. If one is recorded at the next call, the bot died during it."""

    model_config = ConfigDict(frozen=True)

    head: str
    other: str


class WorktreeRecord(BaseModel):
    """A worktree created by the bot."""

    model_config = ConfigDict(frozen=True)

    branch: str = ""
    stage: Stage
    start: str
    """The commit checked out when it was created."""
    origin: str = ""
    """The first commit of its branch; empty if unknown."""
    git_dir: str = ""
    keys: Mapping[str, str] = {}
    """Watched keys of its own config.worktree, with a digest of their values."""
    merging: MergeUnderWay | None = None
    ignored: tuple[str, ...] = ()
    """Set during removal: the ignored paths in the worktree."""


class RepositoryRecord(BaseModel):
    """Everything recorded about one repository."""

    model_config = ConfigDict(frozen=True)

    top: str
    common: str
    keys: Mapping[str, str] = {}
    """Watched keys of the repository's configuration, with a digest of their values."""
    shallow: tuple[str, ...] | None = None
    """Commits at which a shallow history ends; None if that was not checked."""
    worktrees: Mapping[str, WorktreeRecord] = {}
    branches: Mapping[str, str] = {}
    """Branches the bot created and has not removed: name → path of the worktree."""

    def with_worktree(self, path: str, made: WorktreeRecord) -> RepositoryRecord:
        return self.model_copy(update={"worktrees": {**self.worktrees, path: made}})

    def without_worktree(self, path: str) -> RepositoryRecord:
        left = {key: made for key, made in self.worktrees.items() if key != path}
        return self.model_copy(update={"worktrees": left})

    def with_branch(self, branch: str, path: str) -> RepositoryRecord:
        return self.model_copy(update={"branches": {**self.branches, branch: path}})

    def without_branch(self, branch: str) -> RepositoryRecord:
        left = {name: path for name, path in self.branches.items() if name != branch}
        return self.model_copy(update={"branches": left})


class GitLedger:
    """One small file per repository under `home`/repositories."""

    def __init__(self, home: Path) -> None:
        self._directory = home / "repositories"

    def page(self, top: Path) -> RepositoryRecord | None:
        return self._file(top).read()

    def save(self, page: RepositoryRecord) -> None:
        self._file(Path(page.top)).write(page)

    def drop(self, top: Path) -> None:
        self.path(top).unlink(missing_ok=True)

    def path(self, top: Path) -> Path:
        name = hashlib.sha256(str(top).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return self._directory / f"{name}.json"

    def _file(self, top: Path) -> JsonFile[RepositoryRecord]:
        return JsonFile(self.path(top), RepositoryRecord)


# A repository while its lock is held; nothing is changed without one of these.

OnRemoved = Callable[[str], Awaitable[None]]


class LockedRepository:
    """Changes to the ledger.

    `let_go` is called for each removed worktree before its entry is removed; after a crash it is called again.
    """

    def __init__(
        self,
        main: GitCheckout,
        lock: int,
        ledger: GitLedger,
        page: RepositoryRecord,
        on_removed: OnRemoved | None = None,
    ) -> None:
        self.main = main
        self.lock = lock
        self._ledger = ledger
        self._page = page
        self._on_removed = on_removed

    def worktree_record(self, path: Path) -> WorktreeRecord | None:
        """Return the record of a worktree of the bot, or None."""
        return self._page.worktrees.get(str(path))

    @property
    def worktrees(self) -> tuple[str, ...]:
        """Return the paths of the bot's worktrees."""
        return tuple(self._page.worktrees)

    @property
    def has_worktrees(self) -> bool:
        """Whether the bot has any worktree in this repository."""
        return bool(self._page.worktrees)

    def owns(self, branch: str, path: Path) -> bool:
        """Whether the bot created this branch for this worktree."""
        return self._page.branches.get(branch) == str(path)

    def note(self, path: Path, made: WorktreeRecord) -> None:
        self._save(self._page.with_worktree(str(path), made))

    def note_branch(self, branch: str, path: Path) -> None:
        self._save(self._page.with_branch(branch, str(path)))

    async def remove_worktree(self, path: Path) -> None:
        """Remove the entry of a worktree that is gone, after `let_go` has cleaned up what belonged to it."""
        if self._on_removed:
            await self._on_removed(str(path))
        self._save(self._page.without_worktree(str(path)))

    def strike_branch(self, branch: str) -> None:
        self._save(self._page.without_branch(branch))

    def merge_recorder(self, path: Path) -> Callable[[MergeUnderWay | None], None]:
        """Return a function that records the start or, with None, the end of a merge in this worktree."""

        def note(merging: MergeUnderWay | None) -> None:
            made = self.worktree_record(path)
            if made is not None:
                self.note(path, made.model_copy(update={"merging": merging}))

        return note

    def _save(self, page: RepositoryRecord) -> None:
        if page != self._page:
            self._ledger.save(page)
            self._page = page


# One lock per repository: changes of worktrees and branches are serialised, also across processes. Two concurrent `git
# worktree add` collide, and a lock file of git may be called stale only if no git of the bot is alive. The lock is a
# descriptor inherited by every git: it is free when the last of them has ended.

LOCK_FILE = "gwt-bot.lock"
LOCK_SECONDS = 600.0


class RepositoryLocks:
    """The repository locks held by this process."""

    def __init__(self, seconds: float = LOCK_SECONDS) -> None:
        self._seconds = seconds
        self._held: dict[Path, asyncio.Lock] = {}

    @contextlib.asynccontextmanager
    async def hold(self, common: Path) -> AsyncGenerator[int]:
        """Hold the lock of the repository with this common directory; yields the descriptor to pass to git."""
        async with self._held.setdefault(common, asyncio.Lock()):
            descriptor = await self._take(common / LOCK_FILE)
            try:
                yield descriptor
            finally:
                # closing does not release it while a git that outlived its call still has it
                os.close(descriptor)

    async def _take(self, path: Path) -> int:
        try:
            return await take_lock(path, seconds=self._seconds)
        except TimeoutError as error:
            raise Unavailable(
                "another gwt-bot works in this repository",
                "Wait for it, or stop it: one bot per repository.",
            ) from error
        except OSError as error:
            if trouble := as_unavailable(error, path):
                raise trouble from error
            raise Refused(f"{path} cannot be written: {error.strerror}") from error

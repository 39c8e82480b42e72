"""Records what the bot has made in a repository, in the bot's own home, and locks the repository while it changes.

The repository lies within reach of the agents; the ledger does not. So it proves which worktrees and branches are ours, and how
the repository's configuration was before agents worked. An entry is written before the thing is made and struck out after it is gone.
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
    """How far a worktree has come."""

    PREPARING = "preparing"
    READY = "ready"
    REMOVING = "removing"
    SCRATCH = "scratch"


class MergeUnderWay(BaseModel):
    """A merge that was begun in a clean worktree. If it stands here at the next call, the bot died in it."""

    model_config = ConfigDict(frozen=True)

    head: str
    other: str


class WorktreeRecord(BaseModel):
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
    merging: MergeUnderWay | None = None
    ignored: tuple[str, ...] = ()
    """When it is being removed: what the repository ignores there."""


class RepositoryRecord(BaseModel):
    """All that is known of one repository."""

    model_config = ConfigDict(frozen=True)

    top: str
    common: str
    keys: Mapping[str, str] = {}
    """Of the repository's configuration: watched key → digest of its values."""
    shallow: tuple[str, ...] | None = None
    """Commits at which the history was cut off in the repository; None: it was not looked at."""
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


# A repository while its lock is held: only who has one of these changes anything.

OnRemoved = Callable[[str], Awaitable[None]]


class LockedRepository:
    """`let_go` is told of each worktree that is gone, before it is struck out: after a crash it is told again."""

    def __init__(
        self,
        main: GitCheckout,
        lock: int,
        ledger: GitLedger,
        page: RepositoryRecord,
        let_go: OnRemoved | None = None,
    ) -> None:
        self.main = main
        self.lock = lock
        self._ledger = ledger
        self._page = page
        self._let_go = let_go

    def made(self, path: Path) -> WorktreeRecord | None:
        """What the bot knows of a worktree of its own."""
        return self._page.worktrees.get(str(path))

    @property
    def worktrees(self) -> tuple[str, ...]:
        """Where the bot's own are."""
        return tuple(self._page.worktrees)

    @property
    def is_at_work(self) -> bool:
        """Whether the bot has any worktree here."""
        return bool(self._page.worktrees)

    def owns(self, branch: str, path: Path) -> bool:
        """Whether the bot created this branch for this worktree."""
        return self._page.branches.get(branch) == str(path)

    def note(self, path: Path, made: WorktreeRecord) -> None:
        self._save(self._page.with_worktree(str(path), made))

    def note_branch(self, branch: str, path: Path) -> None:
        self._save(self._page.with_branch(branch, str(path)))

    async def strike(self, path: Path) -> None:
        """It is gone, with what was kept for whoever worked there."""
        if self._let_go:
            await self._let_go(str(path))
        self._save(self._page.without_worktree(str(path)))

    def strike_branch(self, branch: str) -> None:
        self._save(self._page.without_branch(branch))

    def merge_note(self, path: Path) -> Callable[[MergeUnderWay | None], None]:
        """Writes down that a merge in this worktree begins, or that it is over."""

        def note(merging: MergeUnderWay | None) -> None:
            made = self.made(path)
            if made is not None:
                self.note(path, made.model_copy(update={"merging": merging}))

        return note

    def _save(self, page: RepositoryRecord) -> None:
        if page != self._page:
            self._ledger.save(page)
            self._page = page


# One lock per repository: changes of worktrees and branches happen one after the other, across
# processes.
#
# Two `git worktree add` at once collide, and a lock file of git's may be called stale only by
# somebody who knows that no git of the bot's is alive. The lock is a descriptor that every git
# inherits: it is free when the last of them is gone.

LOCK_FILE = "gwt-bot.lock"
LOCK_SECONDS = 600.0


class Locks:
    """The locks of one process."""

    def __init__(self, seconds: float = LOCK_SECONDS) -> None:
        self._seconds = seconds
        self._mine: dict[Path, asyncio.Lock] = {}

    @contextlib.asynccontextmanager
    async def held(self, common: Path) -> AsyncGenerator[int]:
        """Hold the lock of the repository whose common directory this is; the descriptor to hand to git."""
        async with self._mine.setdefault(common, asyncio.Lock()):
            descriptor = await self._take(common / LOCK_FILE)
            try:
                yield descriptor
            finally:
                # closing does not release it while a git that outlived its call has it, too
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

"""A bare repository of the bot for each one on GitHub, in which everything that needs a token is done.

Agents can write the configuration, hooks and pointers of the repositories they work in; none of that is read here. Only
objects are transferred, and checked. A mirror may be deleted at any time; it is created again.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel

from adapters.files import UnsyncedDisk, make_private, take_lock
from adapters.github.api import Address
from adapters.github.git import GitResult, RemoteGit, failure_line
from adapters.state_files import JsonFile
from bot.core.errors import Refused, Unavailable

_LOCK_SECONDS = 60.0
_BROKEN = (
    "not a git repository",
    "bad config",
    "unable to read tree",
    "object file",
    "bad object",
    "is corrupt",
)
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
_FETCH = ("--no-tags", "--no-write-fetch-head", "--update-shallow", "--quiet")


class Mirror:
    """Created below `mirrors`, under a name that reveals nothing."""

    def __init__(self, mirrors: Path, address: Address, slug: str, git: RemoteGit) -> None:
        name = sha256(address.clone_url(slug).lower().encode()).hexdigest()[:32]
        self.path = mirrors / f"{name}.git"
        self.url = address.clone_url(slug)
        self.pushed = PushedCommits(mirrors / f"{name}.json")
        self._lock = mirrors / f"{name}.lock"
        self._git = git
        self._held_lock = asyncio.Lock()
        self._descriptor: int | None = None

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """Hold the mirror's lock. git inherits it, so that after a crash of the bot the next one waits for a git still
        running.
        """
        async with self._held_lock:
            descriptor = await _lock(self._lock)
            try:
                self._descriptor = descriptor
                await self._ensure_created()
                yield
            finally:
                self._descriptor = None
                os.close(descriptor)

    async def git(self, *arguments: str, ok: tuple[int, ...] | None = (0,)) -> GitResult:
        """Run a command that only reads or writes the mirror itself."""
        return await self._git.run(*arguments, at=self.path, lock=self._descriptor, ok=ok)

    async def remote(self, *arguments: str, header: str) -> GitResult:
        """Run a command that contacts GitHub; only that process receives the header with the token."""
        base = self.url[: self.url.index("/", self.url.index("//") + 2)]
        return await self._git.run(
            *arguments,
            at=self.path,
            protocol=self.url.split(":", 1)[0],
            secret={f"http.{base}/.extraHeader": header},
            lock=self._descriptor,
            ok=None,
        )

    async def copy_from(self, repository: str, branch: str) -> None:
        """Copy a branch of a repository on this machine into the mirror."""
        await self._copy_branch(repository, branch, again=True)

    async def has(self, commit: str) -> bool:
        return (await self.git("cat-file", "-e", f"{commit}^{{commit}}", ok=None)).code == 0

    async def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `old` is an ancestor of `new`."""
        return (await self.git("merge-base", "--is-ancestor", old, new, ok=None)).code == 0

    async def _copy_branch(self, repository: str, branch: str, *, again: bool) -> None:
        if not Path(repository).is_absolute():
            raise Refused(f"{repository} is no place of a repository")
        source = f"file://{quote(repository)}"
        wanted = f"+refs/heads/{branch}:{mirror_ref('ours', branch)}"
        said = await self._git.run(
            "fetch",
            *_FETCH,
            source,
            wanted,
            at=self.path,
            protocol="file",
            lock=self._descriptor,
            ok=None,
            source=Path(repository),
        )
        if said.code == 0:
            return
        if not again or not any(word in said.err for word in _BROKEN):
            raise _not_taken(said, repository, branch)
        await self._recreate()
        await self._copy_branch(repository, branch, again=False)

    async def _ensure_created(self) -> None:
        if not await asyncio.to_thread(_remove_stale_locks, self.path):
            await self._recreate()
        await asyncio.to_thread(_write_config, self.path)

    async def _recreate(self) -> None:
        # Created under another name and then renamed, so that an incomplete one is never used.
        fresh = self.path.with_suffix(".new")
        await asyncio.to_thread(shutil.rmtree, fresh, ignore_errors=True)
        how = ("--bare", "--quiet", "--template=", "--initial-branch=none")
        await self._git.run("init", *how, str(fresh), lock=self._descriptor)
        await asyncio.to_thread(shutil.rmtree, self.path, ignore_errors=True)
        fresh.rename(self.path)


def mirror_ref(whose: str, branch: str) -> str:
    # Hashed: names of branches may exclude each other (a and a/b), these do not.
    return f"refs/{whose}/{sha256(branch.encode()).hexdigest()[:24]}"


def _not_taken(said: GitResult, repository: str, branch: str) -> Refused | Unavailable:
    if "couldn't find remote ref" in said.err:
        return Refused(f"{repository} has no branch {branch}")
    if "dubious ownership" in said.err:
        return Refused(
            "the repository belongs to another user of this machine",
            "Run the bot as the repository's owner.",
        )
    if "No space left" in said.err or "Disk quota" in said.err:
        return Unavailable("there is no room on the disk", "Make room on the disk.")
    return Refused(f"{branch} cannot be copied from {repository}: {failure_line(said.err)}")


async def _lock(path: Path) -> int:
    try:
        make_private(path.parent)
        return await take_lock(path, seconds=_LOCK_SECONDS)
    except TimeoutError as error:
        raise Unavailable("a git of an earlier run still works on the same branches") from error
    except OSError as error:
        raise Unavailable(f"{path.parent} cannot be written: {error.strerror}") from error


def _write_config(path: Path) -> None:
    # Rewritten each time: a proxy or another address in it would receive the token.
    try:
        UnsyncedDisk().replace(path / "config", _CONFIG.encode())
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}") from error


def _remove_stale_locks(path: Path) -> bool:
    """Whether the mirror exists.

    While the lock is held no git runs here, so existing lock files are left from a crash and removed.
    """
    if not (path / "objects").is_dir():
        return False
    for left in (*path.glob("*.lock"), *(path / "refs").rglob("*.lock")):
        left.unlink(missing_ok=True)
    return True


# The commits the bot has pushed, on disk: recorded before the push, so that it recognises its own work after a crash.

_MAX_COMMITS = 20
_BRANCHES_KEPT = 2_000


class _PushedPage(BaseModel):
    pushed: dict[str, tuple[str, ...]] = {}


class PushedCommits:
    """The commits that were pushed to each branch, the newest last."""

    def __init__(self, path: Path) -> None:
        self._file = JsonFile(path, _PushedPage)

    def has(self, branch: str, commit: str) -> bool:
        return commit in self._pushed().get(branch, ())

    def record(self, branch: str, commit: str) -> None:
        pushed = self._pushed()
        before = pushed.pop(branch, ())
        commits = (*(one for one in before if one != commit), commit)[-_MAX_COMMITS:]
        newest = list(pushed.items())[-(_BRANCHES_KEPT - 1) :]
        if before[-1:] != (commit,):
            self._file.write(_PushedPage(pushed={**dict(newest), branch: commits}))

    def strike(self, branch: str) -> None:
        pushed = self._pushed()
        if pushed.pop(branch, None) is not None:
            self._file.write(_PushedPage(pushed=pushed))

    def _pushed(self) -> dict[str, tuple[str, ...]]:
        """Return the commits the bot has pushed, or None if the record is lost: then it treats what it finds on a
        branch as somebody else's.
        """
        return (self._file.read() or _PushedPage()).pushed

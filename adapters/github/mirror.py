"""A bare repository of the bot's own, beside each one on GitHub. Its rule: everything with a token happens here.

Agents write to the configuration, hooks and pointers of the repository they work in; nothing of that is ever read here.
Only objects come over, and are checked. It may be thrown away at any time: it is made anew from what the others have.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from adapters.github.access import Address
from adapters.github.git import Git, Said, last_words
from adapters.github.pushed import Pushed
from bot.errors import Refused, Unavailable

_LOCK_SECONDS = 60.0
_LOOK_SECONDS = 0.1
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
    """Made in `mirrors` under a name that tells nothing."""

    def __init__(self, mirrors: Path, address: Address, slug: str, git: Git) -> None:
        name = sha256(address.clone_url(slug).lower().encode()).hexdigest()[:32]
        self.path = mirrors / f"{name}.git"
        self.url = address.clone_url(slug)
        self.pushed = Pushed(mirrors / f"{name}.json")
        self._lock = mirrors / f"{name}.lock"
        self._git = git
        self._held = asyncio.Lock()
        self._descriptor: int | None = None

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """One at a time. git inherits the lock: one that outlives the bot keeps the next bot waiting."""
        async with self._held:
            descriptor = _opened(self._lock)
            try:
                await _locked(descriptor)
                self._descriptor = descriptor
                await self._made()
                yield
            finally:
                self._descriptor = None
                os.close(descriptor)

    async def git(self, *arguments: str, ok: tuple[int, ...] | None = (0,)) -> Said:
        """A command that reaches nothing but the mirror itself."""
        return await self._git.run(*arguments, at=self.path, lock=self._descriptor, ok=ok)

    async def remote(self, *arguments: str, header: str) -> Said:
        """A command that speaks with GitHub; the header with the token is known to that process alone."""
        base = self.url[: self.url.index("/", self.url.index("//") + 2)]
        return await self._git.run(
            *arguments,
            at=self.path,
            opens=self.url.split(":", 1)[0],
            secret={f"http.{base}/.extraHeader": header},
            lock=self._descriptor,
            ok=None,
        )

    async def take_from(self, repository: str, branch: str) -> None:
        """Copy a branch of a repository on this machine here."""
        await self._take(repository, branch, again=True)

    async def has(self, commit: str) -> bool:
        return (await self.git("cat-file", "-e", f"{commit}^{{commit}}", ok=None)).code == 0

    async def is_part(self, old: str, new: str) -> bool:
        """Whether everything of `old` is in `new`."""
        return (await self.git("merge-base", "--is-ancestor", old, new, ok=None)).code == 0

    async def _take(self, repository: str, branch: str, *, again: bool) -> None:
        if not Path(repository).is_absolute():
            raise Refused(f"{repository} is no place of a repository")
        source = f"file://{quote(repository)}"
        wanted = f"+refs/heads/{branch}:{ref_of('ours', branch)}"
        said = await self._git.run(
            "fetch",
            *_FETCH,
            source,
            wanted,
            at=self.path,
            opens="file",
            lock=self._descriptor,
            ok=None,
            reads=Path(repository),
        )
        if said.code == 0:
            return
        if not again or not any(word in said.err for word in _BROKEN):
            raise _not_taken(said, repository, branch)
        await self._anew()
        await self._take(repository, branch, again=False)

    async def _made(self) -> None:
        if not await asyncio.to_thread(_tidied, self.path):
            await self._anew()
        await asyncio.to_thread(_configured, self.path)

    async def _anew(self) -> None:
        """Made beside its place, then moved there: a half-made one is never used."""
        fresh = self.path.with_suffix(".new")
        await asyncio.to_thread(shutil.rmtree, fresh, ignore_errors=True)
        how = ("--bare", "--quiet", "--template=", "--initial-branch=none")
        await self._git.run("init", *how, str(fresh), lock=self._descriptor)
        await asyncio.to_thread(shutil.rmtree, self.path, ignore_errors=True)
        fresh.rename(self.path)


def ref_of(whose: str, branch: str) -> str:
    """Names of branches may exclude each other (a and a/b); these do not."""
    return f"refs/{whose}/{sha256(branch.encode()).hexdigest()[:24]}"


def _not_taken(said: Said, repository: str, branch: str) -> Refused | Unavailable:
    if "couldn't find remote ref" in said.err:
        return Refused(f"{repository} has no branch {branch}")
    if "dubious ownership" in said.err:
        return Refused(
            "the repository belongs to another user of this machine",
            "Run the bot as the repository's owner.",
        )
    if "No space left" in said.err or "Disk quota" in said.err:
        return Unavailable("there is no room on the disk", "Make room on the disk.")
    return Refused(f"{branch} cannot be copied from {repository}: {last_words(said.err)}")


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unavailable(f"{path.parent} cannot be written: {error.strerror}") from error


def _configured(path: Path) -> None:
    """As git made it, each time anew: a proxy or another address in it would see the token."""
    fresh = path / "config.new"
    try:
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=0o600)
        fresh.chmod(0o600)  # whatever the umask, and whatever was left there
        fresh.write_text(_CONFIG)
        fresh.replace(path / "config")
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}") from error


def _tidied(path: Path) -> bool:
    """Whether it is there. Who holds the lock knows that no git works here: its lock files are left over from a crash."""
    if not (path / "objects").is_dir():
        return False
    for left in (*path.glob("*.lock"), *(path / "refs").rglob("*.lock")):
        left.unlink(missing_ok=True)
    return True


async def _locked(descriptor: int) -> None:
    for _ in range(round(_LOCK_SECONDS / _LOOK_SECONDS)):
        if _try(descriptor):
            return
        await asyncio.sleep(_LOOK_SECONDS)
    raise Unavailable("a git of an earlier run still works on the same branches")


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

"""Refuses to work when the repository's git configuration has changed while agents worked.

A worktree is no sandbox: an agent can write the repository's `.git/config`, and a filter, a merge driver or a planted
pointer file would run its code when git is used next. So everything that could run code is recorded before the first
agent starts, and compared before every later call.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from adapters.git.layout import GitCheckout, first_line, is_directory
from adapters.git.ledger import GitLedger, RepositoryRecord, WorktreeRecord
from adapters.git.run import Git
from bot.core.errors import Lost, Refused

WATCHED_KEYS = re.compile(
    r"""
      core\.(fsmonitor|hookspath|sshcommand|worktree|bare|gitproxy|editor|pager|askpass|alternaterefscommand)
    | core\.repositoryformatversion
    | diff\.external | diff\..*\.(command|textconv)
    | (difftool|mergetool|filter|gpg|include|includeif|url|credential|alias|protocol)\..*
    | (extensions|http|https|uploadpack|interactive|pager|tar|trailer)\..*
    | merge\..*\.driver | sequence\.editor
    | remote\..*\.(vcs|uploadpack|receivepack|promisor|partialclonefilter)
    | submodule\..*\.update | submodule\.recurse
    """,
    re.VERBOSE,
)
_INCLUDES = re.compile(r"(include|includeif\..*)\.path")
_REMOTE_HELPER = re.compile(r"-|[A-Za-z0-9][A-Za-z0-9+.-]*::")
_ADDRESS = re.compile(r"(remote|submodule)\..*\.(url|pushurl)")
CONFIG_LIMIT = 1024 * 1024
INCLUDE_DEPTH = 10
"""git itself follows includes to this depth."""
MAX_INCLUDED_FILES = 100
"""Number of files, so that a file that includes itself is not read for ever."""


class Trust:
    def __init__(self, git: Git, ledger: GitLedger) -> None:
        self._git = git
        self._ledger = ledger

    async def checked_record(self, main: GitCheckout) -> RepositoryRecord:
        """Return the record of the repository.

        If no agent works there, the configuration is recorded as people left it; otherwise it is compared.
        """
        page = self._ledger.page(main.top)
        if page is not None and page.worktrees:
            await self._compare(main, page)
            return page
        fresh = RepositoryRecord(
            top=str(main.top),
            common=str(main.common),
            keys=await self._repository_keys(main),
            shallow=_shallow(main),
            branches=page.branches if page else {},
        )
        if fresh != page:
            self._ledger.save(fresh)
        return fresh

    async def check(self, main: GitCheckout) -> None:
        """Compare the configuration before a call that reads the repository or its main checkout; raise Refused if it
        has changed.
        """
        page = self._ledger.page(main.top)
        if page is not None and page.worktrees:
            await self._compare(main, page)

    async def checked_worktree(self, main: GitCheckout, path: Path) -> GitCheckout:
        """Return a worktree of the bot, after comparing everything that could mislead git there."""
        page = self._ledger.page(main.top)
        made = page.worktrees.get(str(path)) if page else None
        if page is None or made is None or not made.git_dir:
            raise Refused(f"{path} is no worktree of the bot's", "Prepare the worktree first.")
        if not is_directory(path):
            raise Lost(f"the worktree {path} is missing", "Recreate it, or give the task up.")
        await self._compare(main, page)
        await self._compare_worktree(main, path, made)
        return main.linked_worktree(Path(made.git_dir), path)

    async def worktree_keys(self, git_dir: Path) -> dict[str, str]:
        """Return the keys of a worktree's own configuration that could run code."""
        return await self._keys(git_dir / "config.worktree")

    async def _compare(self, main: GitCheckout, page: RepositoryRecord) -> None:
        if page.common != str(main.common):
            raise self._changed_error(main, [".git"])
        found = await self._repository_keys(main)
        if found != dict(page.keys):
            raise self._changed_error(main, _differing(dict(page.keys), found))
        if page.shallow is not None and not set(_shallow(main)) <= set(page.shallow):
            raise self._shallow_changed_error(main, page)

    def _shallow_changed_error(self, main: GitCheckout, page: RepositoryRecord) -> Refused:
        # A changed shallow file would hide what is merged, so that a branch would seem to have moved.
        file = main.common / "shallow"
        undo = f"rm {file}" if not page.shallow else "git fetch --unshallow"
        return Refused(
            f"{file} was changed while agents worked: it hides older commits from git",
            f"Undo the change: {undo}. Or, if it is your own, remove {self._ledger.path(main.top)}.",
        )

    async def _compare_worktree(self, main: GitCheckout, path: Path, made: WorktreeRecord) -> None:
        git_dir = Path(made.git_dir)
        pointers = {
            path / ".git": f"gitdir: {git_dir}",
            git_dir / "gitdir": str(path / ".git"),
            git_dir / "commondir": "../..",
        }
        swapped = [str(file) for file, line in pointers.items() if not _has_first_line(file, line)]
        found = await self.worktree_keys(git_dir)
        if swapped or found != dict(made.keys):
            raise self._changed_error(main, swapped + _differing(dict(made.keys), found))

    async def _repository_keys(self, main: GitCheckout) -> dict[str, str]:
        shared = await self._keys(main.common / "config")
        own = await self._keys(main.common / "config.worktree")
        return shared | {f"config.worktree {key}": value for key, value in own.items()}

    async def _keys(
        self, config: Path, depth: int = 0, read: list[Path] | None = None
    ) -> dict[str, str]:
        """Return every watched key of a file and the files it includes, with a digest of its values, which may be
        secrets.

        Conditions of includes are ignored, because any of them may become true.
        """
        keys: dict[str, str] = {}
        read = [] if read is None else read
        read.append(config)
        if len(read) > MAX_INCLUDED_FILES:
            raise Refused(f"{read[0]} includes too many files", "Look who has made it so.")
        for key, value in await self._entries(config):
            if not _is_watched(key, value):
                continue
            keys[key] = hashlib.sha256((keys.get(key, "") + "\0" + value).encode()).hexdigest()
            if _INCLUDES.fullmatch(key.lower()) and depth < INCLUDE_DEPTH:
                included = _included(config, value)
                inner = await self._keys(included, depth + 1, read)
                keys |= {f"{included} {name}": digest for name, digest in inner.items()}
        return keys

    async def _entries(self, config: Path) -> list[tuple[str, str]]:
        content = _content(config)
        if not content:
            return []
        # from stdin, so that git parses exactly what was read; / is in no repository
        answer = await self._git.read(
            *("config", "--file", "-", "--no-includes", "-z", "--list"), at=Path("/"), stdin=content
        )
        return list(_pairs(answer.out))

    def _changed_error(self, main: GitCheckout, keys: list[str]) -> Refused:
        told = ", ".join(sorted(keys)[:10])
        return Refused(
            f"the repository's git configuration was changed while agents worked: {told}",
            f"Look at {main.common}/config. Undo the change; or, if it is your own, remove "
            f"{self._ledger.path(main.top)}.",
        )


def _has_first_line(file: Path, line: str) -> bool:
    return not file.is_symlink() and first_line(file) == line


def _content(config: Path) -> bytes:
    if not config.exists():
        return b""
    if not config.is_file() or config.stat().st_size > CONFIG_LIMIT:
        raise Refused(
            f"{config} is no ordinary configuration file",
            f"Look who has put it there. Remove it, and bring yours back from a copy: rm {config}",
        )
    try:
        return config.read_bytes()
    except OSError as error:
        raise Refused(f"{config} cannot be read: {error.strerror}") from error


def _shallow(main: GitCheckout) -> tuple[str, ...]:
    """Return the commits at which the history is cut off; for a file too long to compare, its digest."""
    file = main.common / "shallow"
    if not os.path.lexists(file):
        return ()
    if not file.is_file():
        return ("not a regular file",)
    with file.open("rb") as lines:
        if file.stat().st_size > CONFIG_LIMIT:
            return (hashlib.file_digest(lines, "sha256").hexdigest(),)
        return tuple(lines.read(CONFIG_LIMIT).decode("ascii", "replace").split())


def _included(config: Path, value: str) -> Path:
    # Relative to the file that includes it, as git does.
    named = Path(value)
    with suppress(RuntimeError):  # no such user
        named = named.expanduser()
    return config.parent / named


def _pairs(output: bytes) -> Iterator[tuple[str, str]]:
    for entry in output.decode("utf-8", "replace").split("\0"):
        if entry:
            key, _, value = entry.partition("\n")
            yield key, value


def _is_watched(key: str, value: str) -> bool:
    lower = key.lower()
    if _ADDRESS.fullmatch(lower):
        return _REMOTE_HELPER.match(value) is not None
    return WATCHED_KEYS.fullmatch(lower) is not None


def _differing(before: dict[str, str], now: dict[str, str]) -> list[str]:
    return [key for key in before.keys() | now.keys() if before.get(key) != now.get(key)]

"""Writes files into a worktree and copies ignored files of the main checkout there. No path and no planted link leads out of it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import shutil
import stat
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from adapters.files import (
    UnsyncedDisk,
    create_file,
    open_folder,
    open_folder_below,
    open_regular_file,
)
from adapters.git.commits import readable
from adapters.git.layout import GitCheckout
from adapters.git.run import Git
from bot.core.errors import Refused, Unavailable
from bot.os_errors import as_unavailable

# Writing: no path, and no symbolic link planted by an agent, leads out of the worktree.

TEMPORARY_NAME = ".gwt-bot.new"


def checked_parts(path: str) -> tuple[str, ...]:
    """Split a relative path and check it without touching the disk; raise Refused if it leads out of the tree."""
    parts = tuple(path.split("/"))
    odd = any(part in {"", ".", ".."} or part.lower() == ".git" for part in parts)
    if odd or "\\" in path or any(ord(sign) < 32 or ord(sign) == 127 for sign in path):
        raise Refused(f"{path!r} is no path inside the worktree")
    return parts


def write_inside(top: Path, files: dict[str, str]) -> None:
    """Write the files, each atomically. Every path is checked before the first is written."""
    places = [(checked_parts(path), content) for path, content in files.items()]
    for parts, content in places:
        try:
            with open_folder_below(top, parts[:-1], make=0o777) as directory:
                _write_file(directory, parts[-1], content.encode())
        except OSError as error:
            raise write_error(error, top, "/".join(parts)) from error


def _write_file(directory: int, name: str, content: bytes) -> None:
    mode = None
    with contextlib.suppress(FileNotFoundError):
        old = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
        mode = old & 0o777 if stat.S_ISREG(old) else None
    UnsyncedDisk().replace(
        Path(name), content, mode=mode, folder=directory, temporary=TEMPORARY_NAME
    )


def write_error(error: OSError, top: Path, path: str) -> Refused | Unavailable:
    if trouble := as_unavailable(error, top):
        return trouble
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return Refused(f"a directory of {path} is a symbolic link or a file")
    return Refused(f"{path} cannot be written: {error.strerror}")


# Copies ignored files of the main checkout: only what both checkouts ignore, so that nothing shows up as a change.
# Nothing of git is touched, so the repository's lock is not taken, and nobody has to wait while gigabytes are copied.

T = TypeVar("T")


@dataclass(frozen=True)
class CopyLimits:
    """Limits for copying into one worktree."""

    files: int = 50_000
    size: int = 2 * 1024**3
    looked_at: int = 500_000


@dataclass(frozen=True)
class _Found:
    path: str
    size: int


class IgnoredFileCopier:
    """Copies ignored files. `home`: the bot's own directory, which is not copied if it is in the repository."""

    def __init__(self, git: Git, home: Path, bounds: CopyLimits) -> None:
        self._git = git
        self._home = home.resolve()
        self._bounds = bounds

    async def copy(
        self, main: GitCheckout, at: GitCheckout, lines: tuple[str, ...]
    ) -> tuple[str, ...]:
        patterns = read_patterns(lines)
        if not patterns:
            return ()
        entries = await self._ignored(main)
        wanted = await _run_in_thread(lambda stop: self._wanted(main, at, entries, patterns, stop))
        names = await self._also_ignored_in(at, wanted)
        done = await _run_in_thread(lambda stop: copy_files(main.top, at.top, names, stop))
        return tuple(readable(name) for name in done)

    async def _ignored(self, main: GitCheckout) -> list[str]:
        # A directory ignored as a whole is one entry, ending in a slash.
        answer = await self._git.read(
            *("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"),
            at=main,
        )
        if answer.truncated:
            raise self._limit_error("the repository ignores too many files to look through")
        return answer.fields

    async def _also_ignored_in(self, at: GitCheckout, names: list[str]) -> list[str]:
        # Only those the worktree ignores, too: its branch may have another .gitignore, and may track some of them.
        if not names:
            return []
        # this command does not support literal pathspecs; after ./ no character of a name is special
        told = b"".join(b"./" + os.fsencode(name) + b"\0" for name in names)
        answer = await self._git.read(
            *("--no-literal-pathspecs", "check-ignore", "-z", "--stdin"),
            at=at,
            ok=(0, 1),
            stdin=told,
        )
        return [name.removeprefix("./") for name in answer.fields]

    def _wanted(
        self,
        main: GitCheckout,
        at: GitCheckout,
        entries: list[str],
        patterns: tuple[Pattern, ...],
        stop: threading.Event,
    ) -> list[str]:
        found: dict[str, _Found] = {}
        size = 0
        for looked, file in enumerate(self._files(main.top, entries, patterns), start=1):
            if stop.is_set():
                break
            if looked > self._bounds.looked_at:
                raise self._limit_error(
                    f"more than {self._bounds.looked_at} files would be looked at"
                )
            if file is None or file.path in found or _is_path_blocked(at.top, file.path):
                continue
            found[file.path] = file
            size += file.size
            if len(found) > self._bounds.files or size > self._bounds.size:
                raise self._limit_error(
                    f"the ignored files to copy are more than {self._bounds.files}, "
                    f"or more than {self._bounds.size // 1024**2} MiB"
                )
        return list(found)

    def _files(
        self, top: Path, entries: list[str], patterns: tuple[Pattern, ...]
    ) -> Iterator[_Found | None]:
        """Yield the files that match the patterns, and None for every other path looked at."""
        waiting = list(reversed(entries))
        while waiting:
            path = waiting.pop()
            if is_excluded(path) or (top / path).is_relative_to(self._home):
                yield None
            elif path.endswith("/"):
                yield None
                inside = path.rstrip("/")
                if any(pattern.may_match_inside(inside) for pattern in patterns):
                    waiting += _entries_of(top, inside)
            else:
                named = any(pattern.names(path) for pattern in patterns)
                yield _copyable(top, path) if named else None

    def _limit_error(self, reason: str) -> Refused:
        return Refused(
            reason, "Name fewer files, or let a set-up command install what can be installed."
        )


def _entries_of(top: Path, directory: str) -> list[str]:
    # The directory may be gone by now, or have become a link.
    if (top / directory).is_symlink() or not (top / directory).is_dir():
        return []
    with os.scandir(top / directory) as entries:
        names = [
            f"{directory}/{entry.name}" + ("/" if entry.is_dir(follow_symlinks=False) else "")
            for entry in entries
        ]
    return sorted(names, reverse=True)


def _copyable(top: Path, path: str) -> _Found | None:
    """Return a regular file, or a link that stays in the repository; None for anything else, such as a FIFO or device."""
    try:
        about = (top / path).lstat()
        link = stat.S_ISLNK(about.st_mode)
        inside = link and stays_inside(path, os.readlink(top / path))  # noqa: PTH115 - its exact text
    except FileNotFoundError:
        return None
    if inside or stat.S_ISREG(about.st_mode):
        return _Found(path, about.st_size)
    return None


def _is_path_blocked(top: Path, path: str) -> bool:
    """Whether the worktree has something other than a directory on the way to the path."""
    here = top
    for part in path.split("/")[:-1]:
        here /= part
        if here.is_symlink() or (here.exists() and not here.is_dir()):
            return True
        if not here.exists():
            return False
    return False


async def _run_in_thread(work: Callable[[threading.Event], T]) -> T:
    # When cancelled, the thread is stopped before this returns, so that nothing is written into what is being removed.
    stop = threading.Event()
    working = asyncio.create_task(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.gather(working, return_exceptions=True)
        raise


# The copying itself: through no link, over no existing file, and never half a file.

_CANNOT_SHARE_BLOCKS = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}
_CHUNK = 64 * 1024 * 1024


def copy_files(
    source: Path, target: Path, names: Iterable[str], stop: threading.Event
) -> list[str]:
    """Copy what does not exist yet, and return the names copied. Files that vanish meanwhile are skipped."""
    done: list[str] = []
    for name in names:
        if stop.is_set():
            break
        try:
            if _copy_one(source, target, name):
                done.append(name)
        except FileNotFoundError as error:
            if not target.is_dir():
                raise Refused(f"the worktree {target} is missing") from error
        except OSError as error:
            raise write_error(error, target, name) from error
    return done


def _copy_one(source: Path, target: Path, path: str) -> bool:
    *parts, name = path.split("/")
    with _open_both_directories(source, target, parts) as (here, there):
        if _is_there(there, name):
            return False
        mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            return _copy_link(here, there, name, path)
        return stat.S_ISREG(mode) and _copy_file(here, there, name)


@contextlib.contextmanager
def _open_both_directories(
    source: Path, target: Path, parts: list[str]
) -> Generator[tuple[int, int]]:
    # Opened step by step, so that no part of the path can be a link.
    with contextlib.ExitStack() as opened:
        here = _open_directory(opened, source, None)
        there = _open_directory(opened, target, None)
        for part in parts:
            here = _open_directory(opened, part, here)
            mode = stat.S_IMODE(os.fstat(here).st_mode) & 0o777 | 0o700
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, mode, dir_fd=there)
            there = _open_directory(opened, part, there)
        yield here, there


def _open_directory(opened: contextlib.ExitStack, name: Path | str, within: int | None) -> int:
    descriptor = open_folder(name, within=within)
    opened.callback(os.close, descriptor)
    return descriptor


def _is_there(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _copy_link(here: int, there: int, name: str, path: str) -> bool:
    to = os.readlink(name, dir_fd=here)
    if not stays_inside(path, to):
        return False
    try:
        os.symlink(to, name, dir_fd=there)
    except FileExistsError:
        return False
    return True


def _copy_file(here: int, there: int, name: str) -> bool:
    with open_regular_file(name, folder=here) as old:
        about = os.fstat(old)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(TEMPORARY_NAME, dir_fd=there)  # left by a bot that died here
        try:
            with create_file(TEMPORARY_NAME, folder=there) as new:
                _copy_content(old, new.fileno())
                os.fchmod(new.fileno(), about.st_mode & 0o777)
                os.utime(new.fileno(), ns=(about.st_atime_ns, about.st_mtime_ns))
            # unlike a rename, a link never replaces what somebody has put there meanwhile
            os.link(TEMPORARY_NAME, name, src_dir_fd=there, dst_dir_fd=there)
        except FileExistsError:
            return False
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(TEMPORARY_NAME, dir_fd=there)
    return True


def _copy_content(old: int, new: int) -> None:
    # The kernel copies, if possible by sharing the blocks until one side is written.
    try:
        while hasattr(os, "copy_file_range") and os.copy_file_range(old, new, _CHUNK):
            pass
    except OSError as error:
        if error.errno not in _CANNOT_SHARE_BLOCKS:
            raise
    with os.fdopen(os.dup(old), "rb") as rest, os.fdopen(os.dup(new), "wb") as end:
        shutil.copyfileobj(rest, end)


# Which ignored files the operator wants copied. Patterns have the syntax of .gitignore, and never lead out of the
# repository.

EXCLUDED_NAMES = frozenset({".git", ".worktrees", ".gwt"})
"""Directories and files of git and the bot."""
_WILD = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[(!?)([^]/]+)\]")


@dataclass(frozen=True)
class Pattern:
    rule: re.Pattern[str]
    begins: str
    """The literal directories before the first wildcard."""
    anchored: bool

    def names(self, path: str) -> bool:
        return self.rule.fullmatch(path) is not None

    def may_match_inside(self, directory: str) -> bool:
        """Whether to look into a directory that is ignored as a whole.

        Not for a plain name like `.env`, which would be searched for in all of node_modules.
        """
        if self.names(directory + "/\0"):
            return True
        if not self.anchored:
            return False
        one, other = f"{directory}/", self.begins
        return one.startswith(other) or other.startswith(one)


def read_patterns(lines: Iterable[str]) -> tuple[Pattern, ...]:
    return tuple(_parse_pattern(line.strip()) for line in lines if line.strip())


def is_excluded(path: str) -> bool:
    """Whether the path belongs to git or the bot, and is never copied."""
    return any(part.casefold() in EXCLUDED_NAMES for part in path.split("/"))


def stays_inside(link: str, target: str) -> bool:
    """Whether a symbolic link at the path `link` stays below the same top directory.

    `..` is accepted only at the beginning: after another link it could lead anywhere.
    """
    parts = target.split("/")
    ups = sum(part == ".." for part in parts)
    if target.startswith("/") or ups > link.count("/") or parts[:ups] != [".."] * ups:
        return False
    return not is_excluded("/".join(parts[ups:]))


def _parse_pattern(line: str) -> Pattern:
    body = line.strip("/")
    parts = body.split("/")
    if not body or line.startswith("!") or ".." in parts or is_excluded(body):
        raise Refused(
            f"{line!r} names no files that could be copied into a worktree",
            "Name ignored files as in .gitignore, without ! and ..",
        )
    anchored = line.startswith("/") or len(parts) > 1
    fixed = parts[:-1]
    wild = next((n for n, part in enumerate(fixed) if _WILD.search(part)), len(fixed))
    head = "" if anchored else "(?:[^/]+/)*"
    tail = "/.+" if line.endswith("/") else "(?:/.+)?"
    try:
        rule = re.compile(head + _path_regex(parts) + tail, re.DOTALL)
    except re.error as error:
        raise Refused(f"{line!r} is no pattern: {error.msg}", "Look at its [ ].") from error
    return Pattern(rule, "".join(f"{part}/" for part in fixed[:wild]), anchored)


def _path_regex(parts: list[str]) -> str:
    """Translate a pattern path: `**` matches any number of directories; at the end, everything below."""
    rule = ""
    for n, part in enumerate(parts):
        last = n == len(parts) - 1
        if part == "**":
            rule += ".+" if last else "(?:[^/]+/)*"
        else:
            rule += _segment_regex(part) + ("" if last else "/")
    return rule


def _segment_regex(part: str) -> str:
    rule, at = "", 0
    while at < len(part):
        group = _CLASS.match(part, at)
        if group:
            rule += f"[{'^/' if group[1] else ''}{_class_regex(group[2])}]"
            at = group.end()
            continue
        rule += {"*": "[^/]*", "?": "[^/]"}.get(part[at], re.escape(part[at]))
        at += 1
    return re.sub(r"(?:\[\^/\]\*)+", "[^/]*", rule)


def _class_regex(inside: str) -> str:
    # Only single dashes stay ranges: Python may give `--` in a class another meaning one day.
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside)
    return escaped.replace("--", r"-\-")

"""Files below a repository's `.forge`. No link there is followed, no pipe waited for, nothing read without bounds.

Whoever works in the repository can leave links, pipes and anything else under these names. Files are put in place whole, and
never over what somebody else has written meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from bot.core.errors import Refused, Unavailable

FOLDER = ".forge"
MOST_NAMES = 5_000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class ChangedError(Exception):
    """Somebody else has written the file since it was read."""


class RegistryFolder:
    """`within` is where below `.forge` the files lie. `umask`: the operator's own, these are files of people, too."""

    def __init__(self, top: str, *within: str, umask: int = 0o022) -> None:
        self._top = Path(top)
        self._within = within
        self._umask = umask
        self.name = "/".join((FOLDER, *within))

    def names(self) -> list[str]:
        """What lies there, sorted; nothing where there is no such folder."""
        try:
            with self._opened(make=False) as at:
                return sorted(_listed(at))
        except FileNotFoundError:
            return []

    def read(self, name: str, limit: int) -> bytes | None:
        """A plain file's content; None where there is none. Refused: it is no plain file, or larger than `limit`."""
        try:
            with self._opened(make=False) as at:
                return self._content(at, name, limit)
        except FileNotFoundError:
            return None

    def create(self, name: str, content: bytes) -> bool:
        """Put a new file there. False: that name is taken."""
        with self._opened(make=True) as at:
            temporary = self._written(at, name, content)
            try:
                os.link(temporary, name, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
            except FileExistsError:
                return False
            finally:
                os.unlink(temporary, dir_fd=at)
            os.fsync(at)
            return True

    def replace(self, name: str, content: bytes, *, was: bytes, limit: int) -> None:
        """Put another content in place of `was`. ChangedError: that is no longer what stands there."""
        try:
            with self._opened(make=False) as at:
                mode = stat.S_IMODE(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)
                temporary = self._written(at, name, content, mode)
                try:
                    self._require(at, name, was, limit)
                    os.rename(temporary, name, src_dir_fd=at, dst_dir_fd=at)
                except BaseException:
                    os.unlink(temporary, dir_fd=at)
                    raise
                os.fsync(at)
        except FileNotFoundError as gone:
            raise ChangedError from gone

    def move(self, name: str, into: RegistryFolder) -> None:
        """Into another folder, under a name that is free there. Gone already: then it was moved before."""
        with self._opened(make=False) as at, into._opened(make=True) as there:
            stem, dot, end = name.rpartition(".")
            for free in (name, *(f"{stem}-{n}{dot}{end}" for n in range(2, MOST_NAMES))):
                try:
                    os.link(name, free, src_dir_fd=at, dst_dir_fd=there, follow_symlinks=False)
                except FileExistsError:
                    continue
                except FileNotFoundError:
                    return
                os.unlink(name, dir_fd=at)
                return

    @contextmanager
    def _opened(self, *, make: bool) -> Generator[int]:
        """The folder itself, step by step: a link on the way is no folder."""
        path, parts = str(self._top), (FOLDER, *self._within)
        try:
            at = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                for part in parts:
                    at = self._below(at, part, make=make)
                yield at
            finally:
                os.close(at)
        except FileNotFoundError as error:
            if not make:
                raise
            raise Refused(f"there is no checkout at {self._top} any more") from error
        except NotADirectoryError as error:
            raise self._no_folder() from error
        except OSError as error:
            if error.errno == errno.ELOOP:  # a link where a folder should be
                raise self._no_folder() from error
            raise Unavailable(
                f"{self._top / self.name} cannot be used: {error.strerror}",
                "See that the folder is writable and that there is room on the disk.",
            ) from error

    def _no_folder(self) -> Refused:
        return Refused(
            f"{self.name} is no folder of the repository's own",
            "It must be a plain folder, no link and no file.",
        )

    def _below(self, at: int, part: str, *, make: bool) -> int:
        if make:
            self._made(at, part)
        below = os.open(part, _DIRECTORY, dir_fd=at)
        os.close(at)
        return below

    def _made(self, at: int, part: str) -> None:
        try:
            os.mkdir(part, 0o777 & ~self._umask, dir_fd=at)
        except FileExistsError:
            return
        made = os.open(part, _DIRECTORY, dir_fd=at)
        try:
            os.fchmod(made, 0o777 & ~self._umask)
        finally:
            os.close(made)

    def _require(self, at: int, name: str, was: bytes, limit: int) -> None:
        if self._content(at, name, limit) != was:
            raise ChangedError

    def _content(self, at: int, name: str, limit: int) -> bytes:
        try:
            descriptor = os.open(name, _READ, dir_fd=at)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise Refused(f"{self.name}/{name} is no plain file that can be read") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Refused(f"{self.name}/{name} is no plain file")
            content = _all_of(descriptor, limit + 1)
        finally:
            os.close(descriptor)
        if len(content) > limit:
            raise Refused(f"{self.name}/{name} is larger than {limit // 1024} KiB")
        return content

    def _written(self, at: int, name: str, content: bytes, mode: int | None = None) -> str:
        """A file beside it, on disk."""
        temporary = f".{name[:80]}.{os.getpid()}.new"
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=at)
        descriptor = os.open(temporary, _NEW, 0o600, dir_fd=at)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, 0o666 & ~self._umask if mode is None else mode)
            os.fsync(descriptor)
        return temporary


def _listed(at: int) -> list[str]:
    with os.scandir(at) as entries:
        return [entry.name for entry in islice(entries, MOST_NAMES)]


def _all_of(descriptor: int, most: int) -> bytes:
    parts: list[bytes] = []
    while most > 0 and (part := os.read(descriptor, most)):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)

"""Bytes on the disk: private, and whole or not at all. Whoever counts or breaks disks does it here."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from bot.errors import Unavailable
from bot.machine import RIGHTS

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700
TEMPORARY = ".tmp"
LARGEST = 512 << 20
"""Bytes. A session of 100,000 messages takes a tenth of it."""


class Disk:
    """Reads, appends to and replaces files. Its errors are OSErrors; after one, the file is as it was."""

    def read(self, path: Path) -> bytes:
        """Of a file, and of none that would fill the memory: whoever starts must not be held up by one of them."""
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        if found.st_size > LARGEST:
            raise OSError(errno.EFBIG, f"it is larger than {LARGEST >> 20} MB", str(path))
        return path.read_bytes()

    def append(self, path: Path, at: int, data: bytes) -> bool:
        """Put `data` at offset `at`, the end of what counts. False: the file no longer reaches that far."""
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            size = os.fstat(fd).st_size
            if size < at or at == 0:
                return False
            if size > at:  # the rest of a write that was never acknowledged
                os.ftruncate(fd, at)
            self._append(fd, path, at, data)
        finally:
            os.close(fd)
        return True

    def replace(self, path: Path, data: bytes) -> None:
        """Make `data` the content of the file: after a crash it holds either the old or the new."""
        temporary = path.with_name(path.name + TEMPORARY)
        try:
            fd = os.open(
                temporary,
                os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW,
                PRIVATE_FILE,
            )
            try:
                os.fchmod(fd, PRIVATE_FILE)  # a left-over may have had another mode
                self._write_all(fd, path, 0, data)
                self.sync(fd, path)
            finally:
                os.close(fd)
            temporary.replace(path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise
        self.sync_directory(path.parent)

    def settle(self, path: Path) -> None:
        """What a file says by now is there after a power cut, too: the write of it may have been told to have failed."""
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.sync(fd, path)
        finally:
            os.close(fd)
        self.sync_directory(path.parent)

    def write(self, fd: int, path: Path, at: int, data: bytes) -> int:
        """As much as the disk takes at once. A full one takes a part and says nothing."""
        del path
        return os.pwrite(fd, data, at)

    def sync(self, fd: int, path: Path) -> None:
        """Return when the file's content is really there."""
        del path
        os.fdatasync(fd)

    def sync_directory(self, path: Path) -> None:
        """Return when the names in a directory are really there."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def _append(self, fd: int, path: Path, at: int, data: bytes) -> None:
        try:
            self._write_all(fd, path, at, data)
            self.sync(fd, path)
        except OSError:
            with suppress(OSError):  # if even this fails, the next append cuts it off first
                os.ftruncate(fd, at)
            raise

    def _write_all(self, fd: int, path: Path, at: int, data: bytes) -> None:
        written = 0
        while written < len(data):
            written += self.write(fd, path, at + written, data[written:] if written else data)


def make_private(directory: Path) -> Path:
    """A directory that is its owner's alone, whatever the umask."""
    directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    directory.chmod(PRIVATE_DIRECTORY)
    return directory


def keep_private(home: Path) -> None:
    """For the start of a program: nothing it or its children create is anybody else's to read."""
    os.umask(0o077)
    make_private(home)


_REASONS = {
    errno.ENOSPC: (
        "the disk is full",
        "Free some space on the disk that holds {0}; the bot goes on by itself.",
    ),
    errno.EDQUOT: (
        "the disk quota is used up",
        "Free some space under {0}; the bot goes on by itself.",
    ),
    errno.EFBIG: (
        "the disk is full: no file may grow further",
        "Raise the limit on file sizes (ulimit -f) or free space under {0}; the bot goes on by itself.",
    ),
    errno.EROFS: (
        "the disk is read-only",
        "Mount the disk that holds {0} so that it can be written to.",
    ),
    errno.EIO: ("the disk reports an input/output error", "Check the disk that holds {0}."),
}


def unavailable(error: OSError, path: Path) -> Unavailable:
    """The same error in plain words, with what a person can do about it."""
    where = error.filename or path
    told = error.strerror or str(error)
    other = (told if where == path else f"{told}: {where}", f"{RIGHTS} See: ls -ld {where}")
    reason, remedy = _REASONS.get(error.errno or 0, other)
    return Unavailable(f"{reason}, so nothing can be kept under {path}", remedy.format(path))

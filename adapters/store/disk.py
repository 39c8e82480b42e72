"""Files on disk, private, and whole or not at all; and where the files of sessions lie.

    sessions/<id>.json                  the export, for people and other programs
    sessions/unfinished/<id>.journal    the truth; everything here is read at start
    sessions/finished/<id>.journal      the truth of what is over; read when somebody asks for it

Every file and folder is for its owner alone.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from bot.core.errors import Refused, Unavailable
from bot.os_errors import RIGHTS

# Whoever counts or breaks disks does it here.

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700
TEMPORARY_SUFFIX = ".tmp"
LARGEST_FILE = 512 << 20
"""Bytes. A session of 100,000 messages takes a tenth of it."""


class Disk:
    """Reads, appends to and replaces files. Its errors are OSErrors; after one, the file is as it was."""

    def read(self, path: Path) -> bytes:
        """Of a file, and of none that would fill the memory: whoever starts must not be held up by one of them."""
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        if found.st_size > LARGEST_FILE:
            raise OSError(errno.EFBIG, f"it is larger than {LARGEST_FILE >> 20} MB", str(path))
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
        temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
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


def disk_error(error: OSError, path: Path) -> Unavailable:
    """The same error in plain words, with what a person can do about it."""
    where = error.filename or path
    told = error.strerror or str(error)
    other = (told if where == path else f"{told}: {where}", f"{RIGHTS} See: ls -ld {where}")
    reason, remedy = _REASONS.get(error.errno or 0, other)
    return Unavailable(f"{reason}, so nothing can be kept under {path}", remedy.format(path))


# The files of sessions. A session is moved to `finished` only after its export is written, and
# back before anything else is: so what is not over is always among the unfinished, whatever
# moment the bot was killed at.

JOURNAL = ".journal"
EXPORT = ".json"
LONGEST_NAME = 150


class SessionFolder:
    def __init__(self, home: Path, disk: Disk, now: Callable[[], datetime]) -> None:
        self._disk = disk
        self._now = now
        make_private(home)
        self.exports = make_private(home / "sessions")
        self.unfinished = make_private(self.exports / "unfinished")
        self.finished = make_private(self.exports / "finished")
        self.evidence = make_private(home / "evidence")
        self.index = home / "index.json"

    def journal(self, session_id: str) -> Path:
        """Where its journal is, or would be."""
        name = file_name(session_id) + JOURNAL
        over = self.finished / name
        return over if over.exists() else self.unfinished / name

    def export(self, session_id: str) -> Path:
        return self.exports / (file_name(session_id) + EXPORT)

    def journals(self) -> tuple[set[str], set[str]]:
        """The names of all unfinished, and of all finished."""
        return _names_in(self.unfinished, JOURNAL), _names_in(self.finished, JOURNAL)

    def strangers(self) -> set[str]:
        """Names of exports without a journal: somebody put them there."""
        return _names_in(self.exports, EXPORT).difference(*self.journals())

    def finish(self, journal: Path) -> None:
        """No sync: if the move is lost, the journal is among the unfinished and is moved again."""
        journal.replace(self.finished / journal.name)

    def reopen(self, journal: Path) -> Path:
        """Durable before anything else is written."""
        back = self.unfinished / journal.name
        if journal != back:
            journal.replace(back)
            self._disk.sync_directory(self.unfinished)
            self._disk.sync_directory(self.finished)
        return back

    def put_aside(self, path: Path) -> Path:
        """Keep a broken file under another name; nothing that was put aside before is overwritten."""
        stamp = self._now().strftime("%Y%m%dT%H%M%SZ")
        aside = path.with_name(f"{path.name}.broken-{stamp}")
        number = 1
        while aside.exists():
            number += 1
            aside = path.with_name(f"{path.name}.broken-{stamp}-{number}")
        return path.rename(aside)

    def sweep(self) -> None:
        """Remove what a crash left of writes that were never finished."""
        home = self.index.parent
        for directory in (home, self.exports, self.unfinished, self.finished, self.evidence):
            for name in _names_in(directory, TEMPORARY_SUFFIX):
                (directory / (name + TEMPORARY_SUFFIX)).unlink()


def file_name(session_id: str) -> str:
    """An id as a name of a file, whatever it contains."""
    name = quote(session_id, safe="")
    if len(name) <= LONGEST_NAME and not name.startswith("."):
        return name
    return f"{name.lstrip('.')[:40]}~{sha256(session_id.encode()).hexdigest()[:32]}"


def _names_in(directory: Path, ending: str) -> set[str]:
    """Bare strings: there may be ten thousand of them."""
    with os.scandir(directory) as entries:
        return {entry.name.removesuffix(ending) for entry in entries if entry.name.endswith(ending)}


# One bot per home: whoever holds the lock owns everything under it.


class InstanceLock:
    """Held for as long as the process lives: the kernel lets it go, however the process ends."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._fd: int | None = None

    def acquire(self) -> None:
        """Raises Refused, naming the process that has it; Unavailable where no home can be made."""
        fd = self._opened()
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(fd)
            raise Refused(
                f"another gwt-bot (process {holder}) already uses {self._home}",
                "Stop that one first, or give this one a home of its own with GWT_HOME.",
            ) from error
        # who holds it is a courtesy: on a full disk the lock itself is held all the same
        with suppress(OSError):
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._fd = fd

    def _opened(self) -> int:
        try:
            path = make_private(self._home) / "lock"
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        except OSError as error:
            raise disk_error(error, self._home) from error

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

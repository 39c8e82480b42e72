"""The only way to write, lock and safely read files: atomic, private, and without following links.

It raises OSError, which each adapter translates. Masking is up to the caller.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700
TEMPORARY_SUFFIX = ".tmp"
MAX_FILE_BYTES = 512 << 20
"""Bytes. A session of 100,000 messages takes a tenth of it."""
LOCK_PAUSE = 0.02
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Disk:
    """Reads, appends to and replaces files.

    After an error the file is unchanged. Tests count or fail disk operations by overriding `write`, `sync` and
    `sync_directory`.
    """

    def read(self, path: Path) -> bytes:
        """Return the content of a regular file.

        Its size is limited, so that one huge or special file does not prevent the start.
        """
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        if found.st_size > MAX_FILE_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {MAX_FILE_BYTES >> 20} MB", str(path))
        return path.read_bytes()

    def append(self, path: Path, at: int, data: bytes) -> bool:
        """Write `data` at offset `at`, the end of the valid content. Return False if the file is shorter than that."""
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

    def replace(
        self,
        path: Path,
        data: bytes,
        *,
        mode: int | None = PRIVATE_FILE,
        folder: int | None = None,
        temporary: str = "",
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Replace the file's content atomically.

        `mode`: None uses the umask; `folder`: open folder that contains `path`; `temporary`: name of the new file until
        the rename; `check`: called just before it, may raise to keep the old file.
        """
        beside = path.with_name(temporary or path.name + TEMPORARY_SUFFIX)
        with self._temporary_file(path, beside, data, mode, folder):
            check()
            os.replace(beside, path, src_dir_fd=folder, dst_dir_fd=folder)
        self._sync_names(path, folder)

    def create(self, name: Path, data: bytes, *, mode: int, folder: int, temporary: str) -> bool:
        """Like `replace`, for a new file; return False if the name is taken."""
        beside = name.with_name(temporary)
        try:
            with self._temporary_file(name, beside, data, mode, folder):
                # unlike a rename, a link never replaces what somebody has put there meanwhile
                os.link(beside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            return False
        os.unlink(beside, dir_fd=folder)
        self._sync_names(name, folder)
        return True

    def sync_file(self, path: Path) -> None:
        """Sync an existing file, because an earlier write may have been reported as failed although it took effect."""
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.sync(fd, path)
        finally:
            os.close(fd)
        self.sync_directory(path.parent)

    def write(self, fd: int, path: Path, at: int, data: bytes) -> int:
        """Write as much as the disk accepts at once. A full disk accepts a part without an error."""
        del path
        return os.pwrite(fd, data, at)

    def sync(self, fd: int, path: Path) -> None:
        """Return when the file's content is really on disk."""
        del path
        os.fdatasync(fd) if hasattr(os, "fdatasync") else os.fsync(fd)

    def sync_directory(self, path: Path) -> None:
        """Return when the names in a directory are really on disk."""
        fd = os.open(path, _FOLDER)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def _sync_names(self, path: Path, folder: int | None) -> None:
        if folder is None:
            self.sync_directory(path.parent)
        else:
            self.sync(folder, path)

    @contextmanager
    def _temporary_file(
        self, path: Path, temporary: Path, data: bytes, mode: int | None, folder: int | None
    ) -> Generator[None]:
        """Write `data` to the temporary file `beside`; it is removed if the body of the context fails."""
        fd = _new_file(temporary, 0o666 if mode is None else mode, folder)
        try:
            try:
                if mode is not None:
                    os.fchmod(fd, mode)  # whatever the umask
                self._write_all(fd, path, 0, data)
                self.sync(fd, path)
            finally:
                os.close(fd)
            yield
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise

    def _append(self, fd: int, path: Path, at: int, data: bytes) -> None:
        try:
            self._write_all(fd, path, at, data)
            self.sync(fd, path)
        except OSError:
            with suppress(OSError):  # if even this fails, the next append truncates first
                os.ftruncate(fd, at)
            raise

    def _write_all(self, fd: int, path: Path, at: int, data: bytes) -> None:
        written = 0
        while written < len(data):
            written += self.write(fd, path, at + written, data[written:] if written else data)


class UnsyncedDisk(Disk):
    """For files that can be rebuilt, or are useless, after a power cut.

    They are still complete after a crash of the bot.
    """

    def sync(self, fd: int, path: Path) -> None:
        pass

    def sync_directory(self, path: Path) -> None:
        pass


# Opening files.


def create_file(
    path: Path | str, mode: int = PRIVATE_FILE, *, folder: int | None = None
) -> BinaryIO:
    """Create a file that nobody else can read at any moment. Raises FileExistsError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, mode, dir_fd=folder), "wb")


def open_private(path: Path, flags: int) -> int:
    """Open a private file, creating it if necessary; never through a link."""
    return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE)


@contextmanager
def open_regular_file(
    path: Path | str, flags: int = os.O_RDONLY, *, folder: int | None = None
) -> Generator[int]:
    """Open a regular file. Raises OSError for a link, and for a pipe or device instead of blocking."""
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        yield fd
    finally:
        os.close(fd)


def read_regular_file(path: Path | str, limit: int, *, folder: int | None = None) -> bytes:
    """Return at most `limit` bytes of a regular file. Raises OSError like `open_regular_file`."""
    with open_regular_file(path, folder=folder) as fd, os.fdopen(fd, "rb", closefd=False) as file:
        return file.read(limit)


def append_lines(path: Path, lines: Iterable[str], *, wait: bool = True) -> None:
    """Append the lines, starting a new one after an incomplete line. `wait`: until they would survive a power cut."""
    fd = open_private(path, os.O_WRONLY | os.O_APPEND)
    try:
        rest = "".join(f"\n{line}\n" for line in lines).encode()
        while rest:
            # a nearly full disk accepts a part, visible only in the return value
            rest = rest[os.write(fd, rest) :]
        if wait:
            Disk().sync(fd, path)
    finally:
        os.close(fd)


def try_lock(fd: int) -> bool:
    """Try to take the lock; return whether it is held.

    It is released with its last descriptor, including inherited ones.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def take_lock(path: Path, *, seconds: float) -> int:
    """Return the descriptor of a lock file once its lock is held.

    Raises TimeoutError. The caller closes it; a program that inherits it holds the lock as long as it lives.
    """
    fd = open_private(path, os.O_RDWR)
    try:
        for _ in range(round(seconds / LOCK_PAUSE)):
            if try_lock(fd):
                return fd
            await asyncio.sleep(LOCK_PAUSE)
    except BaseException:
        os.close(fd)
        raise
    os.close(fd)
    raise TimeoutError


def move_aside(path: Path) -> Path:
    """Rename a broken file. Open descriptors stay valid."""
    return path.replace(path.with_suffix(".broken"))


# Folders.


def make_private(directory: Path) -> Path:
    """Create a directory, or make it private whatever the umask."""
    directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    directory.chmod(PRIVATE_DIRECTORY)
    return directory


def set_private_umask(home: Path) -> None:
    """Called at the start of a program: nothing it or its children create is readable by others."""
    os.umask(0o077)
    make_private(home)


def open_folder(name: Path | str, *, within: int | None = None) -> int:
    """Open a folder that is not a link."""
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=within)


@contextmanager
def open_folder_below(
    top: Path,
    parts: Iterable[str],
    *,
    make: int | None = None,
    exact: bool = False,
    follow_top: bool = False,
) -> Generator[int]:
    """Open the folder that `parts` lead to, step by step so that none can be a link.

    `make`: mode of missing folders, which are created; `exact`: regardless of the umask; `follow_top`: `top` itself may
    be a link.
    """
    current = os.open(top, _FOLDER) if follow_top else open_folder(top)
    try:
        for part in parts:
            if make is not None:
                _make_folder(part, current, make, exact=exact)
            below = open_folder(part, within=current)
            os.close(current)
            current = below
        yield current
    finally:
        os.close(current)


def _make_folder(name: str, within: int, mode: int, *, exact: bool) -> None:
    try:
        os.mkdir(name, mode, dir_fd=within)
    except FileExistsError:
        return
    if exact:
        made = open_folder(name, within=within)
        try:
            os.fchmod(made, mode)
        finally:
            os.close(made)


def _new_file(path: Path, mode: int, folder: int | None) -> int:
    # Never an existing file, which may be a link, have another mode, or be open elsewhere.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, mode, dir_fd=folder)
    except FileExistsError:  # left by a crash
        os.unlink(path, dir_fd=folder)
        return os.open(path, flags, mode, dir_fd=folder)

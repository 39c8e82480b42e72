"""The only way to write, lock and safely read files: whole or not at all, private, and through no link.

Errors are OSErrors: each adapter says in its own words what could not be done. Masking is the caller's matter.
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
LARGEST_FILE = 512 << 20
"""Bytes. A session of 100,000 messages takes a tenth of it."""
LOCK_PAUSE = 0.02
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Disk:
    """Reads, appends to and replaces files. After an error, the file is as it was.

    Tests count or fail what a disk does by overriding `write`, `sync` and `sync_directory`.
    """

    def read(self, path: Path) -> bytes:
        """The content of a file that fits into memory: one huge or odd file must not keep the bot from starting."""
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
        """Make `data` the content of the file: after a crash it holds either the old or the new.

        `mode`: None leaves it to the umask. `folder`: the open folder that `path` is a name in. `temporary`: the name
        of the new file until it takes its place. `check`: called just before that; if it raises, the old one stays.
        """
        beside = path.with_name(temporary or path.name + TEMPORARY_SUFFIX)
        with self._beside(path, beside, data, mode, folder):
            check()
            os.replace(beside, path, src_dir_fd=folder, dst_dir_fd=folder)
        self._sync_names(path, folder)

    def create(self, name: Path, data: bytes, *, mode: int, folder: int, temporary: str) -> bool:
        """Like `replace`, for a new file. False: that name is taken."""
        beside = name.with_name(temporary)
        try:
            with self._beside(name, beside, data, mode, folder):
                # unlike a rename, a link never takes the place of what somebody has put there meanwhile
                os.link(beside, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            return False
        os.unlink(beside, dir_fd=folder)
        self._sync_names(name, folder)
        return True

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
        os.fdatasync(fd) if hasattr(os, "fdatasync") else os.fsync(fd)

    def sync_directory(self, path: Path) -> None:
        """Return when the names in a directory are really there."""
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
    def _beside(
        self, path: Path, beside: Path, data: bytes, mode: int | None, folder: int | None
    ) -> Generator[None]:
        """`data` is in the file `beside`, on disk; that file is removed if it could not be put in place."""
        fd = _new_file(beside, 0o666 if mode is None else mode, folder)
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
                os.unlink(beside, dir_fd=folder)
            raise

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


class UnsyncedDisk(Disk):
    """For files that are made again, or of no use, after a power cut. They are whole after a crash of the bot all the same."""

    def sync(self, fd: int, path: Path) -> None:
        pass

    def sync_directory(self, path: Path) -> None:
        pass


# Opening files.


def create_file(
    path: Path | str, mode: int = PRIVATE_FILE, *, folder: int | None = None
) -> BinaryIO:
    """A new file that nobody else can read, not even for a moment. Raises FileExistsError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, mode, dir_fd=folder), "wb")


def open_private(path: Path, flags: int) -> int:
    """The descriptor of a file for the owner only, which is made where it is missing; never through a link."""
    return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE)


@contextmanager
def plain_file(
    path: Path | str, flags: int = os.O_RDONLY, *, folder: int | None = None
) -> Generator[int]:
    """The descriptor of a file that is there. Raises OSError for a link, and for a pipe or device instead of waiting."""
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        yield fd
    finally:
        os.close(fd)


def read_plain(path: Path | str, limit: int, *, folder: int | None = None) -> bytes:
    """At most `limit` bytes of a plain file. Raises OSError as `plain_file` does."""
    with plain_file(path, folder=folder) as fd, os.fdopen(fd, "rb", closefd=False) as file:
        return file.read(limit)


def append_lines(path: Path, lines: Iterable[str], *, wait: bool = True) -> None:
    """Each a line of its own, also behind one that was torn. `wait`: until they would be there after a power cut."""
    fd = open_private(path, os.O_WRONLY | os.O_APPEND)
    try:
        rest = "".join(f"\n{line}\n" for line in lines).encode()
        while rest:
            # a disk that is nearly full takes a part, and says so by the number only
            rest = rest[os.write(fd, rest) :]
        if wait:
            Disk().sync(fd, path)
    finally:
        os.close(fd)


def try_lock(fd: int) -> bool:
    """Whether the lock is held now. It is released with the last descriptor, also those that programs inherited."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def take_lock(path: Path, *, seconds: float) -> int:
    """The descriptor of a lock file once its lock is held; whoever has it closes it. Raises TimeoutError.

    A program that inherits it holds the lock as long as it lives.
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


def put_aside(path: Path) -> Path:
    """Keep a broken file under another name. Whoever has it open still has."""
    return path.replace(path.with_suffix(".broken"))


# Folders.


def make_private(directory: Path) -> Path:
    """A directory that is its owner's alone, whatever the umask."""
    directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    directory.chmod(PRIVATE_DIRECTORY)
    return directory


def keep_private(home: Path) -> None:
    """For the start of a program: nothing it or its children create is anybody else's to read."""
    os.umask(0o077)
    make_private(home)


def open_folder(name: Path | str, *, within: int | None = None) -> int:
    """The descriptor of a folder that is no link."""
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=within)


@contextmanager
def folder_below(
    top: Path,
    parts: Iterable[str],
    *,
    make: int | None = None,
    exact: bool = False,
    follow_top: bool = False,
) -> Generator[int]:
    """The descriptor of the folder `parts` lead to, opened step by step so that none can be a link.

    `make`: the mode of folders that are missing; `exact`: whatever the umask. `follow_top`: `top` itself may be a link.
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
    """Never one that is there: it may be a link, have another mode, or be open elsewhere."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, mode, dir_fd=folder)
    except FileExistsError:  # left over from a crash
        os.unlink(path, dir_fd=folder)
        return os.open(path, flags, mode, dir_fd=folder)

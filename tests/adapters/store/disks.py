"""Disks that count, and disks that fail."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit

from adapters.files import Disk


class CountingDisk(Disk):
    """Counts what is done to journals."""

    def __init__(self) -> None:
        self.syncs = 0
        self.directory_syncs = 0
        self.written = 0
        self.read_files: list[Path] = []

    def read(self, path: Path) -> bytes:
        self.read_files.append(path)
        return super().read(path)

    def write(self, fd: int, path: Path, at: int, data: bytes) -> int:
        self.written += len(data) if path.suffix == ".journal" else 0
        return super().write(fd, path, at, data)

    def sync(self, fd: int, path: Path) -> None:
        self.syncs += path.suffix == ".journal"
        super().sync(fd, path)

    def sync_directory(self, path: Path) -> None:
        self.directory_syncs += path.name in ("unfinished", "finished")
        super().sync_directory(path)


class HastyDisk(Disk):
    """Never waits: for building large homes quickly."""

    def sync(self, fd: int, path: Path) -> None:
        pass

    def sync_directory(self, path: Path) -> None:
        pass


class FailingDisk(Disk):
    """Its n-th write or sync of a journal fails, after half of the bytes; later ones too, until it is mended."""

    def __init__(self, code: int, after: int) -> None:
        self._code = code
        self._left = after
        self.mended = False

    def write(self, fd: int, path: Path, at: int, data: bytes) -> int:
        if self._fails(path):
            os.pwrite(fd, data[: len(data) // 2], at)
            raise OSError(self._code, os.strerror(self._code))
        return super().write(fd, path, at, data)

    def sync(self, fd: int, path: Path) -> None:
        if self._fails(path):
            raise OSError(self._code, os.strerror(self._code))
        super().sync(fd, path)

    def sync_directory(self, path: Path) -> None:
        if self._fails(path / "any.journal"):
            raise OSError(self._code, os.strerror(self._code))
        super().sync_directory(path)

    def _fails(self, path: Path) -> bool:
        if self.mended or path.suffix != ".journal":
            return False
        self._left -= 1
        return self._left < 0


class SluggishDisk(Disk):
    """Takes a few bytes at a time."""

    def write(self, fd: int, path: Path, at: int, data: bytes) -> int:
        return super().write(fd, path, at, data[:7])


@contextmanager
def files_no_larger_than(size: int) -> Generator[None]:
    """A disk that is really full, as far as one file can tell: first a short write, then EFBIG."""
    soft, hard = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, (soft, hard))


FULL = errno.ENOSPC
BROKEN = errno.EIO

"""One bot per home: whoever holds the lock owns everything under it."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from adapters.store.disk import PRIVATE_FILE, make_private, unavailable
from bot.errors import Refused


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
            raise unavailable(error, self._home) from error

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

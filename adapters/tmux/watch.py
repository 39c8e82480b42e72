"""Wake-ups when something happens to a run: its process ends, or a file appears in its folder; otherwise at intervals.

A wake-up carries no information; the receiver checks the state. So a missed one only costs time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

if sys.platform == "linux":
    from asyncinotify import Inotify, Mask

SWEEP_SECONDS = 60.0
POLL_SECONDS = 1.0


class Wake:
    """Waits for the next wake-up, at most `period` seconds."""

    def __init__(self, period: float) -> None:
        self.event = asyncio.Event()
        self.period = period

    async def wait(self) -> bool:
        """Return True if something happened, False if only the time has passed."""
        try:
            async with asyncio.timeout(self.period):
                await self.event.wait()
        except TimeoutError:
            return False
        self.event.clear()
        return True


class Watch:
    """Wake-ups for all runs: from the kernel if possible, otherwise every `poll` seconds."""

    def __init__(
        self,
        *,
        kernel: bool = sys.platform == "linux",
        sweep: float = SWEEP_SECONDS,
        poll: float = POLL_SECONDS,
    ) -> None:
        self._kernel = _Kernel() if kernel else None
        self._wakes: set[Wake] = set()
        self._poll = poll
        self.sweep = sweep

    @contextmanager
    def watch_run(self, folder: Path, pid: int) -> Generator[Wake]:
        """Wake-ups about one run. Check the state once after entering, because earlier events are not reported."""
        wake = Wake(self.sweep)
        with ExitStack() as stack:
            try:
                if self._kernel is None:
                    wake.period = self._poll
                else:
                    stack.enter_context(self._kernel.folder(folder, wake.event))
                    stack.enter_context(self._kernel.process(pid, wake.event))
            except OSError:
                wake.period = self._poll  # no descriptors or watches left: polling still works
            self._wakes.add(wake)
            stack.callback(self._wakes.discard, wake)
            yield wake

    def wake_all(self) -> None:
        for wake in self._wakes:
            wake.event.set()

    def close(self) -> None:
        if self._kernel is not None:
            self._kernel.close()


if sys.platform == "linux":
    _SEEN = Mask.MOVED_TO | Mask.CLOSE_WRITE | Mask.MODIFY | Mask.DELETE_SELF

    class _Kernel:
        """One inotify instance for all folders (a user may have 128), one pidfd for each process."""

        def __init__(self) -> None:
            self._inotify: Inotify | None = None
            self._folders: dict[Path, set[asyncio.Event]] = {}

        @contextmanager
        def folder(self, path: Path, event: asyncio.Event) -> Generator[None]:
            inotify = self._inotify or self._open()
            if path not in self._folders:
                watch = inotify.add_watch(path, _SEEN)
                self._folders[path] = set()
            else:
                watch = next((watch for watch in inotify.watches if watch.path == path), None)
            if watch is None:
                # somebody has removed the folder while others waited for its events
                raise FileNotFoundError(path)
            self._folders[path].add(event)
            try:
                yield
            finally:
                self._folders[path].discard(event)
                if not self._folders[path]:
                    del self._folders[path]
                    with contextlib.suppress(
                        OSError, ValueError
                    ):  # the folder, or the whole inotify instance, is gone
                        inotify.rm_watch(watch)

        @contextmanager
        def process(self, pid: int, event: asyncio.Event) -> Generator[None]:
            if pid <= 0:
                yield
                return
            try:
                descriptor = os.pidfd_open(pid)
            except ProcessLookupError:
                event.set()
                yield
                return
            loop = asyncio.get_running_loop()

            def ended() -> None:
                loop.remove_reader(descriptor)  # it stays readable and would be reported for ever
                event.set()

            loop.add_reader(descriptor, ended)
            try:
                yield
            finally:
                loop.remove_reader(descriptor)
                os.close(descriptor)

        def close(self) -> None:
            if self._inotify is not None:
                asyncio.get_running_loop().remove_reader(self._inotify.fd)
                self._inotify.close()
                self._inotify = None

        def _open(self) -> Inotify:
            inotify = Inotify(sync_timeout=0)
            asyncio.get_running_loop().add_reader(inotify.fd, self._heard, inotify)
            self._inotify = inotify
            return inotify

        def _heard(self, inotify: Inotify) -> None:
            while (news := inotify.sync_get()) is not None:
                if Mask.Q_OVERFLOW in news.mask:
                    self._wake(
                        *self._folders
                    )  # the queue has overflowed: events of any folder may be lost
                elif news.watch:
                    self._wake(news.watch.path)

        def _wake(self, *folders: Path) -> None:
            for folder in folders:
                for event in self._folders.get(folder, ()):
                    event.set()

else:

    class _Kernel:
        """Elsewhere there is nothing of the kind in the standard library."""

        def folder(self, path: Path, event: asyncio.Event) -> AbstractContextManager[None]:
            raise OSError(f"{path} cannot be watched here")

        def process(self, pid: int, event: asyncio.Event) -> AbstractContextManager[None]:
            raise OSError(f"{pid} cannot be watched here")

        def close(self) -> None:
            return

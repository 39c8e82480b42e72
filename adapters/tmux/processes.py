"""The processes of a run: knowing them, ending every one of them, and waking up when one ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import psutil

# Processes are collected before any signal: a child that has left its group and its parent is
# known by the run's name in its environment, and a process that ends takes the trace to its
# children with it.

RUN_VARIABLE = "GWT_RUN"
SPOOL_VARIABLE = "GWT_SPOOL"
"""Both together name a run: another bot on the machine may have one of the same name."""
GUARD = "bwrap"
"""Ends all that is inside it at once when it ends itself, without a chance for them. It ends when they have."""
LOOK_EVERY = 0.02
AFTER_KILL = 2.0


class KnownProcess:
    """A process as it was when it was first looked at: its pid alone is used again."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._process = psutil.Process(pid) if pid > 0 else None
        except psutil.Error:
            self._process = None

    @property
    def began(self) -> float:
        """When it started; 0 if it was gone."""
        try:
            return self._process.create_time() if self._process else 0.0
        except psutil.Error:
            return 0.0

    @property
    def alive(self) -> bool:
        """One that only waits to be reaped is not."""
        if self._process is None:
            return False
        try:
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    @property
    def guards(self) -> bool:
        """Is it the wall of a sandbox?"""
        try:
            return self._process is not None and self._process.name() == GUARD
        except psutil.Error:
            return False

    def carries(self, marks: Mapping[str, str]) -> bool:
        """Does its environment hold them all? What is not ours to read is not ours."""
        try:
            environment = self._process.environ() if self._process else {}
        except (psutil.Error, OSError):
            return False
        return all(environment.get(key) == value for key, value in marks.items())

    def descendants(self) -> set[int]:
        try:
            found = self._process.children(recursive=True) if self._process else []
        except psutil.Error:
            return set()
        return {process.pid for process in found}

    def signal(self, number: signal.Signals) -> None:
        """Gone already, or not ours to signal: whoever lives on is seen afterwards."""
        if self._process is not None:
            with contextlib.suppress(psutil.Error):
                self._process.send_signal(number)


async def until_gone(processes: Iterable[KnownProcess], seconds: float) -> None:
    """Wait until none of them is alive, at most so long."""
    waiting = [process for process in processes if process.alive]
    for _ in range(int(seconds / LOOK_EVERY)):
        waiting = [process for process in waiting if process.alive]
        if not waiting:
            return
        await asyncio.sleep(LOOK_EVERY)


def run_marks(spool: Path) -> dict[str, str]:
    """What every process of a run has in its environment."""
    return {RUN_VARIABLE: spool.name, SPOOL_VARIABLE: str(spool)}


async def end_processes(spool: Path, root: int, grace: float) -> tuple[int, ...]:
    """End everything that belongs to the run: SIGTERM, SIGKILL after `grace` seconds. The pids that live on."""
    known = await asyncio.to_thread(_collect_processes, run_marks(spool), root)
    for process in known:
        if process.guards:
            continue
        process.signal(signal.SIGTERM)
        process.signal(signal.SIGCONT)  # a stopped one hears SIGTERM only when it goes on
    await until_gone(known, grace)
    for _ in range(3):  # what was started meanwhile may itself start more
        known += await asyncio.to_thread(_collect_processes, run_marks(spool), root)
        alive = [process for process in known if process.alive]
        if not alive:
            return ()
        for process in alive:
            process.signal(signal.SIGKILL)
        await until_gone(alive, AFTER_KILL)
    return tuple(sorted({process.pid for process in known if process.alive}))


def _collect_processes(run: Mapping[str, str], root: int) -> list[KnownProcess]:
    """The pane's process with all its descendants, and everything that carries the run's name with all of its own."""
    everybody = (KnownProcess(pid) for pid in psutil.pids())
    roots = [process for process in everybody if process.pid == root or process.carries(run)]
    pids = {process.pid for process in roots}.union(*(process.descendants() for process in roots))
    return [KnownProcess(pid) for pid in pids if pid != os.getpid()]


# Waking up when something happens to a run: its process ends, or a file appears in its folder;
# otherwise now and then.
#
# A wake-up says nothing; who is woken looks for himself. So a missed one costs time, never the
# truth.

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
        """True: something happened. False: only time has passed."""
        try:
            async with asyncio.timeout(self.period):
                await self.event.wait()
        except TimeoutError:
            return False
        self.event.clear()
        return True


class Watch:
    """Wake-ups for all runs: by the kernel where it can, else by looking every `poll` seconds."""

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
    def on(self, folder: Path, pid: int) -> Generator[Wake]:
        """Wake-ups about one run. Look once after entering: what happened before is not told."""
        wake = Wake(self.sweep)
        with ExitStack() as stack:
            try:
                if self._kernel is None:
                    wake.period = self._poll
                else:
                    stack.enter_context(self._kernel.folder(folder, wake.event))
                    stack.enter_context(self._kernel.process(pid, wake.event))
            except OSError:
                wake.period = (
                    self._poll
                )  # no more descriptors or watches to be had: looking still works
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
                # somebody has removed the folder while others waited for its news
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
                    ):  # the folder, or all watching, is gone
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
                loop.remove_reader(descriptor)  # it stays readable, and would be told for ever
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
                    self._wake(*self._folders)  # nobody knows whose news was lost
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

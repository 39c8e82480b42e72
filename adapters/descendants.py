"""Knows processes by more than their number, finds all that came of a program, and ends every one of them.

Processes are collected before any signal: a child that has left its group and its parent is known by a mark in its
environment, and a process that ends takes the trace to its children with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterable, Mapping

import psutil

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


def descendants_of(pid: int) -> list[KnownProcess]:
    return [KnownProcess(one) for one in KnownProcess(pid).descendants()]


async def end_marked(marks: Mapping[str, str], root: int = 0, *, grace: float) -> tuple[int, ...]:
    """End `root` with its session and descendants, and all that carry the marks with theirs: SIGTERM, SIGKILL after
    `grace` seconds. The pids that live on."""
    known = await asyncio.to_thread(_collect, marks, root)
    for process in known:
        if process.guards:
            continue
        process.signal(signal.SIGTERM)
        process.signal(signal.SIGCONT)  # a stopped one hears SIGTERM only when it goes on
    await until_gone(known, grace)
    for _ in range(3):  # what was started meanwhile may itself start more
        known += await asyncio.to_thread(_collect, marks, root)
        alive = [process for process in known if process.alive]
        if not alive:
            return ()
        for process in alive:
            process.signal(signal.SIGKILL)
        await until_gone(alive, AFTER_KILL)
    return tuple(sorted({process.pid for process in known if process.alive}))


def _collect(marks: Mapping[str, str], root: int) -> list[KnownProcess]:
    found = [one for one in map(KnownProcess, psutil.pids()) if _belongs(one, marks, root)]
    pids = {one.pid for one in found}.union(*(one.descendants() for one in found))
    return [KnownProcess(pid) for pid in pids if pid != os.getpid()]


def _belongs(process: KnownProcess, marks: Mapping[str, str], root: int) -> bool:
    if process.pid == root:
        return True
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if root and os.getsid(process.pid) == root:
            return True
    return process.carries(marks)

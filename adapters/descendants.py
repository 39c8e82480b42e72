"""Identifies processes by more than their pid, finds all descendants of a program, and ends them.

Processes are collected before any signal: a child that has left its group and parent is recognised by a mark in its
environment, and once a process has ended its children can no longer be found.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterable, Mapping

import psutil

SANDBOX_PROGRAM = "bwrap"
"""The sandbox program.

When it ends it kills everything inside at once; it ends by itself when the processes inside have ended.
"""
POLL_SECONDS = 0.02
AFTER_KILL_SECONDS = 2.0


class KnownProcess:
    """A process identified by pid and start time, because pids are reused."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._process = psutil.Process(pid) if pid > 0 else None
        except psutil.Error:
            self._process = None

    @property
    def started_at(self) -> float:
        """Start time; 0 if the process was gone."""
        try:
            return self._process.create_time() if self._process else 0.0
        except psutil.Error:
            return 0.0

    @property
    def is_alive(self) -> bool:
        """Whether it runs; a zombie does not count."""
        if self._process is None:
            return False
        try:
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    @property
    def is_sandbox(self) -> bool:
        """Whether it is the sandbox program."""
        try:
            return self._process is not None and self._process.name() == SANDBOX_PROGRAM
        except psutil.Error:
            return False

    def has_marks(self, marks: Mapping[str, str]) -> bool:
        """Whether its environment contains all marks. A process whose environment cannot be read is not ours."""
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
        # A process that is gone, or may not be signalled, is ignored: survivors are found afterwards.
        if self._process is not None:
            with contextlib.suppress(psutil.Error):
                self._process.send_signal(number)


async def wait_until_gone(processes: Iterable[KnownProcess], seconds: float) -> None:
    """Wait until none of them is alive, for at most `seconds`."""
    waiting = [process for process in processes if process.is_alive]
    for _ in range(int(seconds / POLL_SECONDS)):
        waiting = [process for process in waiting if process.is_alive]
        if not waiting:
            return
        await asyncio.sleep(POLL_SECONDS)


def descendants_of(pid: int) -> list[KnownProcess]:
    return [KnownProcess(one) for one in KnownProcess(pid).descendants()]


async def end_marked(marks: Mapping[str, str], root: int = 0, *, grace: float) -> tuple[int, ...]:
    """End `root` with its session and descendants, and all processes with the marks with theirs:

    SIGTERM, then SIGKILL after `grace` seconds. Return the pids that are still alive.
    """
    known = await asyncio.to_thread(_collect, marks, root)
    for process in known:
        if process.is_sandbox:
            continue
        process.signal(signal.SIGTERM)
        process.signal(signal.SIGCONT)  # a stopped process receives SIGTERM only when it continues
    await wait_until_gone(known, grace)
    for _ in range(3):  # processes started meanwhile may themselves start more
        known += await asyncio.to_thread(_collect, marks, root)
        alive = [process for process in known if process.is_alive]
        if not alive:
            return ()
        for process in alive:
            process.signal(signal.SIGKILL)
        await wait_until_gone(alive, AFTER_KILL_SECONDS)
    return tuple(sorted({process.pid for process in known if process.is_alive}))


def _collect(marks: Mapping[str, str], root: int) -> list[KnownProcess]:
    found = [one for one in map(KnownProcess, psutil.pids()) if _is_part_of(one, marks, root)]
    pids = {one.pid for one in found}.union(*(one.descendants() for one in found))
    return [KnownProcess(pid) for pid in pids if pid != os.getpid()]


def _is_part_of(process: KnownProcess, marks: Mapping[str, str], root: int) -> bool:
    if process.pid == root:
        return True
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if root and os.getsid(process.pid) == root:
            return True
    return process.has_marks(marks)

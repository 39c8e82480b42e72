"""Processes of a run: who they are, and ending every one of them.

They are collected before any signal: a child that has left its group and its parent is known by the run's name in its
environment, and a process that ends takes the trace to its children with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil

RUN_VARIABLE = "GWT_RUN"
SPOOL_VARIABLE = "GWT_SPOOL"
"""Both together name a run: another bot on the machine may have one of the same name."""
GUARD = "bwrap"
"""Ends all that is inside it at once when it ends itself, without a chance for them. It ends when they have."""
LOOK_EVERY = 0.02
AFTER_KILL = 2.0


class Known:
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


async def until_gone(processes: Iterable[Known], seconds: float) -> None:
    """Wait until none of them is alive, at most so long."""
    waiting = [process for process in processes if process.alive]
    for _ in range(int(seconds / LOOK_EVERY)):
        waiting = [process for process in waiting if process.alive]
        if not waiting:
            return
        await asyncio.sleep(LOOK_EVERY)


def marks(spool: Path) -> dict[str, str]:
    """What every process of a run has in its environment."""
    return {RUN_VARIABLE: spool.name, SPOOL_VARIABLE: str(spool)}


async def end_processes(spool: Path, root: int, grace: float) -> tuple[int, ...]:
    """End everything that belongs to the run: SIGTERM, SIGKILL after `grace` seconds. The pids that live on."""
    known = await asyncio.to_thread(_collect, marks(spool), root)
    for process in known:
        if process.guards:
            continue
        process.signal(signal.SIGTERM)
        process.signal(signal.SIGCONT)  # a stopped one hears SIGTERM only when it goes on
    await until_gone(known, grace)
    for _ in range(3):  # what was started meanwhile may itself start more
        known += await asyncio.to_thread(_collect, marks(spool), root)
        alive = [process for process in known if process.alive]
        if not alive:
            return ()
        for process in alive:
            process.signal(signal.SIGKILL)
        await until_gone(alive, AFTER_KILL)
    return tuple(sorted({process.pid for process in known if process.alive}))


def _collect(run: Mapping[str, str], root: int) -> list[Known]:
    """The pane's process with all its descendants, and everything that carries the run's name with all of its own."""
    everybody = (Known(pid) for pid in psutil.pids())
    roots = [process for process in everybody if process.pid == root or process.carries(run)]
    pids = {process.pid for process in roots}.union(*(process.descendants() for process in roots))
    return [Known(pid) for pid in pids if pid != os.getpid()]

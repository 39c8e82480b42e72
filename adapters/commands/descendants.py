"""Ends a command with all that came of it. Its rule: collected first, asked to end, then killed; nothing is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time

import psutil

MARKER = "GWT_COMMAND"
"""Every descendant inherits it, also one that has left the process group."""
GUARD = "bwrap"
"""Ends all that is inside it at once when it ends itself, without a chance for them. It ends when they have."""
GRACE_SECONDS = 2.0


async def all_ended(process: asyncio.subprocess.Process | None, marker: str) -> None:
    await asyncio.to_thread(_end, process.pid if process else None, marker)
    if process is not None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await process.wait()


def _end(leader: int | None, marker: str) -> None:
    """All descendants are collected first, then SIGTERM, then SIGKILL until nothing is left (they may fork meanwhile)."""
    left = _descendants(leader, marker)
    _signal([process for process in left if not _guards(process)], signal.SIGTERM)
    _wait(left, GRACE_SECONDS)
    deadline = time.monotonic() + GRACE_SECONDS
    while (left := _descendants(leader, marker)) and time.monotonic() < deadline:
        _signal(left, signal.SIGKILL)
        _wait(left, 0.2)


def _wait(processes: list[psutil.Process], seconds: float) -> None:
    """By looking, not by waitpid: the exit code belongs to asyncio."""
    deadline = time.monotonic() + seconds
    while any(_lives(process) for process in processes) and time.monotonic() < deadline:
        time.sleep(0.01)


def _descendants(leader: int | None, marker: str) -> list[psutil.Process]:
    found: dict[int, psutil.Process] = {}
    if leader is not None:
        found = {process.pid: process for process in _family(leader)}
    for process in psutil.process_iter():
        if process.pid not in found and _is_ours(process.pid, process, leader, marker):
            found[process.pid] = process
    return [process for process in found.values() if _lives(process)]


def _family(leader: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(leader)
        return [root, *root.children(recursive=True)]
    return []


def _is_ours(pid: int, process: psutil.Process, leader: int | None, marker: str) -> bool:
    """Of its session, or with the marker in its environment."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getsid(pid) == leader:
            return True
    with contextlib.suppress(psutil.Error, OSError):
        return process.environ().get(MARKER) == marker
    return False


def _guards(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.name() == GUARD
    return False


def _lives(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


def _signal(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        # gone meanwhile, or (a set-uid program) no longer ours to end
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.send_signal(number)

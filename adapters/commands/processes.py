"""The output of a command, read to a bound, and the end of all processes that came of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections import deque
from collections.abc import Callable
from typing import Self

import psutil

# The output: bounded, however much it is, and nobody who keeps the pipe open keeps us waiting.

HEAD_BYTES, TAIL_BYTES = 256 * 1024, 512 * 1024
LOG_LIMIT = 1024 * 1024
LAST_WORDS_SECONDS = 1.0
OMITTED = "\n[… {} bytes left out …]\n"


class CommandOutput:
    """The beginning and the end of what a command says. What is between is counted only, and told to `listen`."""

    def __init__(self, listen: Callable[[bytes], None] | None = None) -> None:
        self._listen = listen
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._kept = 0
        self._omitted = 0

    def add(self, chunk: bytes) -> None:
        if self._listen:
            self._listen(chunk)
        room = HEAD_BYTES - len(self._head)
        self._head += chunk[:room]
        if rest := chunk[room:]:
            self._tail.append(rest)
            self._kept += len(rest)
        while self._kept > TAIL_BYTES:
            dropped = len(self._tail.popleft())
            self._kept -= dropped
            self._omitted += dropped

    def text(self) -> str:
        head, tail = bytes(self._head), b"".join(self._tail)
        if not self._omitted:
            return (head + tail).decode("utf-8", "replace")
        # a secret that was cut through is no longer recognised: the cut lines go as a whole
        head, _, lost = head.rpartition(b"\n")
        first, _, tail = tail.partition(b"\n")
        gap = OMITTED.format(self._omitted + len(lost) + len(first))
        return head.decode("utf-8", "replace") + gap + tail.decode("utf-8", "replace")


class OutputPipe:
    """A pipe of our own: that it is still open somewhere must not keep us waiting for the command's end."""

    def __init__(self, output: CommandOutput) -> None:
        self._output = output
        self._outlet, self.inlet = os.pipe()
        self._closed = asyncio.Event()

    def __enter__(self) -> Self:
        return self

    def begin(self) -> None:
        os.close(self.inlet)
        self.inlet = -1
        os.set_blocking(self._outlet, False)
        asyncio.get_running_loop().add_reader(self._outlet, self._read)

    def _read(self) -> None:
        try:
            chunk = os.read(self._outlet, 65536)
        except BlockingIOError:
            return
        if chunk:
            self._output.add(chunk)
        else:
            self._stop()

    def _stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._outlet)
        self._closed.set()

    async def last_words(self) -> None:
        """What is still in the pipe. Everybody who could write is gone, so its end comes at once."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_SECONDS):
                await self._closed.wait()

    def __exit__(self, *_: object) -> None:
        if self.inlet >= 0:
            os.close(self.inlet)
        elif not self._closed.is_set():
            self._stop()
        os.close(self._outlet)


def bounded(content: bytes, limit: int) -> bytes:
    if len(content) <= limit:
        return content
    half = limit // 2 - len(OMITTED) - 20
    gap = OMITTED.format(len(content) - 2 * half).encode()
    return content[:half] + gap + content[-half:]


# The end: all processes are collected first, asked to end, then killed; nothing is left.

MARKER = "GWT_COMMAND"
"""Every descendant inherits it, also one that has left the process group."""
GUARD = "bwrap"
"""Ends all that is inside it at once when it ends itself, without a chance for them. It ends when they have."""
GRACE_SECONDS = 2.0


async def end_all(process: asyncio.subprocess.Process | None, marker: str) -> None:
    await asyncio.to_thread(_end_descendants, process.pid if process else None, marker)
    if process is not None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await process.wait()


def _end_descendants(leader: int | None, marker: str) -> None:
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

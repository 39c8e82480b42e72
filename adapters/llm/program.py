"""Runs a program on one text. Its rule: what it says is bounded, and nothing of it lives on, however it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil

_LIMIT = 16 * 1024 * 1024
"""Bytes a program may say before it is taken for one that never ends."""
_LAST_WORDS_SECONDS = 1.0
_BURIAL_SECONDS = 5.0


class TooMuchSaidError(Exception):
    """It said more than any answer can be."""


@dataclass(frozen=True)
class Ended:
    """What a program has left behind."""

    code: int
    said: str
    complained: str


async def run_on(
    text: str, argv: Sequence[str], *, cwd: str, environment: Mapping[str, str]
) -> Ended:
    """Run it in a session of its own with `text` on its standard input. Raises OSError where it cannot be started."""
    transport, talk = await asyncio.get_running_loop().subprocess_exec(
        _Talk, *argv, cwd=cwd, env=dict(environment), start_new_session=True
    )
    try:
        talk.say(transport, text.encode("utf-8", "replace"))
        await talk.over.wait()
        if talk.too_much:
            raise TooMuchSaidError
        # What it left running would keep its output open, and is of no use to anybody.
        _kill_group(transport.get_pid())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                await talk.silent.wait()
    finally:
        await _end(transport, talk)
    return Ended(transport.get_returncode() or 0, talk.text(1), talk.text(2))


class _Talk(asyncio.SubprocessProtocol):
    """Listens to the program. A pipe that stays open somewhere must not keep us waiting for its end."""

    def __init__(self) -> None:
        self._kept = {1: bytearray(), 2: bytearray()}
        self._open = {1, 2}
        self.too_much = False
        self.over = asyncio.Event()
        """Set once there is no sense in waiting any longer."""
        self.gone = asyncio.Event()
        self.silent = asyncio.Event()
        """Set once nobody can say anything any more."""

    def say(self, transport: asyncio.SubprocessTransport, text: bytes) -> None:
        """All there is, and then the end: a program that asks something finds nobody."""
        inlet = transport.get_pipe_transport(0)
        if isinstance(inlet, asyncio.WriteTransport):
            inlet.write(text)
            inlet.write_eof()

    def text(self, stream: int) -> str:
        return self._kept[stream].decode("utf-8", "replace")

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._kept[fd] += data
        if len(self._kept[fd]) > _LIMIT:
            self.too_much = True
            self.over.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            self.silent.set()

    def process_exited(self) -> None:
        self.gone.set()
        self.over.set()


async def _end(transport: asyncio.SubprocessTransport, talk: _Talk) -> None:
    """Kill it and all that came of it. It has nothing to put away: it was only asked a question."""
    pid = transport.get_pid()
    if transport.get_returncode() is None:
        # Collected first: a process that ends takes the trace to its children with it.
        family = _family(pid)
        _kill_group(pid)
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.kill()
    transport.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_BURIAL_SECONDS):
            await talk.gone.wait()


def _family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)

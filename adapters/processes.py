"""The only way to start a program: with an argument list, a given environment, a session of its own, and limits of time
and output.

No process of it survives the call. If it cannot be started an OSError is raised, which each adapter translates.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.core.errors import Unavailable

READ_REST_SECONDS = 1.0
"""Seconds to wait for output left in the pipes of a program that has ended."""
KILL_SECONDS = 5.0
DEFAULT_OUTPUT_BYTES = 1 << 20
OMITTED = "\n[… {} bytes left out …]\n"
INHERITED_UMASK = -1
"""Keep the umask of the bot's process. Files in people's repositories follow their umask, not the bot's."""


class ProgramTimeout(Unavailable):
    """The program exceeded its time limit and was ended."""


class ProgramOutput:
    """The output of a program: its first `head` and last `tail` bytes.

    What is between them is counted, and passed to `listen`. `stop`: end a program whose output exceeds `head`.
    """

    def __init__(
        self,
        head: int = DEFAULT_OUTPUT_BYTES,
        tail: int = 0,
        *,
        stop: bool = False,
        listen: Callable[[bytes], None] | None = None,
    ) -> None:
        self._most_head, self._most_tail = head, tail
        self._head, self._tail = bytearray(), bytearray()
        self._length = 0
        self._stop = stop
        self._listen = listen

    def add(self, chunk: bytes) -> None:
        if self._listen:
            self._listen(chunk)
        self._length += len(chunk)
        room = self._most_head - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._most_tail:  # not for each chunk, because it copies the rest
            self._cut_tail()

    @property
    def omitted(self) -> int:
        """Return the number of bytes not kept."""
        return self._length - len(self._head) - min(len(self._tail), self._most_tail)

    @property
    def exceeds_limit(self) -> bool:
        return self._stop and self.omitted > 0

    def content(self) -> bytes:
        """Return what was kept, without a mark for what was not."""
        self._cut_tail()
        return bytes(self._head) + bytes(self._tail)

    def text(self) -> str:
        """Return what was kept, with a line in place of what was not."""
        self._cut_tail()
        if not self.omitted:
            return self.content().decode("utf-8", "replace")
        # half a secret would not be recognised, so cut lines are dropped completely
        head, _, lost = self._head.rpartition(b"\n")
        first, _, tail = self._tail.partition(b"\n")
        gap = OMITTED.format(self.omitted + len(lost) + len(first))
        return head.decode("utf-8", "replace") + gap + tail.decode("utf-8", "replace")

    def _cut_tail(self) -> None:
        del self._tail[: max(0, len(self._tail) - self._most_tail)]


@dataclass(frozen=True)
class ProgramResult:
    """The result of a program. A signal that ended it is a negative code."""

    code: int
    out: ProgramOutput
    err: ProgramOutput


async def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    seconds: float,
    cwd: Path | str | None = None,
    stdin: bytes = b"",
    out: ProgramOutput | None = None,
    err: ProgramOutput | None = None,
    merge: bool = False,
    umask: int = INHERITED_UMASK,
    pass_fds: Sequence[int] = (),
    grace: float = 0.0,
    name: str = "",
    timeout_remedy: str = "",
) -> ProgramResult:
    """Run a program to its end. Raises ProgramTimeout with `name` and `timeout_remedy`, or OSError if it cannot start.

    `merge`: standard error counts as output; `grace`: seconds between SIGTERM and SIGKILL.
    """
    out, err = out or ProgramOutput(), err or ProgramOutput()
    async with running(
        argv,
        env=env,
        cwd=cwd,
        stdin=stdin,
        out=out,
        err=None if merge else err,
        umask=umask,
        pass_fds=pass_fds,
        grace=grace,
    ) as program:
        try:
            async with asyncio.timeout(seconds):
                await program.over.wait()
        except TimeoutError as error:
            raise ProgramTimeout(
                f"{name or argv[0]} took longer than {seconds:.0f} s", timeout_remedy
            ) from error
    return ProgramResult(program.code, out, err)


@asynccontextmanager
async def running(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | str | None = None,
    stdin: bytes = b"",
    out: ProgramOutput,
    err: ProgramOutput | None = None,
    umask: int = INHERITED_UMASK,
    pass_fds: Sequence[int] = (),
    grace: float = 0.0,
) -> AsyncGenerator[RunningProgram]:
    """Run a program for the time of the block. Without `err`, standard error goes to `out`."""
    starting = asyncio.ensure_future(
        asyncio.get_running_loop().subprocess_exec(
            lambda: RunningProgram(out, err),
            *argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if err is None else subprocess.PIPE,
            start_new_session=True,
            umask=umask,
            pass_fds=tuple(pass_fds),
        )
    )
    try:
        # must not be interrupted: the program may run before the loop knows of it, and nobody would end what it has
        # started
        await run_uninterrupted(starting)
        _, program = starting.result()
        program.send(stdin)
        yield program
    finally:
        if starting.exception() is None:
            _, program = starting.result()
            await run_uninterrupted(program.end(grace))


class RunningProgram(asyncio.SubprocessProtocol):
    """Reads a program's output.

    Pipes kept open by another process do not delay its end, as they do with `asyncio.subprocess.Process.wait` in Python
    3.11.
    """

    def __init__(self, out: ProgramOutput, err: ProgramOutput | None) -> None:
        self._outputs = {1: out} if err is None else {1: out, 2: err}
        self._open = set(self._outputs)
        self._transport: asyncio.SubprocessTransport | None = None
        self._exited = asyncio.Event()
        self._silent = asyncio.Event()
        self.over = asyncio.Event()
        """Set when it has ended, or its output exceeds the limit."""
        self.pid = 0
        self.code = 0

    def send(self, text: bytes) -> None:
        # Standard input is closed after the text, so that a program that asks something gets no answer.
        inlet = self._transport.get_pipe_transport(0) if self._transport else None
        if isinstance(inlet, asyncio.WriteTransport):
            inlet.write(text)
            inlet.write_eof()

    async def read_rest(self) -> None:
        """Wait a moment for output left in the pipes."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READ_REST_SECONDS):
                await self._silent.wait()

    async def end(self, grace: float) -> None:
        """End the program with all its descendants, and close its pipes."""
        try:
            await self._end(grace)
        finally:
            if self._transport:
                self._transport.close()

    async def _end(self, grace: float) -> None:
        if self._exited.is_set():
            await self.read_rest()
            if end_group(self.pid, signal.SIGKILL):
                await (
                    self.read_rest()
                )  # a process that was just killed may have kept the pipes open
            return
        # Imported here, because psutil takes 15 ms to import. Collected first, because once a process has ended its
        # children can no longer be found.
        from adapters.descendants import descendants_of, wait_until_gone

        family = await asyncio.to_thread(descendants_of, self.pid)
        if grace:
            end_group(self.pid, signal.SIGTERM)
            await self._wait_for_exit(grace)
        end_group(self.pid, signal.SIGKILL)
        for process in family:
            process.signal(signal.SIGKILL)
        await self._wait_for_exit(KILL_SECONDS)
        await wait_until_gone(family, KILL_SECONDS)

    async def _wait_for_exit(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exited.wait()

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)  # noqa: S101 - it is one of `subprocess_exec`
        self._transport = transport
        self.pid = transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._outputs[fd].add(data)
        if self._outputs[fd].exceeds_limit:
            self.over.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            self._silent.set()

    def process_exited(self) -> None:
        self.code = (self._transport.get_returncode() if self._transport else 0) or 0
        self._exited.set()
        self.over.set()


async def start_connected(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, max_line_length: int
) -> asyncio.subprocess.Process:
    """Start a long-running program to exchange lines with. The caller ends it."""
    return await asyncio.create_subprocess_exec(
        *argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(env),
        cwd=cwd,
        limit=max_line_length,
        # Ctrl-C in the bot's terminal must not reach it
        start_new_session=True,
    )


def run_blocking(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path | str, seconds: float
) -> tuple[int, bytes, bytes]:
    """Return exit code, output and errors of a short program; for callers in a thread of their own.

    Raises like `run`.
    """
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise ProgramTimeout(f"{argv[0]} took longer than {seconds:.0f} s") from error
        finally:
            end_group(process.pid, signal.SIGKILL)
    return process.returncode, out, err


def end_group(leader: int, number: signal.Signals) -> bool:
    """Send a signal to the process group of a program; return False if the group has no process left."""
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


async def run_uninterrupted(work: Awaitable[object]) -> None:
    # Waits for the end even when cancelled meanwhile.
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled

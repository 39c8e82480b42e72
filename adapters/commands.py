"""Runs a repository's own commands (its tests, its set-up). Its rule: no secrets go in, nothing of it lives on, output is bounded."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import signal
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import psutil

from bot.domain.world import Executed
from bot.errors import Refused, Unavailable

ALLOWED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TERM|XDG_CACHE_HOME|XDG_RUNTIME_DIR"
    r"|VIRTUAL_ENV|PYENV_ROOT|CONDA_PREFIX|CARGO_HOME|RUSTUP_HOME|RUSTUP_TOOLCHAIN|GOPATH|GOROOT|GOCACHE|GOMODCACHE"
    r"|JAVA_HOME|GRADLE_USER_HOME|MAVEN_HOME|M2_HOME|DOTNET_ROOT|NVM_DIR|NVM_BIN|VOLTA_HOME|PNPM_HOME|BUN_INSTALL"
    r"|GEM_HOME|GEM_PATH|RBENV_ROOT|SSL_CERT_FILE|SSL_CERT_DIR|NIX_[A-Z_]+_CERT_FILE"
)
"""What a build needs of the bot's environment. No token, no agent socket, no display."""
MARKER = "GWT_COMMAND"
"""Every descendant inherits it, also one that has left the process group."""
SHOWN = 16 * 1024
HEAD, TAIL = 256 * 1024, 512 * 1024
LOG_LIMIT = 1024 * 1024
MASKED_AT_ONCE = 32 * 1024
GRACE_SECONDS = 2.0
LAST_WORDS_SECONDS = 1.0
OMITTED = "\n[… {} bytes left out …]\n"


class ShellCommands:
    """`environment` is the bot's own; only what is ALLOWED of it is passed on. `mask` hides secrets in a text."""

    def __init__(self, environment: Mapping[str, str], mask: Callable[[str], str]) -> None:
        kept = {key: value for key, value in environment.items() if ALLOWED.fullmatch(key)}
        self._environment = kept | {"CI": "1"}
        self._mask = mask

    async def run(self, cwd: str, command: str, *, seconds: float, log: str) -> Executed:
        marker = uuid.uuid4().hex
        output = Output()
        began = time.monotonic()
        process: asyncio.subprocess.Process | None = None
        with _Listening(output) as listening:
            try:
                process = await self._start(cwd, command, marker, listening.inlet)
                listening.begin()
                code = await _exit_code(process, seconds)
            finally:
                # not to be interrupted: what lived on would work in a worktree that is given away
                await _undisturbed(asyncio.create_task(_all_ended(process, marker)))
            took = time.monotonic() - began
            await listening.last_words()
        shown = await asyncio.to_thread(self._written, output, log)
        return Executed(exit_code=code, seconds=took, output=shown, output_path=log)

    async def _start(
        self, cwd: str, command: str, marker: str, inlet: int
    ) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", command),
                cwd=cwd,
                env=self._environment | {MARKER: marker},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=inlet,
                stderr=inlet,
                start_new_session=True,
            )
        except (FileNotFoundError, NotADirectoryError) as error:
            if not await asyncio.to_thread(os.path.isdir, cwd):
                raise Refused(
                    f"the directory {cwd} is missing", "Recreate the worktree."
                ) from error
            raise Unavailable("/bin/sh is required") from error
        except ValueError as error:
            raise Refused("the command has a NUL character in it") from error
        except OSError as error:
            if error.errno == errno.E2BIG:
                raise Refused("the command is too long") from error
            raise Unavailable(f"the command could not be started: {error.strerror}") from error

    def _written(self, output: Output, log: str) -> str:
        """Write the log; the last part of it, to be shown."""
        text = "".join(self._mask(part) for part in _pieces(output.text()))
        content = _bounded(text.encode("utf-8", "replace"), LOG_LIMIT)
        try:
            _write_private(Path(log), content)
        except OSError as error:
            raise Unavailable(f"{log} cannot be written: {error.strerror}") from error
        return text.encode("utf-8", "replace")[-SHOWN:].decode("utf-8", "ignore")


class Output:
    """The beginning and the end of what a command says. What is between is counted only."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._kept = 0
        self._omitted = 0

    def add(self, chunk: bytes) -> None:
        room = HEAD - len(self._head)
        self._head += chunk[:room]
        if rest := chunk[room:]:
            self._tail.append(rest)
            self._kept += len(rest)
        while self._kept > TAIL:
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


class _Listening:
    """A pipe of our own: that it is still open somewhere must not keep us waiting for the command's end."""

    def __init__(self, output: Output) -> None:
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


async def _exit_code(process: asyncio.subprocess.Process, seconds: float) -> int | None:
    try:
        async with asyncio.timeout(seconds):
            return await process.wait()
    except TimeoutError:
        return None


async def _undisturbed(work: asyncio.Task[None]) -> None:
    """Wait for its end, also when we are cancelled meanwhile."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


async def _all_ended(process: asyncio.subprocess.Process | None, marker: str) -> None:
    await asyncio.to_thread(_end, process.pid if process else None, marker)
    if process is not None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await process.wait()


def _end(leader: int | None, marker: str) -> None:
    """All descendants are collected first, then SIGTERM, then SIGKILL until nothing is left (they may fork meanwhile)."""
    left = _descendants(leader, marker)
    _signal(left, signal.SIGTERM)
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


def _lives(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


def _signal(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        # gone meanwhile, or (a set-uid program) no longer ours to end
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.send_signal(number)


def _pieces(text: str) -> list[str]:
    """Pieces of whole lines for the mask, whose cost may grow faster than its text."""
    pieces: list[str] = [""]
    for line in text.splitlines(keepends=True):
        if len(pieces[-1]) + len(line) > MASKED_AT_ONCE:
            pieces.append("")
        pieces[-1] += line
    return pieces


def _bounded(content: bytes, limit: int) -> bytes:
    if len(content) <= limit:
        return content
    half = limit // 2 - len(OMITTED) - 20
    gap = OMITTED.format(len(content) - 2 * half).encode()
    return content[:half] + gap + content[-half:]


def _write_private(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    temporary.replace(path)

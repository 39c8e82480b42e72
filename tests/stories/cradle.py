"""Where lives of the bot begin that need not read all its modules first: a process that has read them, and forks.

That saves a second of the processor at each of some thousand starts. What is born is the program all the same, with an
environment of its own and nothing of another life: `python -m tests.stories.cradle` is told by a socket where to listen.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import random
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from adapters.llm.client import trusted_certificates

ROOT = Path(__file__).parents[2]
MODULES = (
    *("bot.cli.serve", "bot.cli.console", "bot.__main__", "adapters.demo.model"),
    *("adapters.slack.chat", "adapters.matrix.chat", "openai", "github", "tests.faults.fate"),
    *("adapters.matrix.crypto.device", "adapters.matrix.crypto.machine"),
    *("adapters.matrix.crypto.decryption", "adapters.matrix.crypto.decryption"),
    *("adapters.matrix.crypto.machine", "adapters.matrix.crypto.decryption"),
    "adapters.matrix.crypto.decryption",
)
"""With all that they import. Whatever is missing here is read by each life itself."""
LONGEST_REQUEST = 1_000_000
LONGEST = 120.0
READY = b"ready\n"


class Life:
    """A process, as its parent would see it."""

    def __init__(
        self,
        program: Sequence[str],
        environ: Mapping[str, str],
        out: Path,
        *,
        err: Path | None = None,
        folder: Path = ROOT,
    ) -> None:
        """`program`: a module, and its arguments, as behind `python -m`. `err`: where it says its errors, if not to `out`."""
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.connect(_cradle())
        self._line.send(
            json.dumps([[*program], dict(environ), str(out), str(err or out), str(folder)]).encode()
        )
        self.pid = int(self._line.recv(100))
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, once it has ended; negative: the signal that ended it."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        if (code := self._ended(timeout)) is None:
            raise subprocess.TimeoutExpired(f"life {self.pid}", timeout or 0)
        return code

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def _signal(self, which: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, which)

    def _ended(self, timeout: float | None) -> int | None:
        if self._code is None:
            self._line.settimeout(timeout)
            try:
                self._code = int(self._line.recv(100))
            except (TimeoutError, BlockingIOError):
                return None
            self._line.close()
        return self._code


def completed(
    program: Sequence[str], environ: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` would have it. Nobody types anything."""
    with tempfile.TemporaryDirectory() as said:
        out, err = Path(said, "out"), Path(said, "err")
        code = Life(program, environ, out, err=err, folder=folder).wait(LONGEST)
        return subprocess.CompletedProcess(program, code, out.read_text(), err.read_text())


@cache
def _cradle() -> str:
    """Where this process has one. It ends with this process."""
    folder = tempfile.TemporaryDirectory(prefix="gwt-cradle-")
    path = f"{folder.name}/socket"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.stories.cradle", path],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONWARNINGS": "error"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(_end, process, folder)
    assert process.stdout
    assert process.stdout.readline() == READY
    return path


def _end(process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    process.communicate()
    folder.cleanup()


Waiting = dict[int, tuple[int, socket.socket]]
"""By what becomes readable at the end of a life: its process, and who wants to know of it."""


class Birth(Exception):  # noqa: N818 - it leads out of the cradle, and is no error
    def __init__(
        self, program: list[str], environ: dict[str, str], out: str, err: str, folder: str
    ) -> None:
        super().__init__()
        self.program, self.environ, self.folder = program, environ, folder
        self.out, self.err = out, err


def rock(listener: socket.socket) -> None:
    """Until nobody holds its standard input open any more. Raises `Birth` in whoever is born."""
    waiting: Waiting = {}
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == sys.stdin.fileno():
                    return
                if key.fileobj is listener:
                    end, pid, line = _bear(listener, waiting)
                    waiting[end] = (pid, line)
                    selector.register(end, selectors.EVENT_READ)
                else:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _tell_end(*waiting.pop(key.fd))


def _bear(listener: socket.socket, others: Waiting) -> tuple[int, int, socket.socket]:
    line, _ = listener.accept()
    request = json.loads(line.recv(LONGEST_REQUEST))
    if (pid := os.fork()) == 0:
        line.close()
        for end, (_, other) in others.items():
            os.close(end)
            other.close()
        raise Birth(*request)
    line.send(str(pid).encode())
    return os.pidfd_open(pid), pid, line


def _tell_end(pid: int, line: socket.socket) -> None:
    _, status = os.waitpid(pid, 0)
    with line, suppress(BrokenPipeError):  # nobody may wait for it
        line.send(str(os.waitstatus_to_exitcode(status)).encode())


def _live(birth: Birth) -> None:
    """As a program that was started with this environment, in this folder."""
    os.chdir(birth.folder)
    for own, path in ((0, os.devnull), (1, birth.out), (2, birth.err)):
        new = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(new, own)
        os.close(new)
    os.environ.clear()
    os.environ.update(birth.environ)
    time.tzset()
    random.seed()
    sys.argv = birth.program
    sys.modules.pop("bot.__main__", None)  # runpy warns of what is imported already
    runpy.run_module(birth.program[0], run_name="__main__", alter_sys=True)


def main(path: str) -> None:
    for module in MODULES:
        importlib.import_module(module)
    trusted_certificates()
    gc.collect()
    gc.freeze()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(path)
            listener.listen(64)
            os.write(sys.stdout.fileno(), READY)
            rock(listener)
            return
    except Birth as birth:
        born = birth
    _live(born)


if __name__ == "__main__":
    main(sys.argv[1])

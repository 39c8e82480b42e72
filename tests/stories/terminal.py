"""A person at a real terminal: a program in a pane of a tmux server of the test's own, its screen, and the keyboard."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

PATIENCE = 120.0
LOOK_EVERY = 0.2
"""Each look is a process of tmux."""
LINES_KEPT = "5000"


def until(reached: Callable[[], bool], told: Callable[[], str], seconds: float = PATIENCE) -> None:
    """Wait until it is so; `told` says how things stand when it never is."""
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, told()
        time.sleep(LOOK_EVERY)


class Terminal:
    """`with Terminal(cwd, environ) as terminal: terminal.start(program)`; started again, it is the same terminal."""

    def __init__(self, cwd: Path, environ: Mapping[str, str], size: tuple[int, int]) -> None:
        # a socket's path may have some hundred letters only
        self._sockets = tempfile.mkdtemp(prefix="gwt-test-")
        self._tmux = ("tmux", "-L", f"gwt-test-{uuid4().hex[:8]}", "-f", os.devnull)
        self._environ = {**environ, "TMUX_TMPDIR": self._sockets, "LC_ALL": "C.UTF-8"}
        self._environ.pop("TMUX", None)
        self._cwd = cwd
        self._size = size
        self._variables = [word for pair in environ.items() for word in ("-e", "=".join(pair))]

    def __enter__(self) -> Self:
        width, height = map(str, self._size)
        # the keeper's window holds the server while the program is down
        self._run("new-session", "-d", "-s", "person", "-x", width, "-y", height, "cat", "-")
        self._run("set-option", "-g", "remain-on-exit", "on")
        self._run("set-option", "-g", "history-limit", LINES_KEPT)
        self._run("set-option", "-g", "status", "off")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run("kill-server")
        shutil.rmtree(self._sockets)

    def start(self, *program: str) -> None:
        """In a window of its own, so that nothing an earlier program has shown is seen."""
        where = ("-c", str(self._cwd))
        self._run("new-window", "-t", "person:", *where, *self._variables, *program)

    def type(self, text: str) -> None:
        """A line, letter by letter, and Enter."""
        self._run("send-keys", "-l", text)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    @property
    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    @property
    def painted(self) -> str:
        """The screen with its colours."""
        return self._run("capture-pane", "-p", "-e")

    @property
    def shown(self) -> str:
        """Everything since the program was started, long lines in one piece."""
        return self._run("capture-pane", "-p", "-J", "-S", "-")

    @property
    def pid(self) -> int:
        return int(self._run("display-message", "-p", "#{pane_pid}"))

    @property
    def ended(self) -> bool:
        return self._run("display-message", "-p", "#{pane_dead}").strip() == "1"

    def kill(self) -> None:
        """As `kill -9` does."""
        os.kill(self.pid, signal.SIGKILL)
        self.until_ended()

    def until_seen(self, *texts: str, seconds: float = PATIENCE) -> None:
        """One of the texts is shown, now or earlier."""
        self.until(lambda: any(text in self.shown for text in texts), seconds)

    def until_ended(self) -> None:
        self.until(lambda: self.ended)

    def until(self, reached: Callable[[], bool], seconds: float = PATIENCE) -> None:
        until(reached, lambda: f"It never came; shown is:\n{self.shown[-6000:]}", seconds)

    def _run(self, *command: str) -> str:
        return _output([*self._tmux, *command], self._environ)


def _output(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    done = subprocess.run(
        argv, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    return done.stdout

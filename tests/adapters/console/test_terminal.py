"""The console under a person's fingers: a real terminal in a tmux server of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

pytestmark = pytest.mark.tmux

ROOT = Path(__file__).parents[3]


class Terminal:
    """A console in a pane, and the keyboard before it."""

    def __init__(self, home: Path, sockets: str) -> None:
        self._home = home
        self._tmux = ["tmux", "-L", f"gwt-test-{uuid4().hex[:8]}", "-f", "/dev/null"]
        self._env = {
            **os.environ,
            "TMUX_TMPDIR": sockets,
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
        }
        self._env.pop("TMUX", None)
        program = [sys.executable, "-m", "tests.adapters.console.desk", str(home)]
        self._run("new-session", "-d", "-x", "90", "-y", "40", "-c", str(ROOT), *program)
        self._run("set-option", "-g", "remain-on-exit", "on")
        self.until_seen("Ctrl-D leave")

    def type(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    @property
    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    @property
    def heard(self) -> list[str]:
        path = self._home / "heard"
        return path.read_text().splitlines() if path.exists() else []

    def until_seen(self, text: str) -> None:
        self.until(lambda: text in self.screen)

    def until_heard(self, *lines: str) -> None:
        self.until(lambda: self.heard == list(lines))

    def until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not reached():
            assert time.monotonic() < deadline, (
                f"heard {self.heard}, and on the screen:\n{self.screen}"
            )
            time.sleep(0.05)

    def close(self) -> None:
        self._run("kill-server")

    def _run(self, *command: str) -> str:
        done = subprocess.run(
            [*self._tmux, *command],
            env=self._env,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return done.stdout


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    # a socket's path may have some hundred letters only
    sockets = tempfile.mkdtemp(prefix="gwt-test-")
    terminal = Terminal(tmp_path, sockets)
    try:
        yield terminal
    finally:
        terminal.close()
        shutil.rmtree(sockets)


def test_a_card_appears_above_the_line_being_typed(terminal: Terminal) -> None:
    terminal.type("show questions", "Enter")
    terminal.type("half a li")
    terminal.until_seen("[1] Use all defaults")
    terminal.type("ne", "Enter")
    terminal.until_heard("said show questions", "said half a line")
    lines = terminal.screen.splitlines()
    assert lines.count("? A few questions before I plan") == 1, "it begins on a line of its own"
    assert lines.index("→ [1] Use all defaults") < lines.index("› half a line")


def test_numbers_and_questions_work_at_the_keyboard(terminal: Terminal) -> None:
    terminal.type("show approval", "Enter")
    terminal.until_seen("Enter Approve   2 Request changes   3 Discard")
    terminal.type("2", "Enter")
    terminal.until_seen("What should be different?")
    terminal.type("もっと短く", "Enter")
    terminal.type("3", "Enter")
    terminal.until_seen("[y/N]")
    terminal.type("n", "Enter")
    terminal.until_seen("Nothing was changed.")
    terminal.type("1", "Enter")
    terminal.until_heard("said show approval", "pressed change もっと短く", "pressed approve")


@pytest.mark.covers("G-RULE-APPROVAL-3", "G-RULE-STOP-1")
def test_enter_approves_and_escape_stops_and_keeps_what_was_typed(terminal: Terminal) -> None:
    terminal.type("show approval", "Enter")
    terminal.until_seen("Enter Approve")

    def agreed() -> bool:
        terminal.type("Enter")
        return "pressed approve" in terminal.heard

    terminal.until(agreed)
    terminal.type("half a line")
    terminal.until_seen("› half a line")
    terminal.type("Escape")
    terminal.until(lambda: terminal.heard[-1] == "commanded")
    terminal.until_seen("› half a line")
    terminal.type("Enter")
    terminal.until(lambda: terminal.heard[-1] == "said half a line")


@pytest.mark.covers("R-REPL-MODE-5")
def test_alt_and_arrow_keys_stop_nothing(terminal: Terminal) -> None:
    terminal.type("one", "Enter")
    terminal.until_heard("said one")
    terminal.type("M-x", "M-b", "Up")
    terminal.until_seen("› one\n" + "› one")
    terminal.type("Left", "Home", "Enter")
    terminal.until_heard("said one", "said one")


def test_the_status_lives_below_the_line(terminal: Terminal) -> None:
    terminal.type("show status", "Enter")
    terminal.until_seen("Esc stop   Ctrl-D leave")
    assert "active · executing" in terminal.screen.splitlines()[-5]
    terminal.type("show summary", "Enter")
    terminal.until_seen("Type what you want built")


def test_control_c_clears_then_warns_then_leaves(terminal: Terminal) -> None:
    terminal.type("never said")
    terminal.until_seen("› never said")
    terminal.type("C-c")
    terminal.until(lambda: "never said" not in terminal.screen)
    terminal.type("C-c")
    terminal.until_seen("Ctrl-C once more leaves. Agents go on.")
    terminal.type("C-c")
    terminal.until_seen("the program has ended")
    assert terminal.heard == []


def test_control_d_leaves_and_says_that_agents_go_on(terminal: Terminal) -> None:
    terminal.type("C-d")
    terminal.until_seen("the program has ended")
    assert "Agents go on without you." in terminal.screen

"""The demo as a person lives through it, at a real terminal. Only the model and the agents are played."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from adapters.played.script.request import REQUEST
from bot.program import demo
from tests.stories.terminal import Terminal, until

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
PROGRAM = str(Path(sys.executable).with_name("gwt-bot"))
SIZE = (120, 50)
STOPPED_WITHIN = 6.0
AGENTS_SUBJECTS = 7


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    asyncio.run(demo.end_agents(tmp_path / ".demo"))


def environ(folder: Path, pace: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "GWT_BOT_PACE": pace,
    }


class Demo:
    """The demo in a folder, and what can be seen of it from outside."""

    def __init__(self, folder: Path, terminal: Terminal) -> None:
        self.home = folder / ".demo" / "home"
        self.shop = folder / ".demo" / "shop"
        self.terminal = terminal

    def start(self) -> None:
        self.terminal.start(PROGRAM, "demo")
        self.terminal.until_seen("Ctrl-D leave")

    def is_asked_for(self) -> None:
        """From the start to the answered questions."""
        self.start()
        self.terminal.type(REQUEST)
        self.terminal.until_seen("Enter Use all defaults")
        self.agrees("You chose: Use all defaults.")

    def is_approved(self) -> None:
        self.terminal.until_seen("Enter Approve")
        self.terminal.type("1")
        self.terminal.until_seen("You chose: Approve.")

    def is_merged(self) -> None:
        self.terminal.until_seen("Enter Merge into main")
        self.terminal.type("1")
        self.terminal.until_seen("into your local main? [y/N]")
        self.terminal.type("y")
        self.terminal.until_seen("COMPLETE: Discount codes and a printable receipt")

    def agrees(self, shown: str) -> None:
        """Enter, until it counts: it does not in the half second after a card has come."""

        def agreed() -> bool:
            if shown in self.terminal.shown:
                return True
            self.terminal.press("Enter")
            return False

        self.terminal.until(agreed)

    def agents(self) -> list[psutil.Process]:
        """Every process that carries the name of a run of this home."""
        spool = f"{self.home}/spool/"
        found: list[psutil.Process] = []
        for process in psutil.process_iter():
            try:
                mine = process.environ().get("GWT_SPOOL", "").startswith(spool)
                if mine and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def session(self) -> dict[str, Any]:
        """As other programs may read it. It is written shortly after the change it tells of."""
        paths = list((self.home / "sessions").glob("*.json"))
        assert len(paths) == 1, paths
        return cast("dict[str, Any]", json.loads(paths[0].read_text()))

    def git(self, *arguments: str) -> list[str]:
        done = subprocess.run(
            ["git", "-C", str(self.shop), *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    def assert_nothing_is_left(self) -> None:
        subjects = self.git("log", "--no-merges", "--format=%s", "main")
        made = [s for s in subjects if s.startswith(("test(", "feat(", "fix("))]
        assert len(made) == len(set(made)) == AGENTS_SUBJECTS + 1  # the sample has one of its own
        assert self.git("branch", "--format=%(refname:short)") == ["main"]
        assert len(self.git("worktree", "list")) == 1
        assert self.git("status", "--porcelain") == []
        assert self.agents() == []


def runs_of(session: dict[str, Any]) -> list[str]:
    return [run["outcome"] for task in session["tasks"] for run in task["runs"]]


def test_killed_three_times_the_demo_goes_on_and_ends_complete(folder: Path) -> None:
    with Terminal(folder, environ(folder, "0.4"), SIZE) as terminal:
        bot = Demo(folder, terminal)
        bot.is_asked_for()
        terminal.until_seen("Feature Specification: ")
        terminal.kill()  # while the model writes the plan

        bot.start()
        bot.is_approved()
        terminal.until_seen("T001  Discount codes  running")
        terminal.until(lambda: len(bot.agents()) >= 2)
        terminal.kill()  # while agents work

        bot.start()
        terminal.until_seen("Everything is built")
        terminal.until_seen("Enter Merge into main")
        terminal.kill()  # while the merge is offered

        bot.start()
        terminal.until_seen("Unfinished sessions")
        bot.is_merged()
        terminal.press("C-d")
        terminal.until_ended()
        assert "Agents go on without you." in terminal.shown
        bot.assert_nothing_is_left()
        assert bot.session()["status"] == "Completed"
        assert runs_of(bot.session()) == ["finished"] * 4


def test_stop_ends_every_agent_and_resume_completes_the_work(folder: Path) -> None:
    with Terminal(folder, environ(folder, "0.6"), SIZE) as terminal:
        bot = Demo(folder, terminal)
        bot.is_asked_for()
        bot.is_approved()
        terminal.until(lambda: len(bot.agents()) >= 2)
        agents = bot.agents()
        terminal.type("stop")
        until(
            lambda: not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in agents),
            lambda: f"still alive: {bot.agents()}\n{terminal.shown}",
            STOPPED_WITHIN,
        )
        terminal.until_seen("The session is paused")
        terminal.until(lambda: bot.session()["status"] == "Paused")
        assert bot.agents() == []

        terminal.type("resume")
        bot.is_merged()
        bot.assert_nothing_is_left()


def test_in_a_pipe_the_demo_plays_itself_without_a_colour(folder: Path) -> None:
    done = subprocess.run(
        [PROGRAM, "demo", "--auto"],
        cwd=folder,
        env=environ(folder, "0.02"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=90,
        check=False,
    )
    output = done.stdout.decode()
    assert done.returncode == 0, output
    assert "COMPLETE: Discount codes and a printable receipt" in output
    assert "\x1b" not in output
    Demo(folder, Terminal(folder, {}, SIZE)).assert_nothing_is_left()

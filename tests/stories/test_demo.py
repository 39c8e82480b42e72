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

from adapters.demo.texts import REQUEST
from bot.cli import demo
from tests.stories.terminal import Terminal, until

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
PROGRAM = str(Path(sys.executable).with_name("gwt-bot"))
SIZE = (120, 50)
AGENTS_COMMITS, SAMPLES_COMMITS = 7, 1


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


class Place:
    """The folder of the demo, as it can be seen from outside."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / ".demo" / "home"
        self.shop = folder / ".demo" / "shop"

    def agents(self) -> list[psutil.Process]:
        """Every process that carries the name of a run of this home."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            spool = process.environ().get("GWT_SPOOL", "")
        except (psutil.Error, OSError):
            return False
        return spool.startswith(f"{self.home}/spool/") and lives(process)

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

    def assert_all_is_merged_and_nothing_left(self) -> None:
        subjects = self.git("log", "--no-merges", "--format=%s", "main")
        made = [s for s in subjects if s.startswith(("test(", "feat(", "fix("))]
        assert len(made) == len(set(made)) == AGENTS_COMMITS + SAMPLES_COMMITS
        assert self.git("branch", "--format=%(refname:short)") == ["main"]
        assert len(self.git("worktree", "list")) == 1
        assert self.git("status", "--porcelain") == []
        assert self.agents() == []


def lives(process: psutil.Process) -> bool:
    """One that only waits to be reaped does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Person:
    """Somebody at the terminal of the demo."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def starts(self) -> None:
        self._terminal.start(PROGRAM, "demo")
        self._terminal.until_seen("Ctrl-D leave")

    def asks(self) -> None:
        """And takes the defaults of all questions."""
        self._terminal.type(REQUEST)
        self.takes_defaults()

    def takes_defaults(self) -> None:
        self._terminal.until_seen("Enter Use all defaults")
        self._agrees("You chose: Use all defaults.")

    def approves(self) -> None:
        self._terminal.until_seen("Enter Approve")
        self._terminal.type("1")
        self._terminal.until_seen("You chose: Approve.")

    def merges(self, what: str = "Discount codes and a printable receipt") -> None:
        self._terminal.until_seen("Enter Merge into main")
        self._terminal.type("1")
        self._terminal.until_seen("into your local main? [y/N]")
        self._terminal.type("y")
        self._terminal.until_seen(f"COMPLETE: {what}")

    def _agrees(self, shown: str) -> None:
        """Enter, until it counts: it does not in the half second after a card has come."""

        def agreed() -> bool:
            if shown in self._terminal.shown:
                return True
            self._terminal.press("Enter")
            return False

        self._terminal.until(agreed)


@pytest.mark.covers("O-K3")
def test_killed_three_times_the_demo_goes_on_and_ends_complete(folder: Path) -> None:
    place = Place(folder)
    with Terminal(folder, environ(folder, "0.3"), SIZE) as terminal:
        person = Person(terminal)
        person.starts()
        person.asks()
        terminal.until_seen("Feature Specification: ")
        terminal.kill()  # while the model writes the plan

        person.starts()
        person.approves()
        terminal.until(lambda: len(place.agents()) >= 2)
        terminal.kill()  # while agents work

        person.starts()
        terminal.until_seen("Enter Merge into main")
        terminal.kill()  # while the merge is offered

        person.starts()
        terminal.until_seen("Unfinished sessions")
        person.merges()
        terminal.press("C-d")
        terminal.until_ended()
        assert "Agents go on without you." in terminal.shown
    place.assert_all_is_merged_and_nothing_left()
    session = place.session()
    assert session["status"] == "Completed"
    assert [run["outcome"] for task in session["tasks"] for run in task["runs"]] == ["finished"] * 4


@pytest.mark.covers("G-RULE-STOP-4")
def test_stop_ends_every_agent_and_resume_completes_the_work(folder: Path) -> None:
    place = Place(folder)
    with Terminal(folder, environ(folder, "0.5"), SIZE) as terminal:
        person = Person(terminal)
        person.starts()
        person.asks()
        person.approves()
        terminal.until(lambda: len(place.agents()) >= 2)
        agents = place.agents()
        terminal.type("stop")
        terminal.until(lambda: not any(map(lives, agents)))
        terminal.until_seen("The session is paused")
        terminal.until(lambda: place.session()["status"] == "Paused")
        assert place.agents() == []

        terminal.type("resume")
        person.merges()
    place.assert_all_is_merged_and_nothing_left()


def test_in_a_pipe_the_demo_plays_itself_without_a_colour_and_goes_on_after_a_kill(
    folder: Path,
) -> None:
    shown = folder / "shown"
    first = in_a_pipe(folder, shown)
    until(lambda: "Shall I build" in shown.read_text(), shown.read_text)
    first.kill()
    first.wait()
    assert in_a_pipe(folder, shown).wait(90) == 0, shown.read_text()
    text = shown.read_text()
    assert text.count("COMPLETE: Discount codes and a printable receipt") == 1
    assert text.count(f"› {REQUEST[:20]}") == 1
    assert "\x1b" not in text
    Place(folder).assert_all_is_merged_and_nothing_left()


@pytest.mark.covers("O-K3")
def test_a_fresh_demo_ends_the_agents_of_the_last_one_and_begins_anew(folder: Path) -> None:
    place, shown = Place(folder), folder / "shown"
    first = in_a_pipe(folder, shown, pace="5")
    until(lambda: len(place.agents()) >= 2, shown.read_text)
    first.kill()
    first.wait()
    (place.shop / "mine.txt").write_text("mine")
    assert place.session()["status"] == "Active"

    fresh = folder / "fresh"
    assert in_a_pipe(folder, fresh, "demo", "--fresh").wait(60) == 0, fresh.read_text()
    assert "the model and the coding agent are played" in fresh.read_text()
    assert "Unfinished sessions" not in fresh.read_text()
    assert place.agents() == []
    assert not list((place.home / "sessions").glob("*.json"))
    assert not (place.shop / "mine.txt").exists()
    assert place.git("branch", "--format=%(refname:short)") == ["main"]


def in_a_pipe(
    folder: Path, shown: Path, *command: str, pace: str = "0.02"
) -> subprocess.Popen[bytes]:
    with shown.open("ab") as out:
        return subprocess.Popen(
            [PROGRAM, *(command or ("demo", "--auto"))],
            cwd=folder,
            env=environ(folder, pace),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )

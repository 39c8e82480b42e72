"""A bot on real tmux, git and disks is killed again and again. It must finish, lose nothing, and do nothing twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.store import JournalStore
from bot.cli.assemble import create_panes
from bot.core.session import Session
from bot.core.states import Outcome, OverallStatus, Phase, Status, TaskState
from tests.core.real_bot import STAGE, settings_of
from tests.stories.cradle import Life

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
STRIDE = 88
"""Marks (before and after each call to a port) between two deaths. An undisturbed story makes about 460."""
FIRST_DEATHS = (18, 53, 88)
DEATHS = 4
LONGEST_LIFE = 120
IN_THE_MIDDLE = (
    "before chat.show:2",
    "worktrees.commit_files:1",
    "before chat.show:4",
    "panes.start:2",
    "before chat.show:5",
    "commands.test:2",
    "worktrees.merge_all:1",
    "worktrees.move_base:1",
    "worktrees.remove:2",
    "before chat.show:1",
)
CARDS = {
    "received",
    "questions",
    "document:spec:1",
    "document:plan:1",
    "document:tasks:1",
    "approval:1",
    "completed:T001:1",
    "step:T002:1.1:check_failed",
    "completed:T002:2",
    "completed:T003:1",
    "offer",
    "merged",
    "summary",
    "in-short",
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    asyncio.run(_end_agents(tmp_path))


async def _end_agents(folder: Path) -> None:
    panes = create_panes(settings_of(folder), str, STAGE)
    await panes.kill_server()
    await panes.close()


def live(folder: Path, place: str = "") -> int:
    """One life of the bot. Its exit code; negative: the signal that killed it."""
    program = ("tests.core.real_bot", str(folder), *([place] if place else []))
    one = Life(program, {**os.environ, "HOME": str(folder)}, folder / "out")
    try:
        return one.wait(LONGEST_LIFE)
    finally:
        one.kill()


def live_and_die(folder: Path, *places: str) -> None:
    """A life for each place to die at, then one that comes to the end."""
    for place in places:
        assert live(folder, place) == -signal.SIGKILL, f"it did not die at {place}: {told(folder)}"
    assert live(folder) == 0, told(folder)


def told(folder: Path) -> str:
    """Where each life ended, and the last that was shown."""
    lives = marks_of_lives(folder)
    ends = "; ".join(f"life {n} ended {marks[-1]}" for n, marks in enumerate(lives, 1) if marks)
    return f"{ends}\n{(folder / 'out').read_text()[-1500:]}"


def marks_of_lives(folder: Path) -> list[list[str]]:
    paths = sorted(folder.glob("calls.*"), key=lambda path: path.stat().st_mtime)
    return [path.read_text().splitlines() for path in paths]


def faults(folder: Path) -> list[str]:
    """What is not as it must be at the end of the story."""
    sessions = sessions_of(folder)
    if len(sessions) != 1:
        return [f"{len(sessions)} sessions"]
    return [
        *wrong_state(sessions[0]),
        *wrong_runs(folder, sessions[0]),
        *wrong_repository(folder / "shop", sessions[0]),
        *wrong_cards(folder),
    ]


def sessions_of(folder: Path) -> list[Session]:
    store = JournalStore(folder / "home")
    records = [store.find(listed.id) for listed in store.sessions()]
    store.close()
    return [record.session for record in records if record]


def wrong_state(session: Session) -> Iterator[str]:
    if (session.status, session.phase) != (Status.COMPLETED, Phase.DONE):
        yield f"not finished: {session.status} {session.phase}"
    if (
        session.ending.result is None
        or session.ending.result.overall_status is not OverallStatus.COMPLETE
    ):
        yield f"the result is {session.ending.result}"
    for task in session.tasks:
        if task.state is not TaskState.COMPLETED:
            yield f"{task.key} is {task.state}"
    if len(session.tasks) != 3:
        yield f"{len(session.tasks)} tasks"


def wrong_runs(folder: Path, session: Session) -> Iterator[str]:
    """Two tasks need one run; the third has a slip in it, and its check sends it back once."""
    started = Counter((folder / "starts").read_text().split())
    runs = [run for task in session.tasks for run in task.runs]
    for name, times in started.items():
        if times > 1:
            yield f"{name} was started {times} times"
    if set(started) != {run.name for run in runs}:
        yield f"started: {sorted(started)}, known: {sorted(run.name for run in runs)}"
    if len(runs) != 4:
        yield f"{len(runs)} runs where four are enough"
    for run in runs:
        if run.outcome is not Outcome.FINISHED:
            yield f"{run.name}: {run.outcome}"


def wrong_repository(shop: Path, session: Session) -> Iterator[str]:
    subjects = Counter(git(shop, "log", "--no-merges", "--format=%s", "main").splitlines())
    for subject in (commit.subject for task in session.tasks for commit in task.commits):
        if subjects[subject] != 1:
            yield f"“{subject}” is on main {subjects[subject]} times"
    if sum(len(task.commits) for task in session.tasks) != 7:
        yield "seven commits are to be made by the agents"
    if git(shop, "rev-parse", "main") != session.ending.merged_commit:
        yield "main is not where the session says"
    if (branches := git(shop, "branch", "--format=%(refname:short)").split()) != ["main"]:
        yield f"branches left: {branches}"
    if len(worktrees := git(shop, "worktree", "list").splitlines()) != 1:
        yield f"worktrees left: {worktrees}"
    if any((shop / ".worktrees").glob("*")):
        yield "something is left in .worktrees"
    if status := git(shop, "status", "--porcelain"):
        yield f"the checkout is not clean: {status}"


def git(shop: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(shop), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def wrong_cards(folder: Path) -> Iterator[str]:
    """A status may look again as it looked before; whatever else is shown is shown once, and nothing is left out."""
    lines = (folder / "home" / "console" / "shown.jsonl").read_text().splitlines()
    cards = [card for card in map(json.loads, filter(None, lines)) if card["key"] != "status"]
    shown = Counter((card["key"], card["digest"]) for card in cards)
    yield from (f"{key} was shown {times} times" for (key, _), times in shown.items() if times > 1)
    last = {card["key"]: card for card in cards}
    if set(last) != CARDS:
        yield f"cards: {sorted(last)}"
    yield from (f"{key} is still open" for key, card in last.items() if card["open"])
    out = (folder / "out").read_text()
    if out.count("COMPLETE: ") != 1:
        yield "the summary does not stand once in the transcript"
    for stale in ("Already approved", "has already chosen", "no longer current"):
        if stale in out:
            yield f"a decision was pressed twice: {stale}"


def test_without_a_crash_the_story_is_long_and_ends_well(folder: Path) -> None:
    live_and_die(folder)
    assert faults(folder) == []
    (marks,) = marks_of_lives(folder)
    assert len(marks) > FIRST_DEATHS[-1] + (DEATHS - 1) * STRIDE


@pytest.mark.covers("G-SC-005", "O-P2")
@pytest.mark.parametrize("first", FIRST_DEATHS)
def test_killed_four_times_it_loses_nothing_and_doubles_nothing(folder: Path, first: int) -> None:
    live_and_die(folder, str(first), *[str(STRIDE)] * (DEATHS - 1))
    assert faults(folder) == [], told(folder)


def test_killed_in_the_middle_of_what_it_does_it_loses_and_doubles_nothing(folder: Path) -> None:
    live_and_die(folder, *IN_THE_MIDDLE)
    assert faults(folder) == [], told(folder)

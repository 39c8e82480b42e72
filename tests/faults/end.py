"""What must be so when the story is over, wherever the bot died in it: all is there, and nothing is there twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bot.core.session import Session
from bot.core.states import Outcome, OverallStatus, Status, TaskState
from tests.beds.github import Hosted
from tests.stories.github.agent import RUNS
from tests.stories.serving import Serving

NEEDED = 4
"""Runs: two tasks need one; the third has a slip in it, and its check sends it back once."""
COMMITS = 7
WORK = ("discount", "receipt", "checkout")


def faults(folder: Path, bot: Serving, *, lost_agents: bool, there: Hosted | None) -> Iterator[str]:
    """`lost_agents`: tmux was killed as well, so that they had to be started again."""
    sessions = bot.sessions()
    if len(sessions) != 1:
        yield f"{len(sessions)} sessions"
        return
    (session,) = sessions
    yield from _state(session)
    yield from _runs(folder, session, lost_agents=lost_agents)
    yield from _repository(bot)
    yield from _pulls(session, there) if there else _commits(bot, session)
    if "Traceback" in bot.out:
        yield f"Traceback: {bot.out[-1500:]}"


def _state(session: Session) -> Iterator[str]:
    if session.status is not Status.COMPLETED or not session.ending.result:
        yield f"not finished: {session.status} {session.phase}"
    elif session.ending.result.overall_status is not OverallStatus.COMPLETE:
        yield f"the result is {session.ending.result}"
    if len(session.tasks) != len(WORK):
        yield f"{len(session.tasks)} tasks"
    for task in session.tasks:
        if task.state is not TaskState.COMPLETED:
            yield f"{task.key} is {task.state}"
    if not session.approval.granted:
        yield "nobody has approved it"


def _runs(folder: Path, session: Session, *, lost_agents: bool) -> Iterator[str]:
    lines = (folder / RUNS).read_text().splitlines()
    started = Counter(json.loads(line)["run"] for line in lines)
    runs = [run for task in session.tasks for run in task.runs]
    yield from (f"{run} was started {n} times" for run, n in started.items() if n > 1)
    if strange := set(started) - {run.name for run in runs}:
        yield f"nobody knows of {strange}"
    finished = [run for run in runs if run.outcome is Outcome.FINISHED]
    if len(finished) != NEEDED:
        yield f"{len(finished)} runs finished where {NEEDED} are needed"
    if not lost_agents:
        yield from (f"{run.name}: {run.outcome}" for run in runs if run not in finished)


def _repository(bot: Serving) -> Iterator[str]:
    if (branches := bot.git("branch", "--format=%(refname:short)")) != "main":
        yield f"branches left: {branches.split()}"
    if len(worktrees := bot.git("worktree", "list").splitlines()) != 1:
        yield f"worktrees left: {worktrees}"
    if any((bot.shop / ".worktrees").glob("*")):
        yield "something is left in .worktrees"
    if status := bot.git("status", "--porcelain"):
        yield f"the checkout is not clean: {status}"
    if agents := bot.agents():
        yield f"agents left: {agents}"


def _commits(bot: Serving, session: Session) -> Iterator[str]:
    subjects = Counter(bot.git("log", "--no-merges", "--format=%s", "main").splitlines())
    made = [commit.subject for task in session.tasks for commit in task.commits]
    yield from (f"“{one}” is on main {subjects[one]} times" for one in made if subjects[one] != 1)
    if len(made) != COMMITS:
        yield f"{len(made)} commits where {COMMITS} are to be made"
    yield from (f"{name} is lost" for name in WORK if not bot.git("ls-files", f"basket/{name}.py"))


def _pulls(session: Session, there: Hosted) -> Iterator[str]:
    """One for each task, merged once."""
    heads = Counter(pull.head for pull in there.pulls)
    if len(there.pulls) != len(WORK) or max(heads.values()) > 1:
        yield f"pull requests: {heads}"
    merged = Counter(line.rpartition("(#")[2] for line in there.log("main") if "(#" in line)
    if merged != {f"{pull.number})": 1 for pull in there.pulls}:
        yield f"merged: {merged}"
    said = Counter((one.number, one.body) for one in there.comments)
    yield from (f"said {n} times at #{at}: {text}" for (at, text), n in said.items() if n > 1)
    if list(there.branches) != ["main"]:
        yield f"branches left on GitHub: {list(there.branches)}"
    yield from (f"{one} is lost" for one in WORK if not there.read("main", f"basket/{one}.py"))

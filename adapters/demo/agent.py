"""The simulated coding agent: an executable that reads its prompt file, writes tests and code, commits, and ends.

`python -m adapters.demo.agent --prompt-file F --conversation ID [--resume]`, in a worktree of the sample repository.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from adapters.demo import SAMPLE_MARKER, require_stage
from adapters.demo.brief import DemoPiece
from adapters.demo.work import WORK, Repair, TaskOrder, WorkStep, adapted_file, commit_message
from bot.core.errors import Refused

# Its worktree: reading, writing, testing and committing there.

_IDENTITY = (
    "-c",
    "user.name=Played Agent",
    "-c",
    "user.email=agent@played.invalid",
    "-c",
    "commit.gpgSign=false",
)


class GitFailedError(Exception):
    """git failed; the message is its output."""


class Worktree:
    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self._path = path
        # the agent's own import path must not affect the programs it starts
        self._environ = {name: value for name, value in environ.items() if name != "PYTHONPATH"}

    def has_committed(self, path: str) -> bool:
        return self._run("git", "cat-file", "-e", f"HEAD:{path}").returncode == 0

    def committed(self, path: str) -> str:
        return self._git("show", f"HEAD:{path}")

    def write(self, path: str, content: str) -> None:
        target = self._path / path
        target.parent.mkdir(exist_ok=True)
        target.write_text(content, encoding="utf-8")
        # Python would take a file of the same size and second for the one already compiled
        for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
            compiled.unlink(missing_ok=True)

    def restore(self, path: str) -> None:
        """Restore the file as committed, dropping what a stopped run left in the folder or index."""
        self._git("checkout", "HEAD", "--", path)

    def commit(self, path: str, message: str) -> None:
        self._git("add", "--", path)
        self._git(*_IDENTITY, "commit", "--quiet", "-m", message)

    def run_tests(self) -> str:
        """Run the tests and return the last line of their output."""
        done = self._run(sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", ".")
        return (done.stderr.strip().splitlines() or ["(no output)"])[-1]

    def clear_own_lock(self) -> None:
        # A stop during a commit leaves git's lock behind; nobody else commits in this worktree.
        lock = self._git("rev-parse", "--path-format=absolute", "--git-path", "index.lock").strip()
        Path(lock).unlink(missing_ok=True)

    def _git(self, *arguments: str) -> str:
        done = self._run("git", *arguments)
        if done.returncode:
            raise GitFailedError(done.stderr.strip() or f"exit code {done.returncode}")
        return done.stdout

    def _run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            cwd=self._path,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )


# Its speed: a pause after every step, or no step before a file exists. A test that needs running agents holds them by
# such a file, and creates it once it has checked what it wanted.

UNTIL_PREFIX = "until:"
"""`GWT_BOT_PACE=until:/tmp/go`: it waits for that file before its first step."""
_POLL_SECONDS = 0.05
MAX_SECONDS = 900
"""Seconds after which the agent goes on without an answer."""


class AgentPace:
    """The pace, parsed from an environment variable."""

    def __init__(self, told: str) -> None:
        held = told.startswith(UNTIL_PREFIX)
        self._until = Path(told.removeprefix(UNTIL_PREFIX)) if held else None
        self._seconds = 0.0 if held else float(told)

    def step(self) -> None:
        """Wait as long as a step takes."""
        deadline = time.monotonic() + MAX_SECONDS
        while self._until and not self._until.exists() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        time.sleep(self._seconds)


# the two agents that do not succeed: `GWT_BOT_PLAY=error` and `GWT_BOT_PLAY=blocked`

FAILED_CODE = 1
UNANSWERED_CODE = 5


def _fail() -> int:
    """Fail like a CLI whose service is down."""
    _say("API Error: 529 overloaded. I give up.")
    return FAILED_CODE


def _ask() -> int | None:
    """Wait for a person's answer. Return None if the agent may go on."""
    _say("Do you want to make this edit?")
    _say("❯ 1. Yes")
    _say("  2. No, and tell me what to do differently")
    try:
        answer = input("> ").strip().lower()
    except EOFError:
        answer = ""
    if answer in ("1", "y", "yes"):
        return None
    _say("Nobody said yes, so I stop here.")
    return UNANSWERED_CODE


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


# The agent.

UNKNOWN_TASK = 3
REFUSED = 4
PACE = "0.7"


def main(arguments: Sequence[str], environ: Mapping[str, str], here: Path) -> int:
    options = _options(arguments, environ)
    worktree = Worktree(here, environ)
    try:
        require_stage(environ)
        _require_sample(worktree)
    except Refused as refusal:
        sys.stderr.write(f"{refusal.reason}\n{refusal.remedy}\n")
        return REFUSED
    agent = PlayedAgent(worktree, options.pace)
    try:
        return agent.play(options, environ.get("GWT_BOT_PLAY", ""))
    except GitFailedError as error:
        _say(f"git: {error}")
        return FAILED_CODE


def _options(arguments: Sequence[str], environ: Mapping[str, str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="played-agent", description=__doc__)
    parser.add_argument("--prompt-file", type=Path, required=True)
    parser.add_argument("--conversation", required=True)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument(
        "--pace", type=AgentPace, default=AgentPace(environ.get("GWT_BOT_PACE", PACE))
    )
    parser.add_argument("--version", action="version", version="played 1.0")
    return parser.parse_args(arguments)


def _require_sample(worktree: Worktree) -> None:
    if not worktree.has_committed(SAMPLE_MARKER):
        raise Refused(
            f"The played agent works only in the demo's sample repository: {SAMPLE_MARKER} is not here.",
            remedy="For a real repository, configure a real coding agent.",
        )


class PlayedAgent:
    """Continues from what it finds, so that running it twice changes nothing."""

    def __init__(self, worktree: Worktree, pace: AgentPace) -> None:
        self._worktree = worktree
        self._pace = pace
        self._commits = 0

    def play(self, options: argparse.Namespace, trouble: str) -> int:
        self._banner(options)
        order = TaskOrder.read(options.prompt_file.read_text(encoding="utf-8"))
        if order.piece is None:
            known = f"{', '.join(WORK)}; without files also T001, T002, T003"
            _say(f"“{order.heading}” is not in my script. It knows only {known}.")
            return UNKNOWN_TASK
        if trouble == "error":
            return _fail()
        if trouble == "blocked" and (code := _ask()) is not None:
            return code
        return self._work(order, order.piece)

    def _banner(self, options: argparse.Namespace) -> None:
        for line in (
            "╭──────────────────────────────────────────────────╮",
            "│  PLAYED AGENT: this is the demo of gwt-bot.      │",
            "│  No model is at work; I follow a fixed script.   │",
            "╰──────────────────────────────────────────────────╯",
        ):
            _say(line)
        how = "resumed" if options.resume else "new"
        _say(f"conversation {options.conversation} ({how})")

    def _work(self, order: TaskOrder, piece: DemoPiece) -> int:
        work = WORK[piece.name]
        # even a new conversation may follow one that was stopped during a commit
        self._worktree.clear_own_lock()
        self._tell(order.heading)
        self._tell("Read CLAUDE.md: tests first, money in whole cents")
        self._tell(work.thought)
        if work.needs and not self._worktree.has_committed(work.needs):
            self._tell(f"{work.needs} is not here: what I depend on was not merged")
        for step in work.steps:
            self._step(order, piece, step)
        if work.repair and order.tells_of_failure:
            self._repair(work.repair)
        if work.noticed:
            self._note_observation(order.notebook, work.noticed, piece.module)
        self._close()
        return 0

    def _step(self, order: TaskOrder, piece: DemoPiece, step: WorkStep) -> None:
        """Write the file as wanted, or restore it if an earlier run has committed it."""
        there = self._worktree.has_committed(step.path)
        # read from the commit, because the file in the folder may be incomplete
        before = self._worktree.committed(step.path) if there else step.content
        wanted = adapted_file(piece, step, before, order.width, order.wishes)
        if there and wanted == before:
            self._worktree.restore(step.path)
            self._tell(f"{step.path} is committed already")
            return
        self._worktree.write(step.path, wanted)
        if there:
            self._tell(f"Edit {step.path}: something else is wanted than before")
            self._commit(step.path, commit_message(piece, step, before, order.width))
            return
        self._tell(f"Write {step.path} (+{len(wanted.splitlines())} lines)")
        self._commit(step.path, step.commit)

    def _repair(self, repair: Repair) -> None:
        # read from the commit, because the file in the folder may be incomplete
        text = self._worktree.committed(repair.path)
        if repair.wrong not in text:
            self._tell(f"{repair.path} is put right already")
            return
        self._tell("The check failed. Why?")
        self._tell(f"Found it: {repair.cause}")
        self._worktree.write(repair.path, text.replace(repair.wrong, repair.right))
        self._tell(f"Edit {repair.path} (1 line)")
        self._tell(f"Run the tests: {self._worktree.run_tests()}")
        self._commit(repair.path, repair.commit)

    def _commit(self, path: str, message: str) -> None:
        self._worktree.commit(path, message)
        self._commits += 1
        self._tell(f"Commit {message}")

    def _note_observation(self, notebook: str, content: str, file: str) -> None:
        # Notes an observation for others that is not part of the task, once.
        path = Path(notebook)
        if notebook and path.parent.is_dir() and not path.exists():
            told = {"content": content, "evidence": [{"type": "file", "ref": file}]}
            path.write_text(f"{json.dumps(told)}\n", encoding="utf-8")
            self._tell(f"Noted for others: {content}")

    def _close(self) -> None:
        if not self._commits:
            _say("Done: everything was here already, so I changed nothing.")
            return
        commits = "1 commit" if self._commits == 1 else f"{self._commits} commits"
        _say(f"Done: {commits}. The bot runs the tests now; I do not judge my own work.")

    def _tell(self, line: str) -> None:
        _say(f"● {line}")
        self._pace.step()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], os.environ, Path.cwd()))

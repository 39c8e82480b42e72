"""The played coding agent: an executable that reads its prompt file, writes tests and code, commits, and ends.

`python -m adapters.played.agent --prompt-file F --conversation ID [--resume]`, in a worktree of the sample repository.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from adapters.played import MARKER, require_stage
from adapters.played.order import Order
from adapters.played.pace import Pace
from adapters.played.script.pieces import Piece
from adapters.played.script.work import WORK, Repair, Step, change, shaped
from adapters.played.trouble import FAILED, TROUBLES
from adapters.played.worktree import GitFailedError, Worktree
from bot.errors import Refused

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
        return agent.play(options, environ.get("GWT_BOT_PLAY", "success"))
    except GitFailedError as error:
        agent.say(f"git: {error}")
        return FAILED


def _options(arguments: Sequence[str], environ: Mapping[str, str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="played-agent", description=__doc__)
    parser.add_argument("--prompt-file", type=Path, required=True)
    parser.add_argument("--conversation", required=True)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--pace", type=Pace, default=Pace(environ.get("GWT_BOT_PACE", PACE)))
    parser.add_argument("--version", action="version", version="played 1.0")
    return parser.parse_args(arguments)


def _require_sample(worktree: Worktree) -> None:
    if not worktree.has_committed(MARKER):
        raise Refused(
            f"The played agent works only in the demo's sample repository: {MARKER} is not here.",
            remedy="For a real repository, configure a real coding agent.",
        )


class PlayedAgent:
    """Goes on from what it finds, so that being run twice changes nothing."""

    def __init__(self, worktree: Worktree, pace: Pace) -> None:
        self._worktree = worktree
        self._pace = pace
        self._commits = 0

    def play(self, options: argparse.Namespace, part: str) -> int:
        if part == "silent":
            return 0
        self._banner(options)
        order = Order.read(options.prompt_file.read_text(encoding="utf-8"))
        if order.piece is None:
            known = f"{', '.join(WORK)}; without files also T001, T002, T003"
            self.say(f"“{order.heading}” is not in my script. It knows only {known}.")
            return UNKNOWN_TASK
        if trouble := TROUBLES.get(part):
            code = trouble(self.say)
            if code is not None:
                return code
        return self._work(order, order.piece)

    def say(self, line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    def _banner(self, options: argparse.Namespace) -> None:
        for line in (
            "╭──────────────────────────────────────────────────╮",
            "│  PLAYED AGENT: this is the demo of gwt-bot.      │",
            "│  No model is at work; I follow a fixed script.   │",
            "╰──────────────────────────────────────────────────╯",
        ):
            self.say(line)
        how = "resumed" if options.resume else "new"
        self.say(f"conversation {options.conversation} ({how})")

    def _work(self, order: Order, piece: Piece) -> int:
        work = WORK[piece.name]
        # Even a new conversation may follow one that was stopped in the middle of a commit.
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
            self._note(order.notebook, work.noticed, piece.module)
        self._close()
        return 0

    def _step(self, order: Order, piece: Piece, step: Step) -> None:
        """Write the file as it is wanted, or make it so where an earlier run has committed it."""
        there = self._worktree.has_committed(step.path)
        # Read from the commit: what lies in the folder may be half written.
        before = self._worktree.committed(step.path) if there else step.content
        wanted = shaped(piece, step, before, order.width, order.wishes)
        if there and wanted == before:
            self._worktree.restore(step.path)
            self._tell(f"{step.path} is committed already")
            return
        self._worktree.write(step.path, wanted)
        if there:
            self._tell(f"Edit {step.path}: something else is wanted than before")
            self._commit(step.path, change(piece, step, before, order.width))
            return
        self._tell(f"Write {step.path} (+{len(wanted.splitlines())} lines)")
        self._commit(step.path, step.commit)

    def _repair(self, repair: Repair) -> None:
        # Read from the commit: what lies in the folder may be half written.
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

    def _note(self, notebook: str, content: str, file: str) -> None:
        """Write down for others what is no part of this task, once."""
        path = Path(notebook)
        if notebook and path.parent.is_dir() and not path.exists():
            told = {"content": content, "evidence": [{"type": "file", "ref": file}]}
            path.write_text(f"{json.dumps(told)}\n", encoding="utf-8")
            self._tell(f"Noted for others: {content}")

    def _close(self) -> None:
        if not self._commits:
            self.say("Done: everything was here already, so I changed nothing.")
            return
        commits = "1 commit" if self._commits == 1 else f"{self._commits} commits"
        self.say(f"Done: {commits}. The bot runs the tests now; I do not judge my own work.")

    def _tell(self, line: str) -> None:
        self.say(f"● {line}")
        self._pace.step()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], os.environ, Path.cwd()))

"""What agents are to do, told before they start, and what they have noted since."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import psutil

from tests.stories.asking import agent

Act = list[str]
Run = list[Act]
"""What one run does before it does its work."""


class Plays:
    """`plays.task("T001", [["menu", "make test"]], [])`: its first run asks, the second one does not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "plays"
        self.folder.mkdir()
        self._tasks: dict[str, list[Run]] = {}

    @property
    def environ(self) -> dict[str, str]:
        """Settings with which these are the agents."""
        started = f"{sys.executable} {agent.__file__} {self.folder}"
        command = f"{started} --prompt-file {{prompt_file}} --conversation {{conversation}}"
        return {"GWT_AGENT": "other", "GWT_AGENT_COMMAND": command}

    def claude(self) -> dict[str, str]:
        """Settings with which a stand-in for Claude Code is the agent; `played` may take over from it."""
        program = self.folder / "bin" / "claude"
        program.parent.mkdir()
        called = f"{sys.executable} {Path(agent.__file__).with_name('claude.py')} {self.folder}"
        program.write_text(f'#!/bin/sh\nexec {called} "$@"\n', encoding="utf-8")
        program.chmod(0o700)
        return {
            "GWT_AGENT": "claude-print",
            "GWT_OTHER_AGENTS": "played",
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "ANTHROPIC_API_KEY": "of-nobody",
            "IS_SANDBOX": "1",
        }

    def task(self, key: str, *runs: Run) -> None:
        self._tasks[key] = list(runs)
        (self.folder / "play.json").write_text(json.dumps(self._tasks), encoding="utf-8")

    def release(self, name: str) -> None:
        (self.folder / name).touch()

    def starts(self, key: str = "") -> list[list[str]]:
        """Run, process and arguments, in their order."""
        return self._noted("starts", key)

    def conversations(self, key: str) -> list[str]:
        """Which conversation each of its runs was started with."""
        return [words[words.index("--conversation") + 1] for words in self.starts(key)]

    def keys(self, key: str = "") -> list[str]:
        """What was typed to them."""
        return [words[0] for words in self._noted("keys", key)]

    def alive(self, key: str = "") -> list[int]:
        """Processes of agents, and of their children, that live."""
        told = [words[1] for words in self.starts(key)]
        told += [words[0] for words in self._noted("children", key)]
        return [pid for pid in map(int, told) if lives(pid)]

    def children(self) -> list[int]:
        return [int(words[0]) for words in self._noted("children", "")]

    def _noted(self, name: str, key: str) -> list[list[str]]:
        path = self.folder / name
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        noted = [line.split() for line in lines]
        return [words[1:] for words in noted if key in ("", words[0])]


def lives(pid: int) -> bool:
    """A dead one that nobody has buried yet does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False

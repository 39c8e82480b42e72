"""A git that is killed, with all its children, at the n-th call of one system call. For tests of recovery."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from adapters.git import GitWorktrees
from bot.core.errors import PortError
from tests.adapters.git.worlds import git, new_repository, write
from tests.faults.figures import Count

FILES = {f"{folder}/file{n}.txt": f"{folder} {n}\n" * 50 for folder in "abc" for n in range(4)}
WRAPPER = """#!/bin/sh
# {how}
real={real}
[ -e {armed} ] || exec $real "$@"
case " $* " in
  {pattern})
    strace -qq -o /dev/null -e trace={call} -e inject={call}:signal=KILL:when={nth} $real "$@"
    code=$?
    if [ $code -ge 128 ] && [ $code -ne 128 ] && [ $code -ne 129 ]; then
      touch {killed}
      kill -9 0
    fi
    exit $code ;;
esac
exec $real "$@"
"""


def strace_works(directory: Path) -> str:
    """Empty if it does; else why not."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    arguments = ["-qq", "-o", "/dev/null", "-e", "trace=write", "-e", "inject=write:signal=KILL"]
    done = subprocess.run(
        ["strace", *arguments, "sh", "-c", "echo x"],
        cwd=directory,
        check=False,
        capture_output=True,
    )
    return "" if done.returncode == -9 or done.returncode == 137 else "ptrace is not allowed here"


class KilledGit:
    """An environment whose git dies. `pattern` says which command, as a case pattern of sh."""

    def __init__(self, directory: Path, pattern: str, *, child: bool = False) -> None:
        self._real = shutil.which("git") or "git"
        self._pattern = pattern
        self._armed = directory / "armed"
        self.killed = directory / "killed"
        self._bin = directory / "bin"
        self._bin.mkdir()
        self._exec = directory / "exec"
        self._child = child
        self.environment = {"PATH": f"{self._bin}:{os.environ['PATH']}"}
        if child:
            self._link_exec_path(directory)

    def arm(self, call: str, nth: int) -> None:
        text = WRAPPER.format(
            how="called by the bot" if not self._child else "called by git",
            real=self._real,
            armed=self._armed,
            pattern=self._pattern,
            call=call,
            nth=nth,
            killed=self.killed,
        )
        place = self._exec if self._child else self._bin
        (place / "git").unlink(missing_ok=True)
        (place / "git").write_text(text)
        (place / "git").chmod(0o755)
        self.killed.unlink(missing_ok=True)
        self._armed.touch()

    def disarm(self) -> None:
        self._armed.unlink(missing_ok=True)

    def _link_exec_path(self, directory: Path) -> None:
        """Commands that git starts are looked for in its own directory of programs first."""
        shutil.copytree(git(directory, "--exec-path"), self._exec, symlinks=True)
        starter = f'#!/bin/sh\nGIT_EXEC_PATH={self._exec} exec {self._real} "$@"\n'
        (self._bin / "git").write_text(starter)
        (self._bin / "git").chmod(0o755)


CALLS = (
    *("openat", "read", "write", "close", "mkdir", "rmdir", "unlink", "rename", "link", "chdir"),
    *("fstat", "newfstatat", "lstat", "access", "getdents64", "mmap", "munmap", "getcwd", "pread64"),
)  # fmt: skip
"""System calls at which a git is killed where everything is tried."""
MOST = 400


def at(*points: tuple[str, tuple[int, ...]]) -> list[ParameterSet]:
    """Parameters of a test: some points of some calls; and, where there is time, every point of every call."""
    some = [pytest.param(call, numbers, id=call) for call, numbers in points]
    every = [pytest.param(call, range(1, MOST), id=f"every {call}", marks=EVERY) for call in CALLS]
    return [*some, *every]


EVERY = (pytest.mark.faults, pytest.mark.timeout(3600))


class Scene:
    """A repository whose bot is started anew for each call, and whose git dies on the way."""

    def __init__(self, directory: Path, pattern: str, *, child: bool = False) -> None:
        if reason := strace_works(directory):
            pytest.skip(f"git cannot be killed at a chosen point: {reason}")
        self.top = new_repository(directory / "repository", FILES)
        write(self.top, {"mine.txt": "a person's, never committed\n"})
        self.first = git(self.top, "rev-parse", "HEAD")
        self.home = directory / "home"
        self.git = KilledGit(directory, pattern, child=child)
        self.deaths = 0

    def path(self, name: str) -> Path:
        return self.top / ".worktrees" / f"agent-{name}"

    def worktrees(self) -> GitWorktrees:
        """A bot that has just been started."""
        return GitWorktrees(self.home, self.git.environment)

    def each(self, points: Sequence[int]) -> Iterator[int]:
        """All of them; of every one there is, up to the first that is never reached."""
        for nth in points:
            before = self.deaths
            yield nth
            if isinstance(points, range) and self.deaths == before:
                return

    def died_often(self, points: Sequence[int], count: Count) -> bool:
        """What a git does a little more or less often than that of its author still dies at most of them."""
        count("R3", kills=self.deaths, violations=0)
        return isinstance(points, range) or self.deaths >= len(points) / 2

    async def prepare(self, name: str) -> str:
        return await self.worktrees().prepare(
            str(self.top), f"agent/{name}", str(self.path(name)), self.first
        )

    async def dies(self, call: str, nth: int, doing: asyncio.Task[object]) -> None:
        """Do it with a git that is killed on its way."""
        self.git.arm(call, nth)
        with contextlib.suppress(PortError):
            await doing
        self.git.disarm()
        self.deaths += self.git.killed.exists()

    def check(self, name: str) -> None:
        """The worktree is whole, the repository is sound, and what people left is there."""
        assert git(self.path(name), "status", "--porcelain") == ""
        assert git(self.path(name), "symbolic-ref", "HEAD") == f"refs/heads/agent/{name}"
        assert (self.top / "mine.txt").read_text() == "a person's, never committed\n"
        assert git(self.top, "status", "--porcelain") == "?? mine.txt"

"""The played agent's hands: reading, writing, testing and committing in the worktree it stands in."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_IDENTITY = (
    "-c",
    "user.name=Played Agent",
    "-c",
    "user.email=agent@played.invalid",
    "-c",
    "commit.gpgSign=false",
)


class GitFailedError(Exception):
    """git said no; the message is what it said."""


class Worktree:
    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        self._path = path
        # The agent's own import path is nobody else's business.
        self._environ = {name: value for name, value in environ.items() if name != "PYTHONPATH"}

    def has_committed(self, path: str) -> bool:
        return self._run("git", "cat-file", "-e", f"HEAD:{path}").returncode == 0

    def committed(self, path: str) -> str:
        return self._git("show", f"HEAD:{path}")

    def write(self, path: str, content: str) -> None:
        target = self._path / path
        target.parent.mkdir(exist_ok=True)
        target.write_text(content, encoding="utf-8")
        # Python takes a file of the same size and second for the one it has compiled already.
        for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
            compiled.unlink(missing_ok=True)

    def restore(self, path: str) -> None:
        """As it was committed: what a stopped run left in the folder or in the index is gone."""
        self._git("checkout", "HEAD", "--", path)

    def commit(self, path: str, message: str) -> None:
        self._git("add", "--", path)
        self._git(*_IDENTITY, "commit", "--quiet", "-m", message)

    def run_tests(self) -> str:
        """The last line of what the tests say."""
        done = self._run(sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", ".")
        return (done.stderr.strip().splitlines() or ["(no output)"])[-1]

    def clear_own_lock(self) -> None:
        """A stop in the middle of a commit leaves git's lock behind; nobody else commits in this worktree."""
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

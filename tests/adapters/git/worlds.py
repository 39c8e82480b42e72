"""A repository people and agents work in, once real and once in memory, with the same words for both."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from adapters.git import GitRepository, GitWorktrees
from bot.ports import Repository, Worktrees
from tests.fakes.repository import FakeRepository
from tests.fakes.worktrees import FakeWorktrees

PEOPLE = {
    "PATH": os.environ["PATH"],
    "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Person",
    "GIT_AUTHOR_EMAIL": "person@localhost",
    "GIT_COMMITTER_NAME": "Person",
    "GIT_COMMITTER_EMAIL": "person@localhost",
}


def git(cwd: Path | str, *arguments: str) -> str:
    """What a person or an agent types."""
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, env=PEOPLE, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def new_repository(top: Path, files: Mapping[str, str] | None = None) -> Path:
    top.mkdir(parents=True)
    git(top, "init", "--quiet", "--initial-branch=main")
    write(top, files or {"README.md": "hello\n", "code.py": "one = 1\n"})
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "first")
    return top


def write(top: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)


class World(Protocol):
    path: str
    worktrees: Worktrees
    repository: Repository

    def at(self, name: str) -> str: ...

    def agent_commits(self, path: str, files: dict[str, str], message: str = "work") -> str: ...

    def agent_leaves(self, path: str, files: dict[str, str]) -> None: ...

    def person_commits(self, branch: str, files: dict[str, str]) -> str: ...

    def person_leaves(self, files: dict[str, str]) -> None: ...

    def person_creates(self, branch: str, start: str) -> None: ...

    def vanish(self, path: str) -> None: ...

    def tip(self, branch: str) -> str | None: ...

    def read(self, commit: str, name: str) -> str | None: ...


class RealWorld:
    def __init__(self, directory: Path) -> None:
        self.top = new_repository(directory / "repository")
        self.path = str(self.top)
        self.home = directory / "home"
        self.worktrees: Worktrees = GitWorktrees(self.home)
        self.repository: Repository = GitRepository(self.home)

    def at(self, name: str) -> str:
        return str(self.top / ".worktrees" / name)

    def agent_commits(self, path: str, files: dict[str, str], message: str = "work") -> str:
        write(Path(path), files)
        git(path, "add", "--", *files)
        git(path, "commit", "--quiet", "-m", message)
        return git(path, "rev-parse", "HEAD")

    def agent_leaves(self, path: str, files: dict[str, str]) -> None:
        write(Path(path), files)

    def person_commits(self, branch: str, files: dict[str, str]) -> str:
        if git(self.top, "branch", "--show-current") == branch:
            return self.agent_commits(self.path, files)
        aside = self.top.parent / "aside"
        git(self.top, "worktree", "add", "--quiet", str(aside), branch)
        commit = self.agent_commits(str(aside), files)
        git(self.top, "worktree", "remove", str(aside))
        return commit

    def person_leaves(self, files: dict[str, str]) -> None:
        write(self.top, files)

    def person_creates(self, branch: str, start: str) -> None:
        git(self.top, "branch", branch, start)

    def vanish(self, path: str) -> None:
        shutil.rmtree(path)

    def tip(self, branch: str) -> str | None:
        return (
            git(self.top, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}") or None
        )

    def read(self, commit: str, name: str) -> str | None:
        if not git(self.top, "ls-tree", commit, "--", name):
            return None
        return git(self.top, "show", f"{commit}:{name}") + "\n"


class FakeWorld:
    def __init__(self) -> None:
        self._repository = FakeRepository(
            path="/repository", files={"README.md": "hello\n", "code.py": "one = 1\n"}
        )
        self._worktrees = FakeWorktrees(self._repository)
        self.path = self._repository.path
        self.repository: Repository = self._repository
        self.worktrees: Worktrees = self._worktrees

    def at(self, name: str) -> str:
        return f"{self.path}/.worktrees/{name}"

    def agent_commits(self, path: str, files: dict[str, str], message: str = "work") -> str:
        return self._worktrees.agent_commits(path, files, message)

    def agent_leaves(self, path: str, files: dict[str, str]) -> None:
        self._worktrees.agent_leaves(path, files)

    def person_commits(self, branch: str, files: dict[str, str]) -> str:
        return self._repository.commit(branch, files, "work")

    def person_leaves(self, files: dict[str, str]) -> None:
        self._repository.changes |= files

    def person_creates(self, branch: str, start: str) -> None:
        self._repository.heads[branch] = start

    def vanish(self, path: str) -> None:
        self._worktrees.vanish(path)

    def tip(self, branch: str) -> str | None:
        return self._repository.heads.get(branch)

    def read(self, commit: str, name: str) -> str | None:
        return self._repository.commits[commit].files.get(name)

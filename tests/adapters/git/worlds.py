"""A repository people and agents work in, once real and once in memory, with the same words for both."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from adapters.git import GitRepository, GitWorktrees
from bot.ports import Repository, Worktrees
from tests.fakes.repository import FakeRepository
from tests.fakes.worktrees import FakeWorktrees

BRANCH = "agent/login"
"""The one most worktrees of tests are on."""
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
    """With one commit. It is a copy of one that was made before: git itself takes ten times as long."""
    content = files or {"README.md": "hello\n", "code.py": "one = 1\n"}
    top.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(_template(tuple(content.items())), top, symlinks=True)
    return top


@functools.cache
def _template(files: tuple[tuple[str, str], ...]) -> Path:
    top = Path(tempfile.mkdtemp(prefix="gwt-template-"))
    atexit.register(_remove, top, os.getpid())
    git(top, "init", "--quiet", "--initial-branch=main")
    write(top, dict(files))
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "first")
    return top


def _remove(top: Path, maker: int) -> None:
    """When the tests are over, and not with each process that was forked off them."""
    if os.getpid() == maker:
        shutil.rmtree(top, ignore_errors=True)


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

    def person_ignores(self, files: dict[str, str]) -> None:
        """Files of the main checkout that git ignores, there and in worktrees."""
        ...

    def person_moves(self, branch: str, commit: str) -> None: ...

    def person_deletes(self, branch: str) -> None: ...

    def somebody_commits_elsewhere(self, files: dict[str, str]) -> tuple[str, str]:
        """Another repository with the same history and a commit more: its path and the commit."""
        ...

    def vanish(self, path: str) -> None: ...

    def lies(self, path: str, name: str) -> str | None:
        """What is in a file of a worktree, committed or not."""
        ...

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

    def person_ignores(self, files: dict[str, str]) -> None:
        write(self.top, files)
        exclude = self.top / ".git" / "info" / "exclude"
        with exclude.open("a") as lines:
            lines.writelines(f"/{name}\n" for name in files)

    def person_moves(self, branch: str, commit: str) -> None:
        git(self.top, "update-ref", f"refs/heads/{branch}", commit)

    def person_deletes(self, branch: str) -> None:
        git(self.top, "update-ref", "-d", f"refs/heads/{branch}")

    def somebody_commits_elsewhere(self, files: dict[str, str]) -> tuple[str, str]:
        elsewhere = self.top.parent / "elsewhere"
        git(self.top.parent, "clone", "--quiet", "--no-local", str(self.top), str(elsewhere))
        return str(elsewhere), self.agent_commits(str(elsewhere), files)

    def vanish(self, path: str) -> None:
        shutil.rmtree(path)

    def lies(self, path: str, name: str) -> str | None:
        file = Path(path) / name
        return file.read_text() if file.exists() else None

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
        self._elsewhere = FakeRepository(path="/elsewhere")
        self._worktrees = FakeWorktrees(self._repository, self._elsewhere)
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

    def person_ignores(self, files: dict[str, str]) -> None:
        self._repository.ignored |= files

    def person_moves(self, branch: str, commit: str) -> None:
        self._repository.heads[branch] = commit

    def person_deletes(self, branch: str) -> None:
        del self._repository.heads[branch]

    def somebody_commits_elsewhere(self, files: dict[str, str]) -> tuple[str, str]:
        self._elsewhere.commits = dict(self._repository.commits)
        self._elsewhere.heads = dict(self._repository.heads)
        return self._elsewhere.path, self._elsewhere.commit("main", files, "work")

    def vanish(self, path: str) -> None:
        self._worktrees.vanish(path)

    def lies(self, path: str, name: str) -> str | None:
        here = self._worktrees.standing[path]
        committed = self._repository.commits[here.head].files
        return {**committed, **here.copied, **here.left}.get(name)

    def tip(self, branch: str) -> str | None:
        return self._repository.heads.get(branch)

    def read(self, commit: str, name: str) -> str | None:
        return self._repository.commits[commit].files.get(name)

"""A repository in which somebody hostile works, and all that the bot does there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from adapters.git import GitRepository, GitWorktrees
from tests.adapters.git.worlds import BRANCH, git, new_repository, write


class Scene:
    """A repository with one worktree, an agent in it, and a program that must never run."""

    def __init__(self, directory: Path) -> None:
        self.top = new_repository(directory / "repository", {"code.py": "1\n", "b.txt": "b\n"})
        self.path = self.top / ".worktrees" / "agent-login"
        self.marker = directory / "RAN"
        self.evil = directory / "evil"
        self.evil.write_text(f"#!/bin/sh\ntouch {self.marker}\ncat\n")
        self.evil.chmod(0o755)
        self.worktrees = GitWorktrees(directory / "home")
        self.repository = GitRepository(directory / "home")
        self.first = git(self.top, "rev-parse", "HEAD")

    @property
    def admin(self) -> Path:
        return self.top / ".git" / "worktrees" / "agent-login"

    def config(self, key: str, value: str) -> None:
        git(self.top, "config", key, value)

    def attributes(self, line: str) -> None:
        write(self.path, {".gitattributes": line, "code.py": "22\n"})
        (self.top / ".git" / "info" / "attributes").write_text(line)

    async def prepare(self) -> None:
        await self.worktrees.prepare(str(self.top), BRANCH, str(self.path), self.first)


def every_call(scene: Scene) -> list[Callable[[], Awaitable[object]]]:
    top, path, first = str(scene.top), str(scene.path), scene.first
    here, there = scene.worktrees, scene.repository
    scratch = str(scene.top / ".worktrees" / "scratch")
    other = str(scene.top / ".worktrees" / "agent-other")
    return [
        lambda: here.work(path, first),
        lambda: here.diff(path, first, 10_000),
        lambda: here.changed(path, first, ("code.py", ".claude/settings.json")),
        lambda: there.read(top, first, ("code.py", "b.txt")),
        lambda: here.commit_files(path, {"specs/x.md": "x\n"}, "docs: x"),
        lambda: here.prepare(top, BRANCH, path, first),
        lambda: here.prepare(top, "agent/other", other, first),
        lambda: here.merge(path, "main", "merge"),
        lambda: here.merge_all(top, "main", {BRANCH: first}, scratch),
        lambda: here.remove_scratch(top, scratch),
        lambda: here.log(top, first, BRANCH),
        lambda: here.merge(path, "main", "merge", plan="specs"),
        lambda: here.collisions(top, (BRANCH, "main")),
        lambda: here.copy_ignored(top, path, ("b.txt", "specs/**")),
        lambda: here.import_commit(top, top, first),
        lambda: here.move_base(top, "main", BRANCH),
        lambda: here.remove(top, path, BRANCH, "main"),
        lambda: there.base(top),
        lambda: there.base(path),
        lambda: there.scan(top, first),
        lambda: there.branches(top),
        lambda: there.checkout(top),
        lambda: there.commit_exists(top, first),
    ]

"""The bot keeps its own files to itself; files in people's repositories get people's modes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.git import GitWorktrees
from tests.adapters.git.worlds import git, new_repository


@pytest.fixture
def private() -> Iterator[None]:
    old = os.umask(0o077)
    yield
    os.umask(old)


@pytest.mark.usefixtures("private")
async def test_files_git_writes_have_the_operators_modes(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "repository")
    path = repository / ".worktrees" / "agent-a"
    worktrees = GitWorktrees(tmp_path / "home", umask=0o022)
    await worktrees.prepare(
        str(repository), "agent/a", str(path), git(repository, "rev-parse", "HEAD")
    )
    modes = {
        file.stat().st_mode & 0o777
        for file in path.iterdir()
        if file.is_file() and file.name != ".git"
    }
    assert modes == {0o644}

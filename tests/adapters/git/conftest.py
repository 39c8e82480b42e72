"""A real repository with one commit, and a worktree of the bot's in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.git.worlds import BRANCH, RealWorld, git


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    return RealWorld(tmp_path)


@pytest.fixture
def first(world: RealWorld) -> str:
    """The commit everything starts from."""
    return git(world.top, "rev-parse", "HEAD")


@pytest.fixture
async def path(world: RealWorld, first: str) -> Path:
    """A worktree on BRANCH."""
    here = world.at("agent-login")
    await world.worktrees.prepare(world.path, BRANCH, here, first)
    return Path(here)

"""What people have set for merges of their own is no matter: the bot's merges end with a commit, and put nothing aside."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import Refused
from tests.adapters.git.worlds import RealWorld, git, write

BRANCH = "agent/login"


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    return RealWorld(tmp_path)


def _ahead(world: RealWorld, files: dict[str, str]) -> str:
    top = Path(world.path)
    git(top, "switch", "--quiet", "--create", "ahead")
    write(top, files)
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "ahead")
    git(top, "switch", "--quiet", "main")
    return git(top, "rev-parse", "ahead")


async def test_a_base_that_is_merged_by_squashing_is_moved(world: RealWorld) -> None:
    new = _ahead(world, {"new.py": "two = 2\n"})
    git(world.path, "config", "branch.main.mergeOptions", "--squash")
    await world.worktrees.move_base(world.path, "main", new)
    assert world.tip("main") == new


async def test_a_merge_that_would_not_commit_does(world: RealWorld) -> None:
    start = world.tip("main") or ""
    _ahead(world, {"new.py": "two = 2\n"})
    here = world.at("agent-login")
    await world.worktrees.prepare(world.path, BRANCH, here, start)
    git(world.path, "config", f"branch.{BRANCH}.mergeOptions", "--no-commit")
    merged = await world.worktrees.merge(here, "ahead", "merge")
    assert merged.commit != start
    assert merged.commit == world.tip(BRANCH)


async def test_what_stands_in_the_way_is_not_put_aside(world: RealWorld) -> None:
    world.person_commits("main", {".forge/a.yaml": "a: 1\n"})
    new = _ahead(world, {".forge/a.yaml": "a: 2\n"})
    git(world.path, "config", "merge.autoStash", "true")
    write(Path(world.path), {".forge/a.yaml": "a: mine\n"})
    with pytest.raises(Refused):
        await world.worktrees.move_base(world.path, "main", new)
    assert (Path(world.path) / ".forge/a.yaml").read_text() == "a: mine\n"

"""The registry in the main checkout is nobody's uncommitted work, whether git is told of it or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.git.worlds import RealWorld, git


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    return RealWorld(tmp_path)


async def test_no_status_shows_a_hidden_folder(world: RealWorld) -> None:
    world.person_leaves({".forge/intents/a.yaml": "title: A\n"})
    for _ in range(2):
        await world.worktrees.hide(world.path, ".forge")
    assert git(world.path, "status", "--porcelain") == ""
    assert (world.lies(world.path, ".git/info/exclude") or "").count("/.forge/") == 1


async def test_what_the_repository_tracks_is_not_hidden_and_hinders_nothing(
    world: RealWorld,
) -> None:
    world.person_commits("main", {".forge/intents/a.yaml": "title: A\n"})
    await world.worktrees.hide(world.path, ".forge")
    before = await world.repository.checkout(world.path)
    world.person_leaves({".forge/intents/a.yaml": "title: B\n", ".forge/intents/b.yaml": "x\n"})
    assert "/.forge/" not in (world.lies(world.path, ".git/info/exclude") or "")
    assert git(world.path, "status", "--porcelain") != ""
    assert (await world.repository.base(world.path)).uncommitted == 0
    assert (await world.repository.checkout(world.path)).touched_since(before) == ()
    path = world.at("agent-x")
    await world.worktrees.prepare(world.path, "agent/x", path, world.tip("main") or "")
    commit = world.agent_commits(path, {"new.py": "x = 1\n"})
    await world.worktrees.move_base(world.path, "main", commit)
    assert world.tip("main") == commit
    assert world.lies(world.path, ".forge/intents/a.yaml") == "title: B\n"

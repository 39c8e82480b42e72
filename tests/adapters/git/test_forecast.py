"""Forecasts of collisions in a real repository: it does not grow, and nothing of its configuration runs."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from adapters.git import GitWorktrees
from tests.adapters.git.worlds import RealWorld, git, write

ONE, OTHER = "agent/one", "agent/other"


@pytest.fixture
async def world(tmp_path: Path) -> RealWorld:
    """Two branches that change the same lines of everything."""
    world = RealWorld(tmp_path)
    world.person_commits("main", {".gitattributes": "NEWS merge=union\n", "NEWS": "old\n"})
    for branch in (ONE, OTHER):
        path = world.at(branch.replace("/", "-"))
        await world.worktrees.prepare(world.path, branch, path, world.tip("main") or "")
        world.agent_commits(path, {"code.py": f"{branch}\n", "NEWS": f"old\n{branch}\n"})
    return world


def snapshot(top: Path) -> dict[str, bytes]:
    files = (file for file in sorted((top / ".git").rglob("*")) if file.is_file())
    return {str(file.relative_to(top)): file.read_bytes() for file in files}


async def test_the_repository_does_not_change_by_a_byte(world: RealWorld, tmp_path: Path) -> None:
    before = snapshot(world.top)
    assert await world.worktrees.collisions(world.path, (ONE, OTHER))
    assert snapshot(world.top) == before


async def test_what_the_repository_merges_by_union_is_no_collision(world: RealWorld) -> None:
    (found,) = await world.worktrees.collisions(world.path, (ONE, OTHER))
    assert found.files == ("code.py",)


async def test_a_merge_driver_of_a_person_s_is_not_run(tmp_path: Path) -> None:
    world = RealWorld(tmp_path)
    git(world.top, "config", "merge.x.driver", f"touch {tmp_path}/RAN; exit 0")
    world.person_commits("main", {".gitattributes": "* merge=x\n"})
    for branch in (ONE, OTHER):
        path = world.at(branch.replace("/", "-"))
        await world.worktrees.prepare(world.path, branch, path, world.tip("main") or "")
        world.agent_commits(path, {"code.py": f"{branch}\n"})
    (found,) = await world.worktrees.collisions(world.path, (ONE, OTHER))
    assert found.files == ("code.py",)
    assert not (tmp_path / "RAN").exists()


async def test_a_branch_without_common_history_is_passed_over(
    world: RealWorld, caplog: pytest.LogCaptureFixture
) -> None:
    empty = git(world.top, "hash-object", "-t", "tree", "-w", "/dev/null")
    stranger = git(world.top, "commit-tree", "-m", "stranger", empty)
    git(world.top, "branch", "agent/stranger", stranger)
    found = await world.worktrees.collisions(world.path, ("agent/stranger", ONE, OTHER))
    assert [(one.one, one.other) for one in found] == [(ONE, OTHER)]
    assert "no forecast" in caplog.text


async def test_of_many_branches_the_first_pairs_are_tried(world: RealWorld) -> None:
    tip = world.tip("main") or ""
    many = [f"agent/x{n}" for n in range(12)]
    for branch in many:
        git(world.top, "branch", branch, tip)
    assert await world.worktrees.collisions(world.path, (*many, ONE, OTHER)) == ()
    assert len(await world.worktrees.collisions(world.path, (ONE, OTHER, *many))) == 1


async def test_an_older_git_makes_no_forecast_and_says_so_once(
    world: RealWorld, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, {"bin/git": '#!/bin/sh\ncase " $* " in *" version "*) echo git version 2.37.1;; *) exec git_real "$@";; esac\n'})  # fmt: skip
    (tmp_path / "bin" / "git").chmod(0o755)
    (tmp_path / "bin" / "git_real").symlink_to(Path(git(world.top, "--exec-path")) / "git")
    old = GitWorktrees(world.home, {"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert await old.collisions(world.path, (ONE, OTHER)) == ()
    assert caplog.text.count("no forecasts") == 1


async def test_a_forecast_while_agents_commit_disturbs_nobody(world: RealWorld) -> None:
    def commits() -> None:
        for n in range(8):
            world.agent_commits(world.at("agent-one"), {f"file{n}": "x\n"})

    working = asyncio.create_task(asyncio.to_thread(commits))
    while not working.done():
        assert len(await world.worktrees.collisions(world.path, (ONE, OTHER))) == 1
    await working

"""A repository is moved with the bot's worktrees in it: what was the bot's still is, and nothing else."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from adapters.git import GitRepository, GitWorktrees
from bot.core.errors import Away, Refused
from tests.adapters.git.worlds import RealWorld, git, new_repository

BRANCH = "agent/login"


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    return RealWorld(tmp_path)


async def moved(world: RealWorld) -> tuple[Path, str]:
    """With a worktree in which an agent has worked. Where it lies now, and the agent's commit."""
    first = world.tip("main") or ""
    await world.worktrees.prepare(world.path, BRANCH, world.at("agent-login"), first)
    commit = world.agent_commits(world.at("agent-login"), {"login.py": "x\n"})
    there = world.top.parent / "moved here"
    world.top.rename(there)
    return there, commit


@pytest.mark.covers("O-P5")
async def test_its_worktrees_work_where_it_lies_now(world: RealWorld) -> None:
    there, commit = await moved(world)
    for _ in range(2):
        await world.worktrees.relink(world.path, str(there))
    path = str(there / ".worktrees" / "agent-login")
    assert git(path, "rev-parse", "HEAD") == commit
    assert await world.worktrees.prepare(str(there), BRANCH, path, commit) == commit
    removal = await world.worktrees.remove(str(there), path, BRANCH, None)
    assert (removal.worktree_gone, removal.branch_gone) == (True, False), removal
    assert len(git(there, "worktree", "list").splitlines()) == 1


async def test_killed_half_way_it_is_finished_by_doing_it_again(world: RealWorld) -> None:
    """The ledger has followed, and git was not told yet."""
    there, commit = await moved(world)
    ledger = next((world.home / "repositories").glob("*.json"))
    kept = ledger.read_bytes()
    await world.worktrees.relink(world.path, str(there))
    ledger.write_bytes(kept)
    git(there, "worktree", "repair")
    await world.worktrees.relink(world.path, str(there))
    path = str(there / ".worktrees" / "agent-login")
    assert await world.worktrees.prepare(str(there), BRANCH, path, commit) == commit
    assert not ledger.exists()


async def test_what_could_run_code_is_compared_there_too(world: RealWorld) -> None:
    there, _ = await moved(world)
    git(there, "config", "core.fsmonitor", "touch /tmp/never")
    with pytest.raises(Refused, match=r"configuration was changed.*core\.fsmonitor"):
        await world.worktrees.relink(world.path, str(there))


async def test_what_was_kept_for_worktrees_where_it_lay_is_let_go(world: RealWorld) -> None:
    let_go: list[str] = []

    async def told(path: str) -> None:
        await asyncio.sleep(0)
        let_go.append(path)

    there, _ = await moved(world)
    worktrees = GitWorktrees(world.home, let_go=told)
    for _ in range(2):
        await worktrees.relink(world.path, str(there))
    assert let_go == [f"{world.path}/.worktrees/agent-login"]


async def test_one_that_is_missing_or_another_is_told_from_one_that_is_there(
    world: RealWorld,
) -> None:
    first = world.tip("main") or ""
    await world.repository.require(world.path, first)
    shutil.rmtree(world.top / ".git")
    with pytest.raises(Away, match="repository not found at"):
        await world.repository.require(world.path, first)
    world.top.rename(world.top.parent / "old")
    with pytest.raises(Away, match="repository not found at"):
        await world.repository.require(world.path, first)
    new_repository(world.top, {"another.py": "1\n"})
    with pytest.raises(Away, match="another one stands there"):
        await world.repository.require(world.path, first)


async def test_the_pages_of_two_sessions_become_one(world: RealWorld) -> None:
    """A second bot object has made something where it lies now, before the first one is told."""
    there, commit = await moved(world)
    worktrees, repository = GitWorktrees(world.home), GitRepository(world.home)
    new = str(there / ".worktrees" / "agent-other")
    await worktrees.prepare(str(there), "agent/other", new, commit)
    await world.worktrees.relink(world.path, str(there))
    for name, path in ((BRANCH, str(there / ".worktrees" / "agent-login")), ("agent/other", new)):
        assert await worktrees.prepare(str(there), name, path, commit) == commit
    await repository.require(str(there), commit)

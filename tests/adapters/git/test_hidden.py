"""An agent can tell git not to look at a file: what it has changed there is uncommitted work all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.git.worlds import RealWorld, git

BRANCH = "agent/login"


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    return RealWorld(tmp_path)


@pytest.fixture
async def path(world: RealWorld) -> Path:
    world.person_commits("main", {"tests/test_login.py": "assert login()\n", "login.py": "x\n"})
    here = world.at("agent-login")
    await world.worktrees.prepare(world.path, BRANCH, here, world.tip("main") or "")
    return Path(here)


def hide(path: Path, how: str, file: str, change: str) -> None:
    """Git is told not to look at it, and then it is changed."""
    git(path, "update-index", how, file)
    (path / file).write_text(change)


@pytest.mark.parametrize("how", ["--skip-worktree", "--assume-unchanged"])
async def test_a_change_that_no_status_shows_is_not_committed(
    world: RealWorld, path: Path, how: str
) -> None:
    hide(path, how, "tests/test_login.py", "assert True\n")
    assert git(path, "status", "--porcelain") == ""
    work = await world.worktrees.work(str(path), world.tip("main") or "")
    assert work.uncommitted == ("tests/test_login.py",)
    git(path, "update-index", how.replace("--", "--no-"), "tests/test_login.py")
    git(path, "checkout", "--", "tests/test_login.py")
    assert (await world.worktrees.work(str(path), world.tip("main") or "")).uncommitted == ()


async def test_what_a_sparse_checkout_leaves_out_is_no_change(world: RealWorld, path: Path) -> None:
    git(path, "update-index", "--skip-worktree", "tests/test_login.py")
    (path / "tests/test_login.py").unlink()
    assert (await world.worktrees.work(str(path), world.tip("main") or "")).uncommitted == ()


@pytest.mark.parametrize("how", ["--skip-worktree", "--assume-unchanged"])
async def test_a_worktree_with_a_change_that_no_status_shows_stays(
    world: RealWorld, path: Path, how: str
) -> None:
    hide(path, how, "login.py", "mine\n")
    removal = await world.worktrees.remove(world.path, str(path), BRANCH, "main")
    assert not removal.worktree_gone
    assert (path / "login.py").read_text() == "mine\n"

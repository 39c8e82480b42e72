"""What every Worktrees must keep of the end of a branch: what proves that it may go, and what people did to it by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import Refused
from tests.adapters.git.worlds import FakeWorld, RealWorld, World

BRANCH = "agent/login"
PLAN = "specs/SPEC-1"


@pytest.fixture(params=["fake", "real"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return FakeWorld() if request.param == "fake" else RealWorld(tmp_path)


@pytest.fixture
async def first(world: World) -> str:
    """The commit everything starts from."""
    return (await world.repository.base(world.path)).commit


@pytest.fixture
async def path(world: World, first: str) -> str:
    """A worktree on BRANCH."""
    here = world.at("agent-login")
    await world.worktrees.prepare(world.path, BRANCH, here, first)
    return here


@pytest.mark.parametrize("into", ["main", None])
async def test_a_branch_at_the_very_commit_that_was_merged_elsewhere_may_go(
    world: World, path: str, into: str | None
) -> None:
    tip = world.agent_commits(path, {"login.py": "x\n"})
    world.person_commits("main", {"login.py": "x\n", "more.py": "m\n"})  # squashed
    for _ in range(2):
        removal = await world.worktrees.remove(world.path, path, BRANCH, into, tip)
        assert (removal.worktree_gone, removal.branch_gone, removal.reason) == (True, True, "")
    assert world.tip(BRANCH) is None


@pytest.mark.parametrize("into", ["main", None])
async def test_a_branch_that_went_on_after_it_was_merged_stays(
    world: World, path: str, into: str | None
) -> None:
    tip = world.agent_commits(path, {"login.py": "x\n"})
    later = world.agent_commits(path, {"login.py": "y\n"})
    removal = await world.worktrees.remove(world.path, path, BRANCH, into, tip)
    assert (removal.worktree_gone, removal.branch_gone) == (False, False)
    assert "merged" in removal.reason
    assert world.tip(BRANCH) == later


async def test_uncommitted_work_stays_although_its_branch_was_merged(
    world: World, path: str
) -> None:
    tip = world.agent_commits(path, {"login.py": "x\n"})
    world.agent_leaves(path, {"notes.txt": "n\n"})
    removal = await world.worktrees.remove(world.path, path, BRANCH, None, tip)
    assert (removal.worktree_gone, removal.branch_gone) == (False, False)
    assert "notes.txt" in removal.reason


async def test_documents_may_go_once_they_are_the_same_where_they_were_merged(
    world: World, path: str
) -> None:
    world.agent_commits(path, {f"{PLAN}/spec.md": "s\n"})
    world.agent_commits(path, {f"{PLAN}/plan.md": "p\n"})
    world.person_commits("main", {f"{PLAN}/spec.md": "s\n", f"{PLAN}/plan.md": "p\n", "x": "x\n"})
    kept = await world.worktrees.remove(world.path, path, BRANCH, "main")
    assert not kept.branch_gone
    removal = await world.worktrees.remove(world.path, path, BRANCH, "main", plan=PLAN)
    assert (removal.worktree_gone, removal.branch_gone, removal.reason) == (True, True, "")


@pytest.mark.parametrize(
    "lost", [f"{PLAN}/plan.md", "code.py"], ids=["of the plan", "outside the plan"]
)
async def test_a_plan_s_branch_with_anything_else_stays(world: World, path: str, lost: str) -> None:
    world.agent_commits(path, {f"{PLAN}/spec.md": "s\n", lost: "only here\n"})
    world.person_commits("main", {f"{PLAN}/spec.md": "s\n"})
    removal = await world.worktrees.remove(world.path, path, BRANCH, "main", plan=PLAN)
    assert (removal.worktree_gone, removal.branch_gone) == (False, False)
    assert lost in removal.reason


async def test_a_branch_with_more_than_documents_needs_a_better_proof(
    world: World, path: str
) -> None:
    files = {f"{PLAN}/spec.md": "s\n", "code.py": "the same\n"}
    world.agent_commits(path, files)
    world.person_commits("main", {**files, "more.py": "m\n"})
    removal = await world.worktrees.remove(world.path, path, BRANCH, "main", plan=PLAN)
    assert (removal.worktree_gone, removal.branch_gone) == (False, False)
    assert "code.py" in removal.reason


async def test_a_branch_deleted_by_hand_is_told_and_not_begun_anew(
    world: World, path: str, first: str
) -> None:
    commit = world.agent_commits(path, {"login.py": "x\n"})
    world.person_deletes(BRANCH)
    with pytest.raises(Refused, match="is gone"):
        await world.worktrees.work(path, first)
    with pytest.raises(Refused, match="is gone"):
        await world.worktrees.prepare(world.path, BRANCH, path, first)
    world.vanish(path)
    with pytest.raises(Refused, match="is gone"):
        await world.worktrees.prepare(world.path, BRANCH, path, first)
    assert world.tip(BRANCH) is None
    world.person_creates(BRANCH, commit)
    assert await world.worktrees.prepare(world.path, BRANCH, path, first) == commit


@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_branch_whose_worktree_was_given_up_can_be_begun_anew(
    world: World, path: str, first: str, by_hand: bool
) -> None:
    world.agent_commits(path, {"login.py": "x\n"})
    if by_hand:
        world.vanish(path)
    else:
        await world.worktrees.remove(world.path, path, BRANCH, None)
    world.person_deletes(BRANCH)
    removal = await world.worktrees.remove(world.path, path, BRANCH, None)
    assert (removal.worktree_gone, removal.branch_gone, removal.reason) == (True, True, "")
    assert await world.worktrees.prepare(world.path, BRANCH, path, first) == first


async def test_a_branch_moved_by_hand_off_its_beginning_is_told(world: World, path: str) -> None:
    first = world.tip("main") or ""
    world.person_commits("main", {"base.py": "b\n"})
    later, here = world.tip("main") or "", world.at("agent-later")
    await world.worktrees.prepare(world.path, "agent/later", here, later)
    world.person_moves("agent/later", first)
    with pytest.raises(Refused, match="moved by hand"):
        await world.worktrees.work(here, later)
    with pytest.raises(Refused, match="moved by hand"):
        await world.worktrees.prepare(world.path, "agent/later", here, later)
    assert world.tip("agent/later") == first


async def test_a_branch_that_began_before_a_newer_start_is_no_surprise(
    world: World, path: str, first: str
) -> None:
    commit = world.agent_commits(path, {"login.py": "x\n"})
    later = world.person_commits("main", {"base.py": "b\n"})
    assert await world.worktrees.prepare(world.path, BRANCH, path, later) == commit
    assert (await world.worktrees.work(path, first)).head == commit


async def test_a_base_moved_by_hand_touches_no_work(world: World, path: str, first: str) -> None:
    commit = world.agent_commits(path, {"login.py": "x\n"})
    await world.worktrees.move_base(world.path, "main", commit)
    world.person_moves("main", first)
    assert (await world.worktrees.work(path, first)).head == commit
    assert await world.worktrees.prepare(world.path, BRANCH, path, first) == commit
    removal = await world.worktrees.remove(world.path, path, BRANCH, "main")
    assert "not merged" in removal.reason
    assert world.tip(BRANCH) == commit

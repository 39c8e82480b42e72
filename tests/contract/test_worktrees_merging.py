"""What every Worktrees must keep of merges: of documents, of commits from elsewhere, and of those that only might be."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import Refused
from bot.core.git import Collision
from tests.adapters.git.worlds import FakeWorld, RealWorld, World

BRANCH = "agent/login"
OTHER = "agent/other"
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


@pytest.fixture
async def other(world: World, first: str) -> str:
    """A worktree on OTHER."""
    here = world.at("agent-other")
    await world.worktrees.prepare(world.path, OTHER, here, first)
    return here


async def test_a_commit_can_be_merged_as_well_as_a_branch(
    world: World, path: str, other: str
) -> None:
    commit = world.agent_commits(other, {"other.py": "o\n"})
    world.agent_commits(other, {"later.py": "l\n"})
    merged = await world.worktrees.merge(path, commit, "Merge")
    assert world.read(merged.commit, "other.py") == "o\n"
    assert world.read(merged.commit, "later.py") is None


async def test_a_collision_in_the_plan_alone_is_settled_with_the_worktree_s_copy(
    world: World, path: str, other: str
) -> None:
    world.agent_commits(other, {f"{PLAN}/plan.md": "theirs\n", "other.py": "o\n"})
    world.agent_commits(path, {f"{PLAN}/plan.md": "ours\n"})
    merged = await world.worktrees.merge(path, OTHER, "Merge", plan=PLAN)
    assert merged.conflicts == ()
    assert world.tip(BRANCH) == merged.commit
    assert world.read(merged.commit, f"{PLAN}/plan.md") == "ours\n"
    assert world.read(merged.commit, "other.py") == "o\n"
    assert await world.worktrees.merge(path, OTHER, "Merge", plan=PLAN) == merged


async def test_of_other_collisions_only_those_outside_the_plan_are_named(
    world: World, path: str, other: str, first: str
) -> None:
    world.agent_commits(other, {f"{PLAN}/plan.md": "theirs\n", "code.py": "one = 3\n"})
    mine = world.agent_commits(path, {f"{PLAN}/plan.md": "ours\n", "code.py": "one = 2\n"})
    merged = await world.worktrees.merge(path, OTHER, "Merge", plan=PLAN)
    assert merged.conflicts == ("code.py",)
    work = await world.worktrees.work(path, first)
    assert (work.head, work.uncommitted) == (mine, ())


@pytest.mark.parametrize("plan", ["", "specs/SPEC-10", "specs/SPEC"])
async def test_documents_of_no_plan_or_another_one_collide_as_ever(
    world: World, path: str, other: str, plan: str
) -> None:
    world.agent_commits(other, {f"{PLAN}/plan.md": "theirs\n"})
    world.agent_commits(path, {f"{PLAN}/plan.md": "ours\n"})
    merged = await world.worktrees.merge(path, OTHER, "Merge", plan=plan)
    assert merged.conflicts == (f"{PLAN}/plan.md",)


@pytest.mark.covers("G-EDGE-2")
async def test_branches_that_would_collide_are_told_pair_by_pair(
    world: World, path: str, other: str, first: str
) -> None:
    third = world.at("agent-third")
    await world.worktrees.prepare(world.path, "agent/third", third, first)
    world.agent_commits(path, {"code.py": "one = 2\n"})
    world.agent_commits(other, {"code.py": "one = 3\n"})
    world.agent_commits(third, {"third.py": "t\n"})
    found = await world.worktrees.collisions(world.path, (BRANCH, "agent/third", OTHER))
    assert found == (Collision(one=BRANCH, other=OTHER, files=("code.py",)),)


async def test_looking_for_collisions_changes_nothing(
    world: World, path: str, other: str, first: str
) -> None:
    mine = world.agent_commits(path, {"code.py": "one = 2\n"})
    theirs = world.agent_commits(other, {"code.py": "one = 3\n"})
    world.agent_leaves(path, {"notes.txt": "n\n"})
    await world.worktrees.collisions(world.path, (BRANCH, OTHER))
    assert (world.tip(BRANCH), world.tip(OTHER), world.tip("main")) == (mine, theirs, first)
    assert (await world.worktrees.work(path, first)).uncommitted == ("notes.txt",)


async def test_of_collisions_a_branch_that_is_gone_has_none(
    world: World, path: str, other: str
) -> None:
    world.agent_commits(path, {"code.py": "one = 2\n"})
    world.agent_commits(other, {"code.py": "one = 3\n"})
    found = await world.worktrees.collisions(world.path, ("agent/gone", BRANCH, OTHER, BRANCH))
    assert [(one.one, one.other) for one in found] == [(BRANCH, OTHER)]
    assert await world.worktrees.collisions(world.path, (BRANCH,)) == ()


async def test_a_commit_of_another_repository_is_taken_in_on_no_branch_and_can_be_merged(
    world: World, path: str
) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    assert not await world.repository.commit_exists(world.path, commit)
    branches = await world.repository.branches(world.path)
    for _ in range(2):
        await world.worktrees.take_in(world.path, elsewhere, commit)
    assert await world.repository.commit_exists(world.path, commit)
    assert await world.repository.branches(world.path) == branches
    merged = await world.worktrees.merge(path, commit, "Merge the base")
    assert world.read(merged.commit, "theirs.py") == "t\n"


async def test_what_was_built_on_squashed_work_takes_in_the_squash_and_collides_only_for_a_reason(
    world: World, path: str, other: str
) -> None:
    """OTHER is built on BRANCH, which goes on, and is squashed into a base that has moved besides."""
    world.agent_commits(path, {"code.py": "begun\n"})
    await world.worktrees.merge(other, BRANCH, "Build on it")
    world.agent_commits(other, {"more.py": "built upon it\n"})
    head = world.agent_commits(path, {"code.py": "reviewed\n"})
    theirs = {"code.py": "reviewed\n", "theirs.py": "t\n"}
    elsewhere, squash = world.somebody_commits_elsewhere(theirs)
    await world.worktrees.take_in(world.path, elsewhere, squash)
    collides = await world.worktrees.merge(other, squash, "Merge the base")
    assert collides.conflicts == ("code.py",), "as it is, git cannot know"
    base = await world.worktrees.with_history(world.path, squash, (head,))
    assert await world.worktrees.with_history(world.path, squash, (head,)) == base
    assert await world.worktrees.with_history(world.path, base, (head,)) == base
    merged = await world.worktrees.merge(other, base, "Merge the base")
    assert not merged.conflicts
    found = [world.read(merged.commit, name) for name in ("code.py", "theirs.py", "more.py")]
    assert found == ["reviewed\n", "t\n", "built upon it\n"]
    assert [one.subject for one in await world.worktrees.log(world.path, squash, base)] != []


async def test_what_truly_collides_after_a_squash_still_does(
    world: World, path: str, other: str
) -> None:
    world.agent_commits(path, {"code.py": "begun\n"})
    await world.worktrees.merge(other, BRANCH, "Build on it")
    world.agent_commits(other, {"code.py": "begun and built upon\n"})
    head = world.agent_commits(path, {"code.py": "reviewed\n"})
    elsewhere, squash = world.somebody_commits_elsewhere({"code.py": "reviewed\n"})
    await world.worktrees.take_in(world.path, elsewhere, squash)
    base = await world.worktrees.with_history(world.path, squash, (head,))
    assert (await world.worktrees.merge(other, base, "Merge")).conflicts == ("code.py",)


async def test_a_commit_that_is_nowhere_is_not_taken_in(world: World) -> None:
    elsewhere, _ = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    with pytest.raises(Refused):
        await world.worktrees.take_in(world.path, elsewhere, "0" * 39 + "1")

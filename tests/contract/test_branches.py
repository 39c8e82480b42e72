"""What branch mode sees and may do, on the real git and on the fake."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import Refused
from tests.adapters.git.worlds import FakeWorld, RealWorld, World


@pytest.fixture(params=["fake", "real"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return FakeWorld() if request.param == "fake" else RealWorld(tmp_path)


async def with_work(world: World, name: str = "feature/a") -> str:
    """A branch of a person's, with one commit that is nowhere else."""
    world.person_creates(name, world.tip("main") or "")
    return world.person_commits(name, {"new.py": "new = 1\n"})


@pytest.mark.covers("G-RULE-BRANCHMODE-1")
async def test_branches_of_people_and_agents_are_listed_alike(world: World) -> None:
    tip = await with_work(world)
    start = world.tip("main") or ""
    await world.worktrees.prepare(world.path, "agent/x", world.at("agent-x"), start)
    found = await world.repository.branch_list(world.path)
    by_name = {one.name: one for one in found.branches}
    assert found.base == "main"
    assert set(by_name) == {"main", "feature/a", "agent/x"}
    feature = by_name["feature/a"]
    assert (feature.commit, feature.ahead, feature.behind, feature.worktree) == (tip, 1, 0, "")
    assert by_name["agent/x"].worktree == world.at("agent-x")
    assert by_name["main"].worktree == world.path


async def test_a_name_with_an_end_of_line_in_it_passes_for_no_other_branch(world: World) -> None:
    tip = await with_work(world, "x\u2028main")
    found = await world.repository.branch_list(world.path)
    assert {one.name for one in found.branches} == {"main", "x\u2028main"}
    assert "main" in await world.repository.branches(world.path)
    assert [one.commit for one in found.branches if one.name == "main"] != [tip]


async def test_a_branch_tells_what_it_brings_and_what_would_go_with_it(world: World) -> None:
    tip = await with_work(world)
    world.person_commits("main", {"other.py": "o\n"})
    found = await world.repository.branch_details(world.path, "feature/a")
    assert (found.branch.commit, found.branch.ahead, found.branch.behind) == (tip, 1, 1)
    assert [one.sha for one in found.commits] == [tip]
    assert "new.py" in [one.path for one in found.files]
    assert (found.lost, [one.sha for one in found.only_here]) == (1, [tip])
    assert not found.merged
    assert "new.py" in await world.repository.branch_patch(world.path, "feature/a", 1_000)


async def test_a_patch_shows_what_lies_between_two_commits(world: World) -> None:
    base, tip = world.tip("main") or "", await with_work(world)
    patch = await world.repository.patch(world.path, base, tip, 1_000)
    assert "diff --git a/new.py b/new.py\nnew file mode 100644\n" in patch
    assert "+++ b/new.py\n@@ -0,0 +1 @@\n+new = 1\n" in patch
    assert await world.repository.patch(world.path, tip, tip, 1_000) == ""
    assert await world.repository.patch(world.path, base, tip, 10) == patch[:10]
    with pytest.raises(Refused, match="there is no commit"):
        await world.repository.patch(world.path, base, "0" * 40, 1_000)


async def test_what_another_branch_has_would_not_be_lost(world: World) -> None:
    tip = await with_work(world)
    world.person_creates("copy", tip)
    found = await world.repository.branch_details(world.path, "feature/a")
    assert (found.lost, found.only_here) == (0, ())


@pytest.mark.parametrize("name", ["gone", "main~1", "../main", "feature"])
async def test_what_is_no_branch_is_said_to_be_none(world: World, name: str) -> None:
    await with_work(world)
    with pytest.raises(Refused, match="there is no branch"):
        await world.repository.branch_details(world.path, name)


@pytest.mark.covers("G-RULE-BRANCHMODE-2")
async def test_a_branch_goes_once_what_would_be_lost_was_seen(world: World) -> None:
    tip = await with_work(world)
    with pytest.raises(Refused, match="nowhere else"):
        await world.worktrees.delete_branch(world.path, "feature/a", tip, 0)
    assert world.tip("feature/a") == tip
    await world.worktrees.delete_branch(world.path, "feature/a", tip, 1)
    assert world.tip("feature/a") is None
    # done twice is done once
    await world.worktrees.delete_branch(world.path, "feature/a", tip, 1)


async def test_a_branch_that_has_moved_stays(world: World) -> None:
    tip = await with_work(world)
    newer = world.person_commits("feature/a", {"new.py": "new = 2\n"})
    with pytest.raises(Refused, match="has moved since you looked"):
        await world.worktrees.delete_branch(world.path, "feature/a", tip, 9)
    assert world.tip("feature/a") == newer


async def test_what_is_checked_out_stays(world: World) -> None:
    start = world.tip("main") or ""
    await world.worktrees.prepare(world.path, "agent/x", world.at("agent-x"), start)
    for name in ("main", "agent/x"):
        with pytest.raises(Refused, match="checked out"):
            await world.worktrees.delete_branch(world.path, name, start, 9)
        assert world.tip(name) == start


async def test_a_worktree_that_is_not_needed_goes_with_its_branch_unless_work_lies_in_it(
    world: World,
) -> None:
    start, path = world.tip("main") or "", world.at("agent-x")
    await world.worktrees.prepare(world.path, "agent/x", path, start)
    world.agent_leaves(path, {"half.py": "h\n"})
    with pytest.raises(Refused, match="uncommitted changes"):
        await world.worktrees.delete_branch(world.path, "agent/x", start, 0, worktree=path)
    assert world.lies(path, "half.py") == "h\n"
    tip = world.agent_commits(path, {"half.py": "h\n"})
    await world.worktrees.delete_branch(world.path, "agent/x", tip, 1, worktree=path)
    assert world.tip("agent/x") is None

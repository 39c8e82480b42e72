"""What every Worktrees must keep, the real one and the fake."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import Refused
from tests.adapters.git.worlds import FakeWorld, RealWorld, World

BRANCH = "agent/login"


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


def tips(world: World, *branches: str) -> dict[str, str]:
    """Where they stand now."""
    return {name: world.tip(name) or "" for name in branches}


@pytest.mark.covers("G-US2.2", "G-RULE-BRANCH-9", "G-FR-004", "G-DEP-3", "B-FLOW-RUN-9")
async def test_a_prepared_worktree_stands_on_its_branch_at_the_start(
    world: World, first: str
) -> None:
    head = await world.worktrees.prepare(world.path, BRANCH, world.at("agent-login"), first)
    assert head == first == world.tip(BRANCH)
    work = await world.worktrees.work(world.at("agent-login"), first)
    assert (work.head, work.commits, work.uncommitted) == (first, (), ())


async def test_preparing_twice_keeps_what_was_done(world: World, path: str, first: str) -> None:
    commit = world.agent_commits(path, {"login.py": "x\n"})
    assert await world.worktrees.prepare(world.path, BRANCH, path, first) == commit


async def test_a_branch_of_somebody_else_is_taken(world: World, path: str, first: str) -> None:
    other = world.agent_commits(path, {"login.py": "x\n"})
    world.person_creates("agent/theirs", other)
    with pytest.raises(Refused, match=r"^taken$"):
        await world.worktrees.prepare(world.path, "agent/theirs", world.at("agent-theirs"), first)
    assert world.tip("agent/theirs") == other


async def test_a_path_with_another_branch_is_taken(world: World, path: str, first: str) -> None:
    with pytest.raises(Refused, match=r"^taken$"):
        await world.worktrees.prepare(world.path, "agent/other", path, first)


@pytest.mark.covers("G-DEP-3")
async def test_a_worktree_that_vanished_is_made_again_with_its_commits(
    world: World, path: str, first: str
) -> None:
    commit = world.agent_commits(path, {"login.py": "x\n"})
    world.vanish(path)
    assert await world.worktrees.prepare(world.path, BRANCH, path, first) == commit
    assert (await world.worktrees.work(path, first)).created_files == ("login.py",)


async def test_work_in_a_missing_worktree_is_refused(world: World, path: str, first: str) -> None:
    world.vanish(path)
    with pytest.raises(Refused, match="missing"):
        await world.worktrees.work(path, first)


@pytest.mark.covers("R-ENTITY-VerifiedFile", "R-PROPERTY-31")
async def test_work_tells_what_lies_there(world: World, path: str, first: str) -> None:
    one = world.agent_commits(path, {"login.py": "x\n", "code.py": "one = 2\n"}, "feat: login")
    world.agent_leaves(path, {"notes.txt": "n\n", "build/out.o": "o\n"})
    work = await world.worktrees.work(path, first, exclude=("build",))
    assert [(commit.sha, commit.subject) for commit in work.commits] == [(one, "feat: login")]
    assert work.created_files == ("login.py",)
    assert work.changed_files == ("code.py",)
    assert work.uncommitted == ("notes.txt",)


async def test_commits_come_newest_first(world: World, path: str, first: str) -> None:
    one = world.agent_commits(path, {"a": "1\n"})
    two = world.agent_commits(path, {"b": "2\n"})
    log = await world.worktrees.log(world.path, first, BRANCH)
    assert [commit.sha for commit in log] == [two, one]


async def test_a_diff_is_cut_at_its_limit(world: World, path: str, first: str) -> None:
    world.agent_commits(path, {"login.py": "secret word\n"})
    assert "+secret word" in await world.worktrees.diff(path, first, 10_000)
    assert len(await world.worktrees.diff(path, first, 7)) == 7


async def test_a_diff_can_end_at_a_commit_whatever_is_checked_out(
    world: World, path: str, first: str
) -> None:
    looked_at = world.agent_commits(path, {"login.py": "as it was seen\n"})
    world.agent_commits(path, {"login.py": "something else\n"})
    diff = await world.worktrees.diff(path, first, 10_000, looked_at)
    assert "+as it was seen" in diff
    assert "something else" not in diff
    with pytest.raises(Refused):
        await world.worktrees.diff(path, first, 10_000, "0" * 40)


async def test_files_are_committed_and_nothing_else(world: World, path: str, first: str) -> None:
    world.agent_leaves(path, {"notes.txt": "n\n"})
    head = await world.worktrees.commit_files(path, {"specs/s/spec.md": "# S\n"}, "docs: spec")
    assert world.read(head, "specs/s/spec.md") == "# S\n"
    assert world.read(head, "notes.txt") is None
    assert (await world.worktrees.work(path, first)).uncommitted == ("notes.txt",)


async def test_committing_the_same_files_twice_makes_one_commit(
    world: World, path: str, first: str
) -> None:
    files = {"specs/s/spec.md": "# S\n"}
    head = await world.worktrees.commit_files(path, files, "docs: spec")
    assert await world.worktrees.commit_files(path, files, "docs: spec") == head
    assert len((await world.worktrees.work(path, first)).commits) == 1


@pytest.mark.parametrize("name", ["../out", "/etc/out", "a/../../out", ".git/config", "a//b"])
async def test_a_file_outside_the_worktree_is_refused(
    world: World, path: str, first: str, name: str
) -> None:
    with pytest.raises(Refused, match="no path inside"):
        await world.worktrees.commit_files(path, {"good.md": "x\n", name: "x\n"}, "m")
    assert (await world.worktrees.work(path, first)).uncommitted == ()


@pytest.mark.covers("G-US2.3", "G-RULE-MERGE-3")
async def test_a_merge_brings_the_other_branch(world: World, path: str, first: str) -> None:
    other = world.at("agent-other")
    await world.worktrees.prepare(world.path, "agent/other", other, first)
    world.agent_commits(other, {"other.py": "o\n"})
    world.agent_commits(path, {"login.py": "x\n"})
    merged = await world.worktrees.merge(path, "agent/other", "Merge other")
    assert merged.conflicts == ()
    assert merged.commit == world.tip(BRANCH)
    assert world.read(merged.commit, "other.py") == "o\n"
    assert world.read(merged.commit, "login.py") == "x\n"
    assert await world.worktrees.merge(path, "agent/other", "Merge other") == merged


@pytest.mark.covers("G-RULE-MERGE-4")
async def test_a_conflict_is_told_and_leaves_nothing(world: World, path: str, first: str) -> None:
    other = world.at("agent-other")
    await world.worktrees.prepare(world.path, "agent/other", other, first)
    world.agent_commits(other, {"code.py": "one = 3\n", "more.py": "m\n"})
    mine = world.agent_commits(path, {"code.py": "one = 2\n"})
    merged = await world.worktrees.merge(path, "agent/other", "Merge other")
    assert merged.conflicts == ("code.py",)
    work = await world.worktrees.work(path, first)
    assert (work.head, work.uncommitted) == (mine, ())


async def test_a_merge_over_uncommitted_changes_is_refused(
    world: World, path: str, first: str
) -> None:
    other = world.at("agent-other")
    await world.worktrees.prepare(world.path, "agent/other", other, first)
    world.agent_commits(other, {"other.py": "o\n"})
    world.agent_leaves(path, {"code.py": "one = 9\n"})
    with pytest.raises(Refused, match="uncommitted"):
        await world.worktrees.merge(path, "agent/other", "Merge other")
    assert (await world.worktrees.work(path, first)).uncommitted == ("code.py",)


@pytest.mark.covers("G-RULE-FINISH-5", "G-DEP-3")
async def test_a_clean_merged_worktree_and_its_branch_are_removed(
    world: World, path: str, first: str
) -> None:
    world.agent_commits(path, {"login.py": "x\n"})
    merged = await world.worktrees.merge_all(
        world.path, "main", tips(world, BRANCH), world.at("scratch")
    )
    for _ in range(2):  # the second time there is nothing left to do
        removal = await world.worktrees.remove(world.path, path, BRANCH, merged.commit)
        assert (removal.worktree_gone, removal.branch_gone, removal.reason) == (True, True, "")
    assert world.tip(BRANCH) is None


@pytest.mark.covers("G-RULE-FINISH-4", "G-RULE-FINISH-6", "F-MOVE-7")
async def test_unmerged_commits_are_never_removed(world: World, path: str, first: str) -> None:
    commit = world.agent_commits(path, {"login.py": "x\n"})
    removal = await world.worktrees.remove(world.path, path, BRANCH, "main")
    assert (removal.worktree_gone, removal.branch_gone) == (False, False)
    assert "not merged" in removal.reason
    assert world.tip(BRANCH) == commit


@pytest.mark.covers("G-RULE-FINISH-4", "G-RULE-FINISH-5")
async def test_uncommitted_work_is_never_removed(world: World, path: str, first: str) -> None:
    world.agent_leaves(path, {"notes.txt": "n\n"})
    removal = await world.worktrees.remove(world.path, path, BRANCH, "main")
    assert (removal.worktree_gone, removal.branch_gone) == (False, False)
    assert "notes.txt" in removal.reason
    assert (await world.worktrees.work(path, first)).uncommitted == ("notes.txt",)


@pytest.mark.covers("G-RULE-FINISH-6")
async def test_without_a_merge_the_branch_is_kept_and_can_be_prepared_again(
    world: World, path: str, first: str
) -> None:
    commit = world.agent_commits(path, {"login.py": "x\n"})
    removal = await world.worktrees.remove(world.path, path, BRANCH, None)
    assert (removal.worktree_gone, removal.branch_gone) == (True, False)
    assert removal.reason
    assert world.tip(BRANCH) == commit
    assert await world.worktrees.prepare(world.path, BRANCH, path, first) == commit


@pytest.mark.covers("B-FLOW-RUN-14", "B-OP-integrateTasks")
async def test_branches_are_merged_onto_the_base_without_moving_it(
    world: World, path: str, first: str
) -> None:
    other, scratch = world.at("agent-other"), world.at("scratch")
    await world.worktrees.prepare(world.path, "agent/other", other, first)
    world.agent_commits(path, {"login.py": "x\n"})
    world.agent_commits(other, {"other.py": "o\n"})
    branches = tips(world, BRANCH, "agent/other")
    merged = await world.worktrees.merge_all(world.path, "main", branches, scratch)
    assert world.read(merged.commit, "login.py") == "x\n"
    assert world.read(merged.commit, "other.py") == "o\n"
    assert world.tip("main") == first
    assert await world.worktrees.merge_all(world.path, "main", branches, scratch) == merged
    for _ in range(2):
        await world.worktrees.remove_scratch(world.path, scratch)


async def test_a_branch_that_is_not_where_it_was_proved_is_not_merged(
    world: World, path: str, first: str
) -> None:
    proved = tips(world, BRANCH)
    world.agent_commits(path, {"login.py": "unproved\n"})
    with pytest.raises(Refused, match="moved"):
        await world.worktrees.merge_all(world.path, "main", proved, world.at("scratch"))
    assert world.tip("main") == first


@pytest.mark.covers("B-OP-integrateTasks")
async def test_a_conflict_among_branches_is_told(world: World, path: str, first: str) -> None:
    other, scratch = world.at("agent-other"), world.at("scratch")
    await world.worktrees.prepare(world.path, "agent/other", other, first)
    world.agent_commits(path, {"code.py": "one = 2\n"})
    world.agent_commits(other, {"code.py": "one = 3\n"})
    branches = tips(world, BRANCH, "agent/other")
    merged = await world.worktrees.merge_all(world.path, "main", branches, scratch)
    assert merged.conflicts == ("code.py",)
    assert world.tip("main") == first


async def test_a_task_s_worktree_is_no_scratch(world: World, path: str, first: str) -> None:
    with pytest.raises(Refused, match="taken"):
        await world.worktrees.remove_scratch(world.path, path)
    with pytest.raises(Refused, match="taken"):
        await world.worktrees.merge_all(world.path, "main", tips(world, BRANCH), path)
    assert (await world.worktrees.work(path, first)).head == first


@pytest.mark.covers("B-FLOW-RUN-14")
async def test_the_base_is_moved_forward_once(world: World, path: str) -> None:
    commit = world.agent_commits(path, {"login.py": "x\n"})
    for _ in range(2):
        await world.worktrees.move_base(world.path, "main", commit)
    assert world.tip("main") == commit
    assert (await world.repository.base(world.path)).uncommitted == 0


@pytest.mark.covers("O-I4")
async def test_a_base_that_moved_meanwhile_is_not_moved_over(world: World, path: str) -> None:
    commit = world.agent_commits(path, {"login.py": "x\n"})
    theirs = world.person_commits("main", {"theirs.py": "t\n"})
    with pytest.raises(Refused, match=r"^moved$"):
        await world.worktrees.move_base(world.path, "main", commit)
    assert world.tip("main") == theirs


@pytest.mark.covers("O-I4")
async def test_a_main_checkout_with_changes_is_not_moved(
    world: World, path: str, first: str
) -> None:
    commit = world.agent_commits(path, {"login.py": "x\n"})
    world.person_leaves({"code.py": "one = 7\n"})
    with pytest.raises(Refused, match="uncommitted"):
        await world.worktrees.move_base(world.path, "main", commit)
    assert world.tip("main") == first


async def test_a_base_nobody_has_checked_out_is_moved(world: World, path: str, first: str) -> None:
    world.person_creates("release", first)
    world.person_leaves({"code.py": "one = 7\n"})
    commit = world.agent_commits(path, {"login.py": "x\n"})
    await world.worktrees.move_base(world.path, "release", commit)
    assert (world.tip("release"), world.tip("main")) == (commit, first)


async def test_nothing_at_all_can_be_removed_too(world: World, first: str) -> None:
    removal = await world.worktrees.remove(world.path, world.at("agent-never"), "agent/never", None)
    assert (removal.worktree_gone, removal.branch_gone, removal.reason) == (True, True, "")


async def test_named_files_that_are_not_as_they_were_are_told_whether_committed_or_not(
    world: World, path: str, first: str
) -> None:
    names = ("code.py", "committed.json", "left.json", "never.json")
    assert await world.worktrees.changed(path, first, names) == {}
    world.agent_commits(path, {"committed.json": "1\n", "other.py": "1\n"})
    world.agent_leaves(path, {"left.json": "1\n"})
    before = await world.worktrees.changed(path, first, names)
    assert before.keys() == {"committed.json", "left.json"}
    assert await world.worktrees.changed(path, first, names) == before
    world.agent_leaves(path, {"left.json": "2\n"})
    after = await world.worktrees.changed(path, first, names)
    assert after["committed.json"] == before["committed.json"]
    assert after["left.json"] != before["left.json"]


async def test_what_a_command_of_the_bots_leaves_gets_into_no_commit(
    world: World, path: str, first: str
) -> None:
    world.agent_leaves(path, {"notes.md": "mine\n"})
    before = await world.worktrees.untracked(path)
    made = {"[dist]/index.js": "x\n", "web/node_modules/left/pad.js": "x\n"}
    world.agent_leaves(path, {**made, "package-lock.json": "{}\n"})
    await world.worktrees.leave_out(path, before)
    await world.worktrees.leave_out(path, before)
    assert (await world.worktrees.work(path, first)).uncommitted == ("notes.md",)
    assert await world.worktrees.untracked(path) == ("notes.md",) == before
    # no lock file is ignored: people may want to commit theirs
    world.agent_leaves(path, {"package-lock.json": "{}\n"})
    assert (await world.worktrees.work(path, first)).uncommitted == (
        "notes.md",
        "package-lock.json",
    )


async def test_what_a_killed_set_up_has_installed_gets_into_no_commit(
    world: World, path: str, first: str
) -> None:
    world.agent_leaves(path, {"node_modules/left/pad.js": "x\n", ".venv/bin/python": "x\n"})
    await world.worktrees.leave_out(path, await world.worktrees.untracked(path))
    assert (await world.worktrees.work(path, first)).uncommitted == ()

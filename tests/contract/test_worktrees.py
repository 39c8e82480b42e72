"""What every Worktrees must keep, the real one and the fake: making, committing, merging, and what proves that a branch may go."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import Refused
from bot.core.git import Collision
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
    await world.worktrees.ignore_new_files(path, before)
    await world.worktrees.ignore_new_files(path, before)
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
    await world.worktrees.ignore_new_files(path, await world.worktrees.untracked(path))
    assert (await world.worktrees.work(path, first)).uncommitted == ()


OTHER = "agent/other"

PLAN = "specs/SPEC-1"


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
        await world.worktrees.import_commit(world.path, elsewhere, commit)
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
    await world.worktrees.import_commit(world.path, elsewhere, squash)
    collides = await world.worktrees.merge(other, squash, "Merge the base")
    assert collides.conflicts == ("code.py",), "as it is, git cannot know"
    base = await world.worktrees.with_squashed_history(world.path, squash, (head,))
    assert await world.worktrees.with_squashed_history(world.path, squash, (head,)) == base
    assert await world.worktrees.with_squashed_history(world.path, base, (head,)) == base
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
    await world.worktrees.import_commit(world.path, elsewhere, squash)
    base = await world.worktrees.with_squashed_history(world.path, squash, (head,))
    assert (await world.worktrees.merge(other, base, "Merge")).conflicts == ("code.py",)


async def test_a_commit_that_is_nowhere_is_not_taken_in(world: World) -> None:
    elsewhere, _ = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    with pytest.raises(Refused):
        await world.worktrees.import_commit(world.path, elsewhere, "0" * 39 + "1")


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

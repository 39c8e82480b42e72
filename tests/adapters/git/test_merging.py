"""Merges in a real repository: as the bot means them, whatever people have set; of other repositories' commits, and of those that only might be."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from adapters.git import GitWorktrees
from bot.core.errors import PortError, Refused
from tests.adapters.git.worlds import BRANCH, RealWorld, git, write


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


def references(world: RealWorld) -> list[str]:
    return git(world.top, "for-each-ref", "--format=%(refname)").splitlines()


async def test_nothing_but_the_commit_comes_along(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    git(elsewhere, "tag", "theirs")
    git(elsewhere, "branch", "more")
    await world.worktrees.import_commit(world.path, elsewhere, commit)
    assert references(world) == [f"refs/gwt-bot/{commit}", "refs/heads/main"]
    assert not (world.top / ".git" / "FETCH_HEAD").exists()
    assert git(world.top, "branch", "--all") == "* main"
    assert git(world.top, "status", "--porcelain") == ""


async def test_a_commit_that_is_on_no_branch_there_can_be_taken_in(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    git(elsewhere, "reset", "--quiet", "--hard", "HEAD~1")
    await world.worktrees.import_commit(world.path, elsewhere, commit)
    assert git(world.top, "cat-file", "-t", commit) == "commit"


async def test_a_path_with_odd_signs_is_a_path(world: RealWorld, tmp_path: Path) -> None:
    _, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    odd = tmp_path / "odd %20 'é; $(touch x)"
    (tmp_path / "elsewhere").rename(odd)
    await world.worktrees.import_commit(world.path, str(odd), commit)
    assert git(world.top, "cat-file", "-t", commit) == "commit"


@pytest.mark.parametrize("source", ["https://127.0.0.1/x", "ext::touch x", "relative", "--upload-pack=touch x"])  # fmt: skip
async def test_only_a_directory_of_this_machine_is_a_source(world: RealWorld, source: str) -> None:
    with pytest.raises(Refused, match="no repository at"):
        await world.worktrees.import_commit(world.path, source, "1" * 40)


@pytest.mark.parametrize("commit", ["main", "HEAD", "-x", "1" * 39, "1" * 40 + "\n"])
async def test_only_a_full_hash_is_taken_in(world: RealWorld, commit: str) -> None:
    with pytest.raises(Refused, match="full hash"):
        await world.worktrees.import_commit(world.path, str(world.top), commit)


async def test_a_name_planted_in_its_place_moves_no_branch(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    first = world.tip("main")
    git(world.top, "symbolic-ref", f"refs/gwt-bot/{commit}", "refs/heads/main")
    await world.worktrees.import_commit(world.path, elsewhere, commit)
    assert world.tip("main") == first
    assert git(world.top, "rev-parse", f"refs/gwt-bot/{commit}") == commit


async def test_a_broken_commit_is_not_let_in(world: RealWorld, tmp_path: Path) -> None:
    elsewhere, first = tmp_path / "broken", world.tip("main") or ""
    git(tmp_path, "clone", "--quiet", str(world.top), str(elsewhere))
    tree = git(elsewhere, "rev-parse", "HEAD^{tree}")
    text = f"tree {tree}\nparent {first}\nauthor nobody\ncommitter nobody\n\nbroken\n"
    (tmp_path / "commit").write_text(text)
    broken = git(
        elsewhere, "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "commit")
    )
    with pytest.raises(PortError):
        await world.worktrees.import_commit(world.path, str(elsewhere), broken)
    assert references(world) == ["refs/heads/main"]


async def test_nothing_of_the_other_repository_s_runs(world: RealWorld, tmp_path: Path) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    git(elsewhere, "config", "uploadpack.packObjectsHook", f"touch {tmp_path}/RAN; exec")
    git(elsewhere, "config", "core.fsmonitor", f"touch {tmp_path}/RAN")
    git(elsewhere, "config", "core.alternateRefsCommand", f"touch {tmp_path}/RAN")
    await world.worktrees.import_commit(world.path, elsewhere, commit)
    assert not (tmp_path / "RAN").exists()


async def test_a_taken_commit_outlives_a_clean_up_of_people_s(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    await world.worktrees.import_commit(world.path, elsewhere, commit)
    git(world.top, "gc", "--quiet", "--prune=now")
    assert git(world.top, "cat-file", "-t", commit) == "commit"


async def test_taken_commits_go_with_the_last_worktree(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    first = world.tip("main") or ""
    for name in ("one", "two"):
        await world.worktrees.prepare(world.path, f"agent/{name}", world.at(name), first)
    await world.worktrees.import_commit(world.path, elsewhere, commit)
    git(world.top, "update-ref", "refs/gwt-bot/somebody-s", first)
    for name, left in (("one", True), ("two", False)):
        removal = await world.worktrees.remove(world.path, world.at(name), f"agent/{name}", commit)
        assert removal.branch_gone
        await world.worktrees.let_go(world.path, frozenset())
        assert (f"refs/gwt-bot/{commit}" in references(world)) is left
    assert "refs/gwt-bot/somebody-s" in references(world)


async def test_a_commit_that_another_plan_begins_from_stays(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    await world.worktrees.import_commit(world.path, elsewhere, commit)
    await world.worktrees.let_go(world.path, frozenset({commit}))
    git(world.top, "gc", "--quiet", "--prune=now")
    assert git(world.top, "cat-file", "-t", commit) == "commit"
    await world.worktrees.let_go(world.path, frozenset())
    assert references(world) == ["refs/heads/main"]


ONE, OTHER = "agent/one", "agent/other"


@pytest.fixture
async def two(tmp_path: Path) -> RealWorld:
    """Two branches that change the same lines of everything."""
    two = RealWorld(tmp_path)
    two.person_commits("main", {".gitattributes": "NEWS merge=union\n", "NEWS": "old\n"})
    for branch in (ONE, OTHER):
        path = two.at(branch.replace("/", "-"))
        await two.worktrees.prepare(two.path, branch, path, two.tip("main") or "")
        two.agent_commits(path, {"code.py": f"{branch}\n", "NEWS": f"old\n{branch}\n"})
    return two


def snapshot(top: Path) -> dict[str, bytes]:
    files = (file for file in sorted((top / ".git").rglob("*")) if file.is_file())
    return {str(file.relative_to(top)): file.read_bytes() for file in files}


async def test_the_repository_does_not_change_by_a_byte(two: RealWorld, tmp_path: Path) -> None:
    before = snapshot(two.top)
    assert await two.worktrees.collisions(two.path, (ONE, OTHER))
    assert snapshot(two.top) == before


async def test_what_the_repository_merges_by_union_is_no_collision(two: RealWorld) -> None:
    (found,) = await two.worktrees.collisions(two.path, (ONE, OTHER))
    assert found.files == ("code.py",)


async def test_a_merge_driver_of_a_person_s_is_not_run(tmp_path: Path) -> None:
    two = RealWorld(tmp_path)
    git(two.top, "config", "merge.x.driver", f"touch {tmp_path}/RAN; exit 0")
    two.person_commits("main", {".gitattributes": "* merge=x\n"})
    for branch in (ONE, OTHER):
        path = two.at(branch.replace("/", "-"))
        await two.worktrees.prepare(two.path, branch, path, two.tip("main") or "")
        two.agent_commits(path, {"code.py": f"{branch}\n"})
    (found,) = await two.worktrees.collisions(two.path, (ONE, OTHER))
    assert found.files == ("code.py",)
    assert not (tmp_path / "RAN").exists()


async def test_a_branch_without_common_history_is_passed_over(
    two: RealWorld, caplog: pytest.LogCaptureFixture
) -> None:
    empty = git(two.top, "hash-object", "-t", "tree", "-w", "/dev/null")
    stranger = git(two.top, "commit-tree", "-m", "stranger", empty)
    git(two.top, "branch", "agent/stranger", stranger)
    found = await two.worktrees.collisions(two.path, ("agent/stranger", ONE, OTHER))
    assert [(one.one, one.other) for one in found] == [(ONE, OTHER)]
    assert "no forecast" in caplog.text


async def test_of_many_branches_the_first_pairs_are_tried(two: RealWorld) -> None:
    tip = two.tip("main") or ""
    many = [f"agent/x{n}" for n in range(12)]
    for branch in many:
        git(two.top, "branch", branch, tip)
    assert await two.worktrees.collisions(two.path, (*many, ONE, OTHER)) == ()
    assert len(await two.worktrees.collisions(two.path, (ONE, OTHER, *many))) == 1


async def test_an_older_git_makes_no_forecast_and_says_so_once(
    two: RealWorld, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, {"bin/git": '#!/bin/sh\ncase " $* " in *" version "*) echo git version 2.37.1;; *) exec git_real "$@";; esac\n'})  # fmt: skip
    (tmp_path / "bin" / "git").chmod(0o755)
    (tmp_path / "bin" / "git_real").symlink_to(Path(git(two.top, "--exec-path")) / "git")
    old = GitWorktrees(two.home, {"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert await old.collisions(two.path, (ONE, OTHER)) == ()
    assert caplog.text.count("no forecasts") == 1


async def test_a_forecast_while_agents_commit_disturbs_nobody(two: RealWorld) -> None:
    def commits() -> None:
        for n in range(8):
            two.agent_commits(two.at("agent-one"), {f"file{n}": "x\n"})

    working = asyncio.create_task(asyncio.to_thread(commits))
    while not working.done():
        assert len(await two.worktrees.collisions(two.path, (ONE, OTHER))) == 1
    await working

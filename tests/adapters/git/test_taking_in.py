"""Commits from another real repository: exactly what was asked for, checked, on no branch, and let go at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import PortError, Refused
from tests.adapters.git.worlds import RealWorld, git

BRANCH = "agent/login"


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    return RealWorld(tmp_path)


def references(world: RealWorld) -> list[str]:
    return git(world.top, "for-each-ref", "--format=%(refname)").splitlines()


async def test_nothing_but_the_commit_comes_along(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    git(elsewhere, "tag", "theirs")
    git(elsewhere, "branch", "more")
    await world.worktrees.take_in(world.path, elsewhere, commit)
    assert references(world) == [f"refs/gwt-bot/{commit}", "refs/heads/main"]
    assert not (world.top / ".git" / "FETCH_HEAD").exists()
    assert git(world.top, "branch", "--all") == "* main"
    assert git(world.top, "status", "--porcelain") == ""


async def test_a_commit_that_is_on_no_branch_there_can_be_taken_in(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    git(elsewhere, "reset", "--quiet", "--hard", "HEAD~1")
    await world.worktrees.take_in(world.path, elsewhere, commit)
    assert git(world.top, "cat-file", "-t", commit) == "commit"


async def test_a_path_with_odd_signs_is_a_path(world: RealWorld, tmp_path: Path) -> None:
    _, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    odd = tmp_path / "odd %20 'é; $(touch x)"
    (tmp_path / "elsewhere").rename(odd)
    await world.worktrees.take_in(world.path, str(odd), commit)
    assert git(world.top, "cat-file", "-t", commit) == "commit"


@pytest.mark.parametrize("source", ["https://127.0.0.1/x", "ext::touch x", "relative", "--upload-pack=touch x"])  # fmt: skip
async def test_only_a_directory_of_this_machine_is_a_source(world: RealWorld, source: str) -> None:
    with pytest.raises(Refused, match="no repository at"):
        await world.worktrees.take_in(world.path, source, "1" * 40)


@pytest.mark.parametrize("commit", ["main", "HEAD", "-x", "1" * 39, "1" * 40 + "\n"])
async def test_only_a_full_hash_is_a_commit(world: RealWorld, commit: str) -> None:
    with pytest.raises(Refused, match="full hash"):
        await world.worktrees.take_in(world.path, str(world.top), commit)


async def test_a_name_planted_in_its_place_moves_no_branch(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    first = world.tip("main")
    git(world.top, "symbolic-ref", f"refs/gwt-bot/{commit}", "refs/heads/main")
    await world.worktrees.take_in(world.path, elsewhere, commit)
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
        await world.worktrees.take_in(world.path, str(elsewhere), broken)
    assert references(world) == ["refs/heads/main"]


async def test_nothing_of_the_other_repository_s_runs(world: RealWorld, tmp_path: Path) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    git(elsewhere, "config", "uploadpack.packObjectsHook", f"touch {tmp_path}/RAN; exec")
    git(elsewhere, "config", "core.fsmonitor", f"touch {tmp_path}/RAN")
    git(elsewhere, "config", "core.alternateRefsCommand", f"touch {tmp_path}/RAN")
    await world.worktrees.take_in(world.path, elsewhere, commit)
    assert not (tmp_path / "RAN").exists()


async def test_a_taken_commit_outlives_a_clean_up_of_people_s(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    await world.worktrees.take_in(world.path, elsewhere, commit)
    git(world.top, "gc", "--quiet", "--prune=now")
    assert git(world.top, "cat-file", "-t", commit) == "commit"


async def test_taken_commits_go_with_the_last_worktree(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    first = world.tip("main") or ""
    for name in ("one", "two"):
        await world.worktrees.prepare(world.path, f"agent/{name}", world.at(name), first)
    await world.worktrees.take_in(world.path, elsewhere, commit)
    git(world.top, "update-ref", "refs/gwt-bot/somebody-s", first)
    for name, left in (("one", True), ("two", False)):
        removal = await world.worktrees.remove(world.path, world.at(name), f"agent/{name}", commit)
        assert removal.branch_gone
        await world.worktrees.let_go(world.path, frozenset())
        assert (f"refs/gwt-bot/{commit}" in references(world)) is left
    assert "refs/gwt-bot/somebody-s" in references(world)


async def test_a_commit_that_another_plan_begins_from_stays(world: RealWorld) -> None:
    elsewhere, commit = world.somebody_commits_elsewhere({"theirs.py": "t\n"})
    await world.worktrees.take_in(world.path, elsewhere, commit)
    await world.worktrees.let_go(world.path, frozenset({commit}))
    git(world.top, "gc", "--quiet", "--prune=now")
    assert git(world.top, "cat-file", "-t", commit) == "commit"
    await world.worktrees.let_go(world.path, frozenset())
    assert references(world) == ["refs/heads/main"]

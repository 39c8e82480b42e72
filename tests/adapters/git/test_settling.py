"""Collisions in the bot's own documents, with real git: whatever form they take, the worktree's copy stands or nothing is changed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.core.errors import Refused
from tests.adapters.git.killing import Scene
from tests.adapters.git.worlds import RealWorld, git, write

PLAN = "specs/SPEC-1"
OTHER = "agent/other"
KILLS = [
    ('*" commit "*', "write", (1, 2, 3, 5)),
    ('*" commit "*', "rename", (1, 2)),
    ('*" commit "*', "unlink", (1, 2)),
    ('*" checkout "*', "rename", (1,)),
    ('*" checkout "*', "unlink", (1,)),
    ('*" rm --quiet "*', "rename", (1,)),
    ('*" rm --quiet "*', "unlink", (1,)),
]


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    world = RealWorld(tmp_path)
    world.person_commits("main", {f"{PLAN}/{name}.md": f"{name}\n" * 9 for name in "abc"})
    return world


@pytest.fixture
async def path(world: RealWorld) -> Path:
    return await _prepared(world, "agent/login")


@pytest.fixture
async def other(world: RealWorld) -> Path:
    return await _prepared(world, OTHER)


async def _prepared(world: RealWorld, branch: str) -> Path:
    path = world.at(branch.replace("/", "-"))
    await world.worktrees.prepare(world.path, branch, path, world.tip("main") or "")
    return Path(path)


def commit(path: Path) -> None:
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "-m", "work")


def documents(path: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in sorted((path / PLAN).iterdir())}


async def test_a_document_either_side_has_removed_or_added_is_as_in_the_worktree(
    world: RealWorld, path: Path, other: Path
) -> None:
    write(other, {f"{PLAN}/a.md": "theirs\n", f"{PLAN}/new.md": "theirs\n"})
    git(other, "rm", "--quiet", f"{PLAN}/b.md")
    commit(other)
    write(path, {f"{PLAN}/b.md": "ours\n", f"{PLAN}/new.md": "ours\n"})
    git(path, "rm", "--quiet", f"{PLAN}/a.md")
    commit(path)
    merged = await world.worktrees.merge(str(path), OTHER, "Merge", plan=PLAN)
    assert merged.conflicts == ()
    assert documents(path) == {"b.md": "ours\n", "c.md": "c\n" * 9, "new.md": "ours\n"}
    assert git(path, "status", "--porcelain") == ""
    assert git(path, "log", "-1", "--format=%an %s %P").split(" ")[:2] == ["gwt-bot", "Merge"]
    assert len(git(path, "log", "-1", "--format=%P").split(" ")) == 2


async def test_a_document_that_became_a_folder_is_left_to_people(
    world: RealWorld, path: Path, other: Path
) -> None:
    git(other, "rm", "--quiet", f"{PLAN}/a.md")
    write(other, {f"{PLAN}/a.md/part.md": "theirs\n"})
    commit(other)
    write(path, {f"{PLAN}/a.md": "ours\n"})
    commit(path)
    before = git(path, "rev-parse", "HEAD")
    merged = await world.worktrees.merge(str(path), OTHER, "Merge", plan=PLAN)
    assert merged.conflicts
    assert git(path, "rev-parse", "HEAD") == before
    assert git(path, "status", "--porcelain") == ""
    assert (path / PLAN / "a.md").read_text() == "ours\n"


@pytest.mark.parametrize("plan", ["../specs", "/specs", "specs//x", ".git"])
async def test_a_plan_lies_inside_the_worktree(world: RealWorld, path: Path, plan: str) -> None:
    with pytest.raises(Refused, match="no path inside"):
        await world.worktrees.merge(str(path), "main", "Merge", plan=plan)


@pytest.mark.parametrize(
    ("pattern", "call", "points"), KILLS, ids=[f"{p[3:7]}-{c}" for p, c, _ in KILLS]
)
async def test_a_merge_killed_while_it_is_settled_is_made_once(
    tmp_path: Path, pattern: str, call: str, points: tuple[int, ...]
) -> None:
    scene = Scene(tmp_path, pattern)
    await scene.prepare("other")
    write(scene.path("other"), {"b/file1.txt": "theirs\n", "c/new.txt": "theirs\n"})
    write(scene.path("other"), {"a/file0.txt": "theirs\n", "c/file2.txt": "theirs\n"})
    write(scene.path("other"), {"c/file1.txt": "theirs\n"})
    commit(scene.path("other"))
    for nth in points:
        name = f"{call}-{nth}"
        await scene.prepare(name)
        path = scene.path(name)
        write(path, {"c/file2.txt": "ours\n"})
        git(path, "rm", "--quiet", "c/file1.txt", "c/file3.txt")
        commit(path)
        merging = (str(path), "agent/other", "Merge")
        await scene.dies(
            call, nth, asyncio.create_task(scene.worktrees().merge(*merging, plan="c"))
        )
        merged = await scene.worktrees().merge(*merging, plan="c")
        assert merged.conflicts == ()
        assert git(path, "rev-list", "--merges", "--count", f"main..{merged.commit}") == "1"
        assert (path / "c" / "file2.txt").read_text() == "ours\n"
        assert (path / "a" / "file0.txt").read_text() == "theirs\n"
        assert not (path / "c" / "file1.txt").exists()
        scene.check(name)
    assert scene.deaths >= len(points) / 2

"""What every Worktrees must keep when files that git ignores are brought into a worktree."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import Refused
from tests.adapters.git.worlds import FakeWorld, RealWorld, World

BRANCH = "agent/login"
IGNORED = {
    ".env.local": "secret\n",
    "config/a.local.json": "{}\n",
    "config/other.txt": "t\n",
    "cache/x/y.bin": "y\n",
}


@pytest.fixture(params=["fake", "real"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return FakeWorld() if request.param == "fake" else RealWorld(tmp_path)


@pytest.fixture
async def first(world: World) -> str:
    return (await world.repository.base(world.path)).commit


@pytest.fixture
async def path(world: World, first: str) -> str:
    """A worktree beside a main checkout with ignored files."""
    here = world.at("agent-login")
    await world.worktrees.prepare(world.path, BRANCH, here, first)
    world.person_ignores(IGNORED)
    return here


@pytest.mark.covers("O-X4")
@pytest.mark.parametrize(("pattern", "copied"), [
    (".env.local", (".env.local",)),
    ("config/*.local.json", ("config/a.local.json",)),
    ("*.local.json", ("config/a.local.json",)),
    ("cache/**", ("cache/x/y.bin",)),
    ("cache", ("cache/x/y.bin",)),
    ("nothing*", ()),
])  # fmt: skip
async def test_what_a_pattern_names_is_copied_and_nothing_else(
    world: World, path: str, first: str, pattern: str, copied: tuple[str, ...]
) -> None:
    assert await world.worktrees.copy_ignored(world.path, path, (pattern,)) == copied
    for name, text in IGNORED.items():
        assert world.lies(path, name) == (text if name in copied else None)
    assert (await world.worktrees.work(path, first)).uncommitted == ()


async def test_files_that_are_there_already_are_left_alone(world: World, path: str) -> None:
    world.agent_leaves(path, {".env.local": "the agent's\n"})
    assert await world.worktrees.copy_ignored(world.path, path, (".env.local", "cache")) == (
        "cache/x/y.bin",
    )
    assert await world.worktrees.copy_ignored(world.path, path, (".env.local", "cache")) == ()
    assert world.lies(path, ".env.local") == "the agent's\n"


async def test_tracked_and_untracked_files_are_not_copied(
    world: World, path: str, first: str
) -> None:
    world.person_leaves({"code.py": "one = 5\n", "draft.txt": "d\n"})
    assert await world.worktrees.copy_ignored(world.path, path, ("code.py", "draft.txt")) == ()
    assert world.lies(path, "code.py") == "one = 1\n"


async def test_nothing_is_copied_into_a_worktree_that_is_missing(world: World, path: str) -> None:
    world.vanish(path)
    with pytest.raises(Refused, match="missing"):
        await world.worktrees.copy_ignored(world.path, path, (".env.local",))

"""What an agent has done to a file is shown, whatever it has told git about the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.core.tampering.signs import flags
from tests.adapters.git.worlds import RealWorld, git

BRANCH = "agent/login"
TEST = "tests/test_login.py"
PICTURE = b"\x89PNG\0\0" + bytes(range(256)) * 40


def committed(world: RealWorld, path: Path) -> None:
    world.agent_commits(str(path), {".gitattributes": "*.py -diff\n"})


def noted(world: RealWorld, path: Path) -> None:
    (Path(world.path) / ".git/info").mkdir(exist_ok=True)
    (Path(world.path) / ".git/info/attributes").write_text("* binary\n")


def too_large(world: RealWorld, path: Path) -> None:
    git(path, "config", "core.bigFileThreshold", "1")


HIDINGS: list[Callable[[RealWorld, Path], None]] = [committed, noted, too_large]


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    return RealWorld(tmp_path)


@pytest.fixture
async def path(world: RealWorld) -> Path:
    world.person_commits("main", {TEST: "def test_it():\n    assert login() == 3\n"})
    here = world.at("agent-login")
    await world.worktrees.prepare(world.path, BRANCH, here, world.tip("main") or "")
    return Path(here)


@pytest.mark.parametrize("hide", HIDINGS)
async def test_text_that_is_called_binary_is_shown_and_looked_at(
    world: RealWorld, path: Path, hide: Callable[[RealWorld, Path], None]
) -> None:
    start = world.tip("main") or ""
    world.agent_commits(str(path), {TEST: "def test_it():\n    pass\n", "app.py": "evil = 1\n"})
    hide(world, path)
    work = await world.worktrees.work(str(path), start)
    diff = await world.worktrees.diff(str(path), start, 100_000, work.head)
    assert "+evil = 1" in diff
    assert [flag.path for flag in flags(diff, work) if flag.path == TEST] == [TEST]


async def test_a_picture_is_only_named(world: RealWorld, path: Path) -> None:
    start = world.tip("main") or ""
    (path / "logo.png").write_bytes(PICTURE)
    git(path, "add", "logo.png")
    git(path, "commit", "--quiet", "-m", "feat: logo")
    diff = await world.worktrees.diff(str(path), start, 100_000)
    assert "Binary files /dev/null and b/logo.png differ" in diff
    assert "\0" not in diff
    assert len(diff) < 1_000


async def test_what_was_hidden_is_cut_at_the_limit_as_well(world: RealWorld, path: Path) -> None:
    start = world.tip("main") or ""
    committed(world, path)
    world.agent_commits(str(path), {"app.py": "x = 1\n" * 10_000})
    assert len(await world.worktrees.diff(str(path), start, 5_000)) == 5_000

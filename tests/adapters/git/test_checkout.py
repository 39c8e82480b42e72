"""The main checkout as it looks: every touch is told, the look itself touches nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.core.git import Checkout
from tests.adapters.git.worlds import RealWorld, git, write

TOUCHES: list[tuple[Callable[[Path], object], tuple[str, ...]]] = [
    (lambda top: (top / "tracked.txt").write_text("x\n"), ("tracked.txt",)),
    (lambda top: (top / "tracked.txt").unlink(), ("tracked.txt",)),
    (lambda top: (top / "tracked.txt").chmod(0o755), ("tracked.txt",)),
    (lambda top: (top / "mine.txt").write_text("other\n"), ("mine.txt",)),
    (lambda top: (top / "mine.txt").unlink(), ("mine.txt",)),
    (lambda top: (top / "code.py").write_text("b person's\n"), ("code.py",)),
    (lambda top: git(top, "checkout", "--", "code.py"), ("code.py",)),
    (lambda top: git(top, "add", "code.py"), ("code.py",)),
    (lambda top: git(top, "stash", "--include-untracked"), ("code.py", "mine.txt")),
    (lambda top: os.mkfifo(top / "fifo"), ()),
    (lambda top: (top / "link").symlink_to("/etc/passwd"), ("link",)),
    (lambda top: os.utime(top / "code.py", (1, 1)), ()),
]


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    world = RealWorld(tmp_path)
    world.person_commits("main", {".gitignore": "*.log\n", "tracked.txt": "t\n"})
    return world


async def look(world: RealWorld) -> Checkout:
    index = world.top / ".git" / "index"
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    found = await world.repository.checkout(world.path)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
    return found


async def test_a_clean_checkout_has_nothing_to_tell(world: RealWorld) -> None:
    found = await look(world)
    assert found == Checkout(branch="main", commit=world.tip("main") or "")


async def test_worktrees_and_ignored_files_are_not_told(world: RealWorld) -> None:
    write(world.top, {"x.log": "x\n", ".worktrees/notes.txt": "n\n"})
    await world.worktrees.prepare(
        world.path, "agent/x", world.at("agent-x"), world.tip("main") or ""
    )
    write(Path(world.at("agent-x")), {"new.txt": "n\n"})
    assert (await look(world)).changed == ()


@pytest.mark.parametrize(("doing", "told"), TOUCHES)
async def test_every_touch_of_a_person_s_work_is_told(
    world: RealWorld, doing: Callable[[Path], object], told: tuple[str, ...]
) -> None:
    write(world.top, {"code.py": "a person's\n", "mine.txt": "mine\n"})
    before = await look(world)
    doing(world.top)
    assert (await look(world)).touched_since(before) == told


async def test_a_commit_or_another_branch_is_told_too(world: RealWorld) -> None:
    git(world.top, "switch", "--quiet", "-c", "side")
    commit = world.agent_commits(world.path, {"x.py": "x\n"})
    assert await look(world) == Checkout(branch="side", commit=commit)
    git(world.top, "switch", "--quiet", "--detach")
    assert await look(world) == Checkout(branch="", commit=commit)
    git(world.top, "switch", "--quiet", "--orphan", "empty")
    assert await look(world) == Checkout(branch="empty", commit="")


async def test_very_many_files_are_told_by_their_directory(world: RealWorld) -> None:
    write(world.top, {f"modules/m{n % 7}/f{n}": "x\n" for n in range(1100)} | {"a/b": "b\n"})
    before = await look(world)
    assert len(before.changed) == 2
    write(world.top, {"modules/m3/f3": "other\n", "a/c": "c\n"})
    assert (await look(world)).touched_since(before) == ("a/c", "modules/")

"""git is killed at every stage of what it does; the next call finds its way, and no file of a person's is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.git import GitWorktrees
from adapters.git.worktree_removal import STALE_LOCK_SECONDS
from bot.core.errors import Refused, Unavailable
from bot.core.git import Merged, Removal
from tests.adapters.git.killing import Scene, at
from tests.adapters.git.worlds import git, new_repository, write
from tests.faults.figures import Count

Doing = Callable[[Scene, str, int], Coroutine[object, object, object]]


@dataclass(frozen=True)
class Killed:
    """What git is doing when it is killed, at which calls of which system calls, and what it comes to when done again.

    What a git does a little more or less often than this one still dies at most of them.
    """

    pattern: str
    points: tuple[tuple[str, tuple[int, ...]], ...]
    before: Doing
    does: Doing
    holds: Callable[[Scene, str, object], object]
    child: bool = False


async def nothing(scene: Scene, name: str, nth: int) -> None:
    pass


async def added(scene: Scene, name: str, nth: int) -> str:
    return await scene.prepare(name)


async def used(scene: Scene, name: str, nth: int) -> None:
    await scene.prepare(name)
    exclude = scene.top / ".git" / "info" / "exclude"
    exclude.write_text(exclude.read_text() + "build/\n")
    write(scene.path(name), {"build/out.o": "o\n"})


async def removed(scene: Scene, name: str, nth: int) -> Removal:
    grown_old(scene.top / ".git" / "packed-refs.lock")
    return await scene.worktrees().remove(
        str(scene.top), str(scene.path(name)), f"agent/{name}", "main"
    )


async def committed(scene: Scene, name: str, nth: int) -> str:
    files = {"specs/spec.md": f"{nth}\n"}
    return await scene.worktrees().commit_files(str(scene.path(name)), files, "docs: spec")


async def with_another(scene: Scene, name: str, nth: int) -> None:
    if not scene.path("other").exists():
        await scene.prepare("other")
        other = scene.path("other")
        write(other, {"a/file0.txt": "changed\n", "new/one.txt": "1\n", "new/two.txt": "2\n"})
        git(other, "rm", "--quiet", "b/file1.txt")
        git(other, "add", "--all")
        git(other, "commit", "--quiet", "-m", "other")
    await scene.prepare(name)
    await scene.worktrees().commit_files(str(scene.path(name)), {"c/own.txt": "own\n"}, "own")


async def merged(scene: Scene, name: str, nth: int) -> Merged:
    return await scene.worktrees().merge(str(scene.path(name)), "agent/other", "Merge")


def is_whole(scene: Scene, name: str, head: object) -> None:
    assert head == scene.first
    scene.check(name)


def is_gone(scene: Scene, name: str, removal: object) -> None:
    assert isinstance(removal, Removal)
    assert (removal.worktree_gone, removal.branch_gone, removal.reason) == (True, True, "")
    assert not scene.path(name).exists()
    assert git(scene.top, "branch", "--format=%(refname:short)") == "main"
    assert git(scene.top, "worktree", "list", "--porcelain").count("worktree ") == 1


def is_made_once(scene: Scene, name: str, head: object) -> None:
    assert git(scene.top, "rev-list", "--count", f"main..{head}") == "1"
    scene.check(name)


def is_merged_once(scene: Scene, name: str, done: object) -> None:
    assert isinstance(done, Merged)
    assert done.conflicts == ()
    assert git(scene.top, "rev-list", "--merges", "--count", f"main..{done.commit}") == "1"
    assert (scene.path(name) / "new" / "two.txt").read_text() == "2\n"
    scene.check(name)


KILLED = {
    "an add": Killed('*" worktree add "*', (("mkdir", (1, 2, 3, 4)), ("write", (1, 2, 3, 4, 5)), ("unlink", (1,)), ("openat", (20, 25, 30, 34, 38, 42, 46, 50, 54))), nothing, added, is_whole),
    "a checkout": Killed('*" reset --hard "*', (("write", (1, 3, 5, 7, 9, 12)), ("openat", (30, 60, 80, 90, 100, 110)), ("unlink", (1, 2, 3)), ("mkdir", (1, 2)), ("rename", (1,))), nothing, added, is_whole, child=True),
    "a removal": Killed('*" worktree remove "*', (("unlink", (1, 2, 5, 10, 13)), ("rmdir", (1, 2, 3, 4, 5))), used, removed, is_gone),
    "a deletion": Killed('*" update-ref -d "*', (("openat", (10, 14, 18)), ("unlink", (1,))), added, removed, is_gone),
    "a commit": Killed('*" commit "*', (("write", (1, 3, 5, 7)), ("rename", (1, 2)), ("unlink", (1, 2)), ("link", (1, 2))), added, committed, is_made_once),
    "a merge": Killed('*" merge --quiet "*', (("write", (1, 3, 5, 7, 9)), ("rename", (1, 2, 3)), ("unlink", (1, 2, 3)), ("link", (1, 2))), with_another, merged, is_merged_once),
}  # fmt: skip


@pytest.mark.parametrize(("what", "call", "points"), [
    pytest.param(what, *one.values, id=f"{what} {one.id}", marks=one.marks)
    for what, killed in KILLED.items()
    for one in at(*killed.points)
])  # fmt: skip
async def test_what_was_killed_is_finished_by_doing_it_again(
    tmp_path: Path, what: str, call: str, points: Sequence[int], count: Count
) -> None:
    killed = KILLED[what]
    scene = Scene(tmp_path, killed.pattern, child=killed.child)
    for nth in scene.each(points):
        name = f"{call}-{nth}"
        await killed.before(scene, name, nth)
        await scene.dies(call, nth, asyncio.create_task(killed.does(scene, name, nth)))
        killed.holds(scene, name, await killed.does(scene, name, nth))
    assert scene.died_often(points, count)


@pytest.mark.parametrize("mine", ["a/mine.txt", "a/file0.txt"])
async def test_a_person_s_file_in_a_half_made_worktree_is_not_lost(
    tmp_path: Path, mine: str
) -> None:
    scene = Scene(tmp_path, '*" reset --hard "*', child=True)
    await scene.dies("write", 9, asyncio.create_task(scene.prepare("x")))
    assert scene.deaths == 1
    file = scene.path("x") / mine
    file.write_text("mine\n")
    with pytest.raises(Refused, match=r"^taken$") as refused:
        await scene.prepare("x")
    assert mine in refused.value.remedy
    assert file.read_text() == "mine\n"
    file.unlink()
    assert await scene.prepare("x") == scene.first


def grown_old(lock: Path) -> None:
    """As it is when some minutes have passed."""
    if lock.exists():
        long_ago = time.time() - 2 * STALE_LOCK_SECONDS
        os.utime(lock, (long_ago, long_ago))


async def test_a_lock_that_all_share_is_left_as_long_as_somebody_may_hold_it(
    tmp_path: Path,
) -> None:
    top = new_repository(tmp_path / "repository")
    here, path = GitWorktrees(tmp_path / "home"), str(top / ".worktrees" / "agent-x")
    await here.prepare(str(top), "agent/x", path, git(top, "rev-parse", "HEAD"))
    lock = top / ".git" / "packed-refs.lock"
    lock.touch()
    with pytest.raises(Unavailable, match=r"packed-refs\.lock"):
        await here.remove(str(top), path, "agent/x", "main")
    assert lock.exists()
    grown_old(lock)
    assert (await here.remove(str(top), path, "agent/x", "main")).branch_gone
    assert not lock.exists()


async def test_stale_locks_of_the_branch_and_the_worktree_are_taken_away(tmp_path: Path) -> None:
    top = new_repository(tmp_path / "repository")
    here = GitWorktrees(tmp_path / "home")
    first, path = git(top, "rev-parse", "HEAD"), str(top / ".worktrees" / "agent-x")
    (top / ".git" / "refs" / "heads" / "agent").mkdir()
    (top / ".git" / "refs" / "heads" / "agent" / "x.lock").touch()
    await here.prepare(str(top), "agent/x", path, first)
    (top / ".git" / "worktrees" / "agent-x" / "index.lock").touch()
    head = await here.commit_files(path, {"x.md": "x\n"}, "docs: x")
    assert head != first


async def test_a_bot_waits_for_the_git_of_a_bot_that_died(tmp_path: Path) -> None:
    """The lock belongs to the git that outlived its bot, so two never work side by side."""
    top = new_repository(tmp_path / "repository")
    home, first = tmp_path / "home", git(top, "rev-parse", "HEAD")
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text(
        f'#!/bin/sh\ncase " $* " in *" worktree add "*) touch {tmp_path}/begun; '
        f'while [ ! -e {tmp_path}/go ]; do sleep 0.02; done;; esac\nexec /usr/bin/env -u X git_real "$@"\n'
    )
    (slow / "git").chmod(0o755)
    (slow / "git_real").symlink_to(Path(git(top, "--exec-path")) / "git")
    environment = {"PATH": f"{slow}:/usr/bin:/bin"}
    script = (
        "import asyncio, pathlib, sys\n"
        "from adapters.git import GitWorktrees\n"
        "home, top, path, first, search = sys.argv[1:]\n"
        "bot = GitWorktrees(pathlib.Path(home), {'PATH': search})\n"
        "asyncio.run(bot.prepare(top, 'agent/x', path, first))\n"
    )
    path = str(top / ".worktrees" / "agent-x")
    bot = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script, str(home), str(top), path, first, environment["PATH"])
    )
    async with asyncio.timeout(120):
        while not (tmp_path / "begun").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.02)
    bot.send_signal(signal.SIGKILL)
    await bot.wait()
    second = asyncio.create_task(GitWorktrees(home).prepare(str(top), "agent/x", path, first))
    done, _ = await asyncio.wait({second}, timeout=0.3)
    assert not done
    (tmp_path / "go").touch()
    assert await second == first
    assert git(path, "status", "--porcelain") == ""

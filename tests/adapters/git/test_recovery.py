"""git is killed at every stage of what it does; the next call finds its way, and no file of a person's is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from adapters.git import GitWorktrees
from adapters.git.worktree_removal import OLD_LOCK_SECONDS
from bot.core.errors import Refused, Unavailable
from tests.adapters.git.killing import Scene, at
from tests.adapters.git.worlds import git, new_repository, write
from tests.faults.figures import Count

# system calls and their numbers; what a git does a little more or less often than this one still dies at most of them
ADDING = [
    ("mkdir", (1, 2, 3, 4)),
    ("write", (1, 2, 3, 4, 5)),
    ("unlink", (1,)),
    ("openat", (20, 25, 30, 34, 38, 42, 46, 50, 54)),
]
FILLING = [
    ("write", (1, 3, 5, 7, 9, 12)),
    ("openat", (30, 60, 80, 90, 100, 110)),
    ("unlink", (1, 2, 3)),
    ("mkdir", (1, 2)),
    ("rename", (1,)),
]
REMOVING = [("unlink", (1, 2, 5, 10, 13)), ("rmdir", (1, 2, 3, 4, 5))]
FORGETTING = [("openat", (10, 14, 18)), ("unlink", (1,))]
COMMITTING = [("write", (1, 3, 5, 7)), ("rename", (1, 2)), ("unlink", (1, 2)), ("link", (1, 2))]
MERGING = [
    ("write", (1, 3, 5, 7, 9)),
    ("rename", (1, 2, 3)),
    ("unlink", (1, 2, 3)),
    ("link", (1, 2)),
]


@pytest.mark.parametrize(("call", "points"), at(*ADDING))
async def test_a_killed_add_is_recovered(
    tmp_path: Path, call: str, points: Sequence[int], count: Count
) -> None:
    scene = Scene(tmp_path, '*" worktree add "*')
    for nth in scene.each(points):
        name = f"{call}-{nth}"
        await scene.dies(call, nth, asyncio.create_task(scene.prepare(name)))
        assert await scene.prepare(name) == scene.first
        scene.check(name)
    assert scene.died_often(points, count)


@pytest.mark.parametrize(("call", "points"), at(*FILLING))
async def test_an_add_killed_while_it_checks_out_is_recovered(
    tmp_path: Path, call: str, points: Sequence[int], count: Count
) -> None:
    scene = Scene(tmp_path, '*" reset --hard "*', child=True)
    for nth in scene.each(points):
        name = f"{call}-{nth}"
        await scene.dies(call, nth, asyncio.create_task(scene.prepare(name)))
        assert await scene.prepare(name) == scene.first
        scene.check(name)
    assert scene.died_often(points, count)


async def test_a_person_s_file_in_a_half_made_worktree_is_not_lost(tmp_path: Path) -> None:
    scene = Scene(tmp_path, '*" reset --hard "*', child=True)
    await scene.dies("write", 9, asyncio.create_task(scene.prepare("x")))
    assert scene.deaths == 1
    mine = scene.path("x") / "a" / "mine.txt"
    mine.write_text("mine\n")
    with pytest.raises(Refused, match=r"^taken$") as refused:
        await scene.prepare("x")
    assert "mine.txt" in refused.value.remedy
    assert mine.read_text() == "mine\n"
    mine.unlink()
    assert await scene.prepare("x") == scene.first


async def test_a_changed_file_in_a_half_made_worktree_is_not_lost(tmp_path: Path) -> None:
    scene = Scene(tmp_path, '*" reset --hard "*', child=True)
    await scene.dies("write", 9, asyncio.create_task(scene.prepare("x")))
    mine = scene.path("x") / "a" / "file0.txt"
    mine.write_text("mine\n")
    with pytest.raises(Refused, match=r"^taken$"):
        await scene.prepare("x")
    assert mine.read_text() == "mine\n"


@pytest.mark.parametrize(("call", "points"), at(*REMOVING))
async def test_a_killed_removal_is_finished(
    tmp_path: Path, call: str, points: Sequence[int], count: Count
) -> None:
    scene = Scene(tmp_path, '*" worktree remove "*')
    write(scene.top, {".gitignore": "build/\n"})
    git(scene.top, "add", ".gitignore")
    git(scene.top, "commit", "--quiet", "-m", "ignore")
    scene.first = git(scene.top, "rev-parse", "HEAD")
    for nth in scene.each(points):
        name = f"{call}-{nth}"
        await scene.prepare(name)
        write(scene.path(name), {"build/out.o": "o\n"})
        removing = (str(scene.top), str(scene.path(name)), f"agent/{name}", "main")
        await scene.dies(call, nth, asyncio.create_task(scene.worktrees().remove(*removing)))
        removal = await scene.worktrees().remove(*removing)
        assert (removal.worktree_gone, removal.branch_gone, removal.reason) == (True, True, "")
        assert not scene.path(name).exists()
    assert git(scene.top, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert scene.died_often(points, count)


@pytest.mark.parametrize(("call", "points"), at(*FORGETTING))
async def test_a_branch_is_gone_in_the_end_though_its_removal_was_killed(
    tmp_path: Path, call: str, points: Sequence[int], count: Count
) -> None:
    scene = Scene(tmp_path, '*" update-ref -d "*')
    for nth in scene.each(points):
        name = f"{call}-{nth}"
        await scene.prepare(name)
        removing = (str(scene.top), str(scene.path(name)), f"agent/{name}", "main")
        await scene.dies(call, nth, asyncio.create_task(scene.worktrees().remove(*removing)))
        grown_old(scene.top / ".git" / "packed-refs.lock")
        removal = await scene.worktrees().remove(*removing)
        assert (removal.worktree_gone, removal.branch_gone, removal.reason) == (True, True, "")
        assert git(scene.top, "branch", "--format=%(refname:short)") == "main"
    assert scene.died_often(points, count)


@pytest.mark.parametrize(("call", "points"), at(*COMMITTING))
async def test_a_killed_commit_is_made_once(
    tmp_path: Path, call: str, points: Sequence[int], count: Count
) -> None:
    scene = Scene(tmp_path, '*" commit "*')
    for nth in scene.each(points):
        name = f"{call}-{nth}"
        await scene.prepare(name)
        commit = (str(scene.path(name)), {"specs/spec.md": f"{nth}\n"}, "docs: spec")
        await scene.dies(call, nth, asyncio.create_task(scene.worktrees().commit_files(*commit)))
        head = await scene.worktrees().commit_files(*commit)
        assert git(scene.top, "rev-list", "--count", f"main..{head}") == "1"
        scene.check(name)
    assert scene.died_often(points, count)


@pytest.mark.parametrize(("call", "points"), at(*MERGING))
async def test_a_killed_merge_is_made_once(
    tmp_path: Path, call: str, points: Sequence[int], count: Count
) -> None:
    scene = Scene(tmp_path, '*" merge --quiet "*')
    await scene.prepare("other")
    news = {"a/file0.txt": "changed\n", "new/one.txt": "1\n", "new/two.txt": "2\n"}
    write(scene.path("other"), news)
    git(scene.path("other"), "rm", "--quiet", "b/file1.txt")
    git(scene.path("other"), "add", "--all")
    git(scene.path("other"), "commit", "--quiet", "-m", "other")
    for nth in scene.each(points):
        name = f"{call}-{nth}"
        await scene.prepare(name)
        path = str(scene.path(name))
        await scene.worktrees().commit_files(path, {"c/own.txt": "own\n"}, "own")
        merge = (path, "agent/other", "Merge")
        await scene.dies(call, nth, asyncio.create_task(scene.worktrees().merge(*merge)))
        merged = await scene.worktrees().merge(*merge)
        assert merged.conflicts == ()
        assert git(path, "rev-list", "--merges", "--count", f"main..{merged.commit}") == "1"
        assert (scene.path(name) / "new" / "two.txt").read_text() == "2\n"
        scene.check(name)
    assert scene.died_often(points, count)


def grown_old(lock: Path) -> None:
    """As it is when some minutes have passed."""
    if lock.exists():
        long_ago = time.time() - 2 * OLD_LOCK_SECONDS
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
    async with asyncio.timeout(30):
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

"""Ignored files between real checkouts: nothing leads out, nothing is overwritten, nothing is half there."""

from __future__ import annotations

import os
import re
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.git import GitWorktrees
from adapters.git.worktree_files import (
    TEMPORARY_NAME,
    CopyLimits,
    copy_files,
    read_patterns,
    stays_inside,
)
from bot.core.errors import Refused
from tests.adapters.git.worlds import RealWorld, git, write


@pytest.fixture
def world(tmp_path: Path) -> RealWorld:
    world = RealWorld(tmp_path)
    world.person_commits("main", {".gitignore": "secrets/\n*.local\ncache/\n"})
    return world


async def copy(world: RealWorld, path: Path, *patterns: str) -> tuple[str, ...]:
    done = await world.worktrees.copy_ignored(world.path, str(path), patterns)
    assert git(path, "status", "--porcelain") == ""
    return done


async def test_modes_and_times_are_kept(world: RealWorld, path: Path) -> None:
    write(world.top, {"secrets/key": "k\n", "run.local": "#!/bin/sh\n"})
    (world.top / "secrets").chmod(0o700)
    (world.top / "secrets" / "key").chmod(0o600)
    (world.top / "run.local").chmod(0o755)
    os.utime(world.top / "run.local", (1_000_000, 1_000_000))
    assert await copy(world, path, "*.local", "secrets/**") == ("run.local", "secrets/key")
    modes = [
        (path / name).stat().st_mode & 0o777 for name in ("secrets", "secrets/key", "run.local")
    ]
    assert modes == [0o700, 0o600, 0o755]
    assert (path / "run.local").stat().st_mtime == 1_000_000


async def test_a_copy_is_a_file_of_its_own(world: RealWorld, path: Path) -> None:
    write(world.top, {"a.local": "mine\n"})
    await copy(world, path, "a.local")
    (path / "a.local").write_text("the agent's\n")
    assert (world.top / "a.local").read_text() == "mine\n"


async def test_only_links_that_stay_inside_are_copied_as_links(
    world: RealWorld, path: Path, tmp_path: Path
) -> None:
    write(tmp_path, {"outside/secret": "s\n"})
    write(world.top, {"cache/a": "a\n", "cache/b/c": "c\n"})
    (world.top / "cache" / "b" / "in").symlink_to("../a")
    (world.top / "cache" / "out").symlink_to("../../outside/secret")
    (world.top / "cache" / "absolute").symlink_to(world.top / "cache" / "a")
    (world.top / "cache" / "folder").symlink_to(tmp_path / "outside")
    assert await copy(world, path, "cache") == ("cache/a", "cache/b/c", "cache/b/in")
    assert (path / "cache" / "b" / "in").readlink() == Path("../a")


async def test_what_is_no_file_is_passed_over(world: RealWorld, path: Path) -> None:
    write(world.top, {"cache/a": "a\n"})
    os.mkfifo(world.top / "cache" / "fifo")
    with socket.socket(socket.AF_UNIX) as server, _within(world.top / "cache"):
        server.bind("socket")
        assert await copy(world, path, "cache/**") == ("cache/a",)


class _within:  # noqa: N801 - reads as a statement
    """A socket's name must be short: it is made from where one stands."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._before = directory, Path.cwd()

    def __enter__(self) -> None:
        os.chdir(self._directory)

    def __exit__(self, *_: object) -> None:
        os.chdir(self._before)


async def test_git_s_own_files_and_the_bot_s_are_never_copied(world: RealWorld, path: Path) -> None:
    write(world.top, {"cache/x/.git/config": "c\n", "cache/.gwt/state": "s\n", "cache/a": "a\n"})
    assert await copy(world, path, "cache", "*", "**") == ("cache/a",)


async def test_the_bot_s_home_in_the_repository_is_not_copied(
    world: RealWorld, tmp_path: Path
) -> None:
    worktrees = GitWorktrees(world.top / "cache" / "home")
    path = world.at("agent-x")
    await worktrees.prepare(world.path, "agent/x", path, world.tip("main") or "")
    write(world.top, {"cache/home/sessions/s": "s\n", "cache/a": "a\n"})
    assert await worktrees.copy_ignored(world.path, path, ("cache",)) == ("cache/a",)


async def test_nothing_is_written_through_a_link_in_the_worktree(
    world: RealWorld, path: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (path / "cache").symlink_to(tmp_path / "outside")
    git(path, "add", "--force", "cache")
    git(path, "commit", "--quiet", "-m", "link")
    write(world.top, {"cache/a": "a\n", "b.local": "b\n"})
    (path / "b.local").symlink_to(tmp_path / "outside" / "b")
    assert await copy(world, path, "cache/**", "*.local") == ()
    assert list((tmp_path / "outside").iterdir()) == []


async def test_a_link_that_takes_a_directory_s_place_meanwhile_is_not_followed(
    tmp_path: Path,
) -> None:
    write(tmp_path, {"from/cache/a": "a\n", "outside/a": "secret\n"})
    (tmp_path / "to" / "cache").parent.mkdir()
    (tmp_path / "to" / "cache").symlink_to(tmp_path / "outside")
    (tmp_path / "from" / "linked").symlink_to(tmp_path / "outside")
    for name in ("cache/a", "linked/a"):
        with pytest.raises(Refused, match="symbolic link"):
            copy_files(tmp_path / "from", tmp_path / "to", (name,), threading.Event())
    assert (tmp_path / "outside" / "a").read_text() == "secret\n"


async def test_what_only_the_main_checkout_ignores_would_be_a_change_and_is_not_copied(
    world: RealWorld, path: Path
) -> None:
    write(world.top, {".gitignore": "*.local\n*.mine\n", "a.mine": "a\n", "b.local": "b\n"})
    assert await copy(world, path, "a.mine", "b.local") == ("b.local",)


async def test_odd_names_are_copied_as_they_are(world: RealWorld, path: Path) -> None:
    odd = "cache/:(glob)*?[a] \n-x é"
    write(world.top, {odd: "odd\n", "-n.local": "n\n"})
    assert await copy(world, path, "cache/**", "*.local") == ("-n.local", odd)


async def test_what_a_bot_that_died_left_half_written_is_written_again(
    world: RealWorld, path: Path
) -> None:
    write(world.top, {"cache/a": "whole\n"})
    write(path, {f"cache/{TEMPORARY_NAME}": "ha"})
    assert await copy(world, path, "cache") == ("cache/a",)
    assert sorted(file.name for file in (path / "cache").iterdir()) == ["a"]


@pytest.mark.parametrize(
    "bounds", [CopyLimits(files=2), CopyLimits(size=20), CopyLimits(looked_at=3)]
)
async def test_too_much_is_refused_before_anything_is_copied(
    world: RealWorld, path: Path, bounds: CopyLimits
) -> None:
    write(world.top, {f"cache/{n}": "ten bytes\n" for n in range(3)})
    worktrees = GitWorktrees(world.home, copy_bounds=bounds)
    with pytest.raises(Refused, match="more than") as refused:
        await worktrees.copy_ignored(world.path, str(path), ("cache",))
    assert "fewer" in refused.value.remedy
    assert not (path / "cache").exists()


async def test_copied_files_go_with_their_worktree(world: RealWorld, path: Path) -> None:
    write(world.top, {"cache/a": "a\n"})
    await copy(world, path, "cache")
    removal = await world.worktrees.remove(world.path, str(path), "agent/login", "main")
    assert (removal.worktree_gone, removal.branch_gone) == (True, True)
    assert (world.top / "cache" / "a").exists()


PATHS = (
    ".env", ".env.local", "a/.env", "config/x.local.json", "config/deep/y.local.json", "x.local.json",
    "node_modules/a/b.js", "packages/p/node_modules/c.js", "a/b/c/d", "a/d", "build", "sub/build/o", "a[1].txt",
)  # fmt: skip

PATTERNS = (
    ".env", ".env*", "/.env", "config/*.local.json", "config/**/*.local.json", "**/y.local.json",
    "node_modules", "node_modules/", "node_modules/**", "/node_modules", "packages/*/node_modules", "a/**/d",
    "a/**", "build/", "*.j?", "[!a-m]*.json", "[cx]*", "a/b", r"*[[]*", "**",
)  # fmt: skip


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("patterns")
    git(top, "init", "--quiet")
    for path in PATHS:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).touch()
    return top


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_names_what_git_would_ignore_by_it(top: Path, pattern: str) -> None:
    (top / ".git" / "info" / "exclude").write_text(pattern + "\n")
    listed = git(top, "ls-files", "--others", "--ignored", "--exclude-standard")
    (read,) = read_patterns((pattern,))
    assert {path for path in PATHS if read.names(path)} == set(listed.splitlines())


def test_only_a_pattern_with_a_path_is_looked_for_in_an_ignored_directory() -> None:
    (name,) = read_patterns((".env",))
    (below,) = read_patterns(("node_modules/*/dist/**",))
    assert not name.may_match_inside("node_modules")
    assert below.may_match_inside("node_modules")
    assert below.may_match_inside("node_modules/x")
    assert not below.may_match_inside("cache")


@pytest.mark.parametrize("pattern", ["!x", "../x", "a/../../x", "/", ".git/config", ".worktrees", ".GIT"])  # fmt: skip
def test_a_pattern_that_leads_elsewhere_is_refused(pattern: str) -> None:
    with pytest.raises(Refused, match=re.escape(repr(pattern))):
        read_patterns((pattern,))


@given(st.text("ab/.*?[]!-^\\\n ", max_size=20), st.text(max_size=30))
def test_no_text_breaks_a_pattern(line: str, path: str) -> None:
    try:
        patterns = read_patterns((line,))
    except Refused:
        return
    for pattern in patterns:
        pattern.names(path)
        pattern.may_match_inside(path)


@pytest.mark.parametrize(("link", "target", "inside"), [
    ("a/b", "../c", True),
    ("a/b", "c/d", True),
    ("a/b", "../../c", False),
    ("b", "/etc/passwd", False),
    ("a/b/c", "x/../../../y", False),
    ("a/b/c", "../../.git/config", False),
    ("b", ".worktrees/other", False),
])  # fmt: skip
def test_a_link_stays_inside_only_by_its_own_words(link: str, target: str, inside: bool) -> None:
    assert stays_inside(link, target) is inside

"""A disk on which no space is left is told as that, with its place, and not as a failure of git, of the tests or of the bot."""

from __future__ import annotations

import contextlib
import errno
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.commands.shell import ShellCommands
from bot.core.errors import Unavailable
from bot.os_errors import as_unavailable, permission_error
from tests.adapters.git.worlds import RealWorld, git

MEGABYTES = 4


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path) -> None:
    """To the last page: a large write is refused where small ones are still taken."""
    for size in (65536, 4096, 1):
        with contextlib.suppress(OSError), (disk / f"fill{size}").open("wb", buffering=0) as file:
            while file.write(bytes(size)):
                pass


def empty(disk: Path) -> None:
    for file in disk.glob("fill*"):
        file.unlink()


async def test_git_on_a_full_disk_waits_for_room_and_names_the_place(small: Path) -> None:
    world = RealWorld(small)
    first = git(world.top, "rev-parse", "HEAD")
    here = world.at("agent-a")
    await world.worktrees.prepare(world.path, "agent/a", here, first)
    fill(small)
    with pytest.raises(Unavailable, match=f"the disk is full .*{small}"):
        await world.worktrees.prepare(world.path, "agent/b", world.at("agent-b"), first)
    with pytest.raises(Unavailable, match=f"the disk is full .*{small}"):
        await world.worktrees.commit_files(here, {"large": "x" * 9000}, "feat: large")
    empty(small)
    await world.worktrees.prepare(world.path, "agent/b", world.at("agent-b"), first)
    await world.worktrees.commit_files(here, {"large": "x" * 9000}, "feat: large")


async def test_tests_that_fail_on_a_full_disk_are_no_failure_of_the_agents(
    small: Path, tmp_path: Path
) -> None:
    commands = ShellCommands({"PATH": "/usr/bin:/bin"}, str)
    log = str(tmp_path / "log")
    fill(small)
    with pytest.raises(Unavailable, match=f"the disk is full .*{small}"):
        await commands.run(str(small), "echo x > y", seconds=10, log=log)
    assert (await commands.run(str(small), "true", seconds=10, log=log)).exit_code == 0
    empty(small)
    assert (await commands.run(str(small), "exit 1", seconds=10, log=log)).exit_code == 1


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.ENOSPC, "full"), (errno.EROFS, "read-only"), (errno.EMFILE, "too many files")],
)
def test_what_the_machine_lacks_is_told_with_the_place(number: int, says: str) -> None:
    trouble = as_unavailable(OSError(number, "x", "/a/file"))
    assert trouble
    assert (says in trouble.reason, "/a/file" in trouble.reason) == (True, True)
    assert trouble.remedy


@pytest.mark.parametrize(("name", "see"), [("/a/file", " See: ls -ld /a/file"), ("file", "")])
def test_missing_rights_are_told_with_the_file_and_what_to_do(name: str, see: str) -> None:
    trouble = permission_error(PermissionError(errno.EACCES, "Permission denied", name))
    assert trouble
    assert trouble.reason == f"Permission denied: {name}"
    assert trouble.remedy.endswith(f"right to read and write there.{see}")
    assert permission_error(PermissionError(errno.EPERM, "a signal")) is None


def test_another_error_of_the_system_is_none_of_the_machine() -> None:
    assert as_unavailable(ConnectionRefusedError(errno.ECONNREFUSED, "no")) is None
    assert as_unavailable(FileNotFoundError(errno.ENOENT, "no")) is None

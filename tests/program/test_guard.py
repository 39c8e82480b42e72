"""What the bot holds and keeps is its own: others cannot read it, and where they could, nothing starts."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli.assemble import AssemblyOptions, running_desk
from bot.cli.process import CANARY, canary_in_environment, clean_search_path, require_private_home
from bot.core.errors import SettingsError
from bot.core.gate import Gate
from bot.core.world import World
from tests.program.environment import Given

ROOT = Path(__file__).parents[2]
READS = """
# all that is imported later, too: whoever it becomes may not be able to read Python's own files
import ctypes, os, pathlib, subprocess
from bot.cli.process import restrict_process

def seen():
    found = [f"/proc/{os.getpid()}/{name}" for name in ("environ", "maps")]
    return subprocess.run(["head", "-qc1", *found], capture_output=True).stdout.decode()

os.setgroups([]); os.setgid(65534); os.setuid(65534)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
print(len(seen()))
os.umask(0o027)
print(restrict_process(), os.umask(0))
print(len(seen()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has PR_SET_DUMPABLE")
@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become somebody else")
def test_nobody_else_can_read_what_the_bot_makes_or_has_in_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", READS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    before, *umasks, after = map(int, done.stdout.split())
    assert (before, after) == (2, 0), done.stderr
    assert umasks == [0o027, 0o077]


def without_capabilities() -> None:
    """Root is then bound by the rights of files, too."""
    libc = ctypes.CDLL(None)
    for capability in range(41):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP; it counts from the next program on


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to give a folder to somebody else")
@pytest.mark.parametrize("folder", ["", "sessions"])
def test_a_folder_of_the_home_that_is_somebody_elses_is_named_with_what_to_do(
    tmp_path: Path, folder: str
) -> None:
    foreign = tmp_path / "home" / folder
    foreign.mkdir(parents=True)
    foreign.parent.chmod(0o700)
    os.chown(foreign, 65534, 65534)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "bot", "run", "Add a greeting"],
        cwd=tmp_path,
        env={**environment, "GWT_HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=without_capabilities,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    told = " ".join(done.stderr.split())
    assert str(foreign) in told
    assert "right to read and write" in told or "writable" in told


@pytest.mark.covers("O-X19")
def test_a_repository_never_says_which_program_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = "/usr/bin:.::node_modules/.bin:/home/ann/.worktrees/agent-x/bin:/opt/tools"
    monkeypatch.setenv("PATH", entries)
    clean_search_path()
    assert os.environ["PATH"] == "/usr/bin:/opt/tools"


def test_a_home_that_others_can_read_is_refused_with_how_it_is_mended(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    require_private_home(home)
    (home / "index.json").touch(0o600)
    require_private_home(home)
    (home / "audit.jsonl").touch()
    (home / "audit.jsonl").chmod(0o640)
    with pytest.raises(SettingsError, match=f"chmod -R go-rwx {home}") as told:
        require_private_home(home)
    assert "audit.jsonl" in str(told.value)
    assert "index.json" not in str(told.value)
    home.chmod(0o700)
    require_private_home(home)


async def test_the_bot_does_not_start_on_such_a_home(given: Given, tmp_path: Path) -> None:
    settings = given()
    settings.gwt_home.mkdir(mode=0o755)
    (settings.gwt_home / "sessions").mkdir(mode=0o755)
    with pytest.raises(SettingsError, match="can be read by others"):
        async with running_desk(AssemblyOptions(current=lambda: settings, chats={}, gate=Gate({}))):
            pass
    assert not (settings.gwt_home / "lock").exists()
    assert tmp_path in settings.gwt_home.parents


async def test_every_start_has_a_canary_of_its_own_which_is_masked(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CANARY, raising=False)
    settings, seen = given(), list[str]()

    def look(world: World) -> World:
        seen.append(os.environ[CANARY])
        assert world.masker.mask(f"it is {seen[-1]}!") == f"it is [MASKED:{CANARY}]!"
        return world

    for _ in range(2):
        plan = AssemblyOptions(current=lambda: settings, chats={}, gate=Gate({}), through=look)
        async with running_desk(plan):
            pass
    assert len(set(seen)) == 2
    assert CANARY not in os.environ


def test_a_canary_that_was_set_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CANARY, "of-the-tests")
    with canary_in_environment(os.environ) as environ:
        assert environ[CANARY] == os.environ[CANARY] == "of-the-tests"
    assert os.environ[CANARY] == "of-the-tests"

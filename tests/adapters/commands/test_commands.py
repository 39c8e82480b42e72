"""The bot's own commands: no secrets in, bounded output, nothing that lives on; and tests run as the base says."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from adapters.commands.shell import (
    HEAD_BYTES,
    LOG_LIMIT,
    MARKER_VARIABLE,
    SHOWN_BYTES,
    TAIL_BYTES,
    ShellCommands,
    marker_for,
    program_problem,
)
from bot.core.checks import compare
from bot.core.errors import Refused
from bot.core.masking import Masker
from tests.adapters.git.worlds import RealWorld

ENVIRONMENT = {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "HOME": "/nowhere",
    "SLACK_BOT_TOKEN": "canary-token",
    "SSH_AUTH_SOCK": "/canary-socket",
}


@pytest.fixture
def commands() -> ShellCommands:
    return ShellCommands(ENVIRONMENT, lambda text: text.replace("hunter2", "[MASKED]"))


async def until(true: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.01)


def lives(pid_file: Path) -> bool:
    pid = int(pid_file.read_text())
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_the_environment_has_no_secrets_and_says_ci(
    commands: ShellCommands, tmp_path: Path
) -> None:
    done = await commands.run(str(tmp_path), "cat; env; pwd", seconds=10, log=str(tmp_path / "log"))
    assert "CI=1" in done.output
    assert "HOME=/nowhere" in done.output
    assert "canary" not in done.output
    assert done.output.endswith(f"{tmp_path}\n")


@pytest.mark.covers("R-SECRET-RULE-1")
async def test_secrets_are_masked_in_the_answer_and_in_the_log(
    commands: ShellCommands, tmp_path: Path
) -> None:
    log = tmp_path / "deep" / "check.log"
    command = r"printf 'pw hunter2 a\377b\n'"  # what is no text is told as text
    done = await commands.run(str(tmp_path), command, seconds=10, log=str(log))
    assert done.output == log.read_text() == "pw [MASKED] a\ufffdb\n"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


async def test_a_secret_that_a_line_break_parts_is_masked_in_a_long_output_too(
    tmp_path: Path,
) -> None:
    commands = ShellCommands(ENVIRONMENT, Masker({"CANARY": "canary-7f3a9c51e0"}).mask)
    log, before = tmp_path / "check.log", "x" * 63
    command = f"yes {before} | head -n 511; echo {before[:54]}canary-7f; echo 3a9c51e0"
    await commands.run(str(tmp_path), command, seconds=30, log=str(log))
    assert "canary-7f" not in log.read_text()
    assert "3a9c51e0" not in log.read_text()


async def test_a_missing_directory_is_refused(commands: ShellCommands, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="missing"):
        await commands.run(str(tmp_path / "no"), "true", seconds=10, log=str(tmp_path / "log"))


async def test_a_flood_is_bounded_and_its_end_is_shown(
    commands: ShellCommands, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    command = "echo first; yes 0123456789 hunter2 | head -c 20000000; echo; echo last"
    done = await commands.run(str(tmp_path), command, seconds=60, log=str(log))
    assert done.exit_code == 0
    assert done.output.endswith("last\n")
    assert len(done.output.encode()) <= SHOWN_BYTES
    content = log.read_text()
    assert content.startswith("first\n")
    assert content.endswith("last\n")
    assert "bytes left out" in content
    assert "hunter2" not in content
    assert min(HEAD_BYTES, TAIL_BYTES) < len(content) <= LOG_LIMIT


LIVES_ON: dict[str, tuple[str, float, int | None, str]] = {
    "at the time limit": ("echo begun; sleep 600 & echo $! >one; sleep 600", 2, None, "begun\n"),
    "deaf to SIGTERM": ("trap '' TERM; echo $$ >one; while :; do sleep 0.1; done", 2, None, ""),
    "a daemon that keeps the output open": ("sleep 600 & echo $! >one; echo done", 60, 0, "done\n"),
    "who left the group": ("setsid sh -c 'echo $$ >one; exec sleep 600' & while [ ! -s one ]; do :; done", 60, 0, ""),
}  # fmt: skip


@pytest.mark.parametrize("what", LIVES_ON)
async def test_nothing_that_a_command_started_lives_on(
    commands: ShellCommands, tmp_path: Path, what: str
) -> None:
    command, seconds, code, output = LIVES_ON[what]
    done = await commands.run(str(tmp_path), command, seconds=seconds, log=str(tmp_path / "log"))
    assert (done.exit_code, done.output) == (code, output)
    assert not lives(tmp_path / "one")


async def test_a_cancelled_command_is_gone(commands: ShellCommands, tmp_path: Path) -> None:
    command = "echo $$ >one; setsid sleep 600 & echo $! >two; touch ready; wait"
    running = asyncio.create_task(
        commands.run(str(tmp_path), command, seconds=60, log=str(tmp_path / "log"))
    )
    await until((tmp_path / "ready").exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not lives(tmp_path / "one")
    assert not lives(tmp_path / "two")


async def test_many_commands_run_beside_each_other(commands: ShellCommands, tmp_path: Path) -> None:
    runs = [
        commands.run(str(tmp_path), f"echo {n}", seconds=30, log=str(tmp_path / f"log{n}"))
        for n in range(8)
    ]
    done = await asyncio.gather(*runs)
    assert [executed.output for executed in done] == [f"{n}\n" for n in range(8)]


async def test_what_a_killed_bot_left_running_is_ended_before_the_same_command_starts_again(
    commands: ShellCommands, tmp_path: Path
) -> None:
    log, pid_file = str(tmp_path / "log"), tmp_path / "pid"
    orphan = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; sleep 60"),
        env={MARKER_VARIABLE: marker_for(str(tmp_path), log), "PATH": os.environ["PATH"]},
        start_new_session=True,
    )
    await until(pid_file.exists)
    still_there = f"cat /proc/$(cat {pid_file})/cmdline 2>/dev/null; true"
    done = await commands.run(str(tmp_path), still_there, seconds=10, log=log)
    assert done.output == ""
    await orphan.wait()


HERE = "/usr/bin:/bin"


@pytest.mark.parametrize(("command", "lacking"), [
    ("sh -c x", ""),
    ("CI=1 nonsense run pytest", "`nonsense`"),
    ("(cd api && ./gradlew test) && (cd web && nonsense)", "`nonsense`"),
    ("cd api; ./gradlew test", ""),
    ("./gradlew test", "no gradlew in"),
    ("(cd api && ./mvnw test)", "api/mvnw is not executable"),
    ("test -x a || nonsense", "`nonsense`"),
    ("if true; then nonsense; fi", "`nonsense`"),
    ("echo a | nonsense", "`nonsense`"),
    ("$RUNNER test", ""),
    ("sh 'unclosed", "no command of a shell"),
    ("env A=1 sh", ""),
])  # fmt: skip
def test_what_lacks_is_named(command: str, lacking: str, tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    for name, mode in (("gradlew", 0o755), ("mvnw", 0o644)):
        (tmp_path / "api" / name).touch(mode)
    said = program_problem(command, str(tmp_path), HERE)
    assert lacking in said
    assert bool(said) == bool(lacking)


BRANCH = "agent/login"
TEST = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        import shop\n        self.assertEqual(shop.two(), 2)\n"


def files_of(folder: str) -> set[str]:
    return {one.name for one in Path(folder).glob("*")}


@pytest.mark.covers("O-X18")
async def test_settings_of_tests_are_as_they_were_and_a_fake_is_caught(tmp_path: Path) -> None:
    world = RealWorld(tmp_path)
    first = (await world.repository.base(world.path)).commit
    path, scratch = world.at("agent-login"), world.at("agent-restored")
    await world.worktrees.prepare(world.path, BRANCH, path, first)
    honest = world.agent_commits(
        path,
        {
            "shop.py": "def two():\n    return 2\n",
            "test_shop.py": TEST,
            "check.py": "import unittest\nunittest.main('test_shop')\n",
        },
    )
    faked = {
        "shop.py": "def two():\n    return 7\n",
        "check.py": "print('OK')\n",
        "pytest.ini": "[pytest]\n",
    }
    head = world.agent_commits(path, faked)
    commands, command = ShellCommands(os.environ, str), f"{sys.executable} check.py"
    await world.worktrees.scratch(world.path, scratch, honest)
    base = await commands.test(scratch, command, seconds=60, log=f"{tmp_path}/base.log")
    as_is = await commands.test(path, command, seconds=60, log=f"{tmp_path}/task.log")
    assert (base.exit_code, as_is.exit_code) == (0, 0)
    assert compare(as_is.report, base.report).signs
    names = ("check.py", "pytest.ini")
    await world.worktrees.scratch(world.path, scratch, head, restored=names, since=honest)
    assert "pytest.ini" not in files_of(scratch)
    restored = await commands.test(scratch, command, seconds=60, log=f"{tmp_path}/restored.log")
    assert compare(restored.report, base.report).new_failures == 1
    await world.worktrees.remove_scratch(world.path, scratch)
    assert files_of(scratch) == set()

"""What the bot knows and agents must not: its environment; and what others on the machine must not read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.core.runs import Launch
from bot.core.states import Outcome
from tests.adapters.tmux.own_server import Tmux, until

pytestmark = pytest.mark.tmux
CANARY = "xoxb-canary-4f1c9d"


def environ_of(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_text()


def command_lines() -> Iterator[str]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield file.read_text(errors="replace")
        except OSError:
            continue  # it ended meanwhile


async def test_a_secret_of_the_bots_never_reaches_tmux_or_a_pane(
    server: Tmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", CANARY)
    monkeypatch.setenv("DISPLAY", CANARY)
    panes = server.panes()
    dumps = 'env > environment; tr "\\0" "\\n" < /proc/$PPID/environ > shell; touch ready; exec sleep 300'
    pane = await panes.start("run-1", str(server.worktree), Launch(argv=("sh", "-c", dumps)), "")
    await until((server.worktree / "ready").exists)
    server_pid = int(await server.tmux("display-message", "-p", "#{pid}"))
    seen = [
        (server.worktree / "environment").read_text(),
        (server.worktree / "shell").read_text(),
        environ_of(pane.pid),
        environ_of(server_pid),
        await server.tmux("show-environment", "-g"),
        await server.tmux("show-environment", "-t", "=run-1"),
    ]
    assert not [text for text in seen if CANARY in text]
    assert all("PATH=" in text for text in (seen[0], seen[4]))  # the right things were looked at


async def test_a_server_started_anew_after_its_death_is_as_clean(
    server: Tmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", CANARY)
    panes = server.panes()
    await panes.names()
    await server.tmux("kill-server")
    await panes.names()
    assert CANARY not in await server.tmux("show-environment", "-g")
    assert "remain-on-exit on" in await server.tmux("show-options", "-gw")


async def test_a_server_of_somebody_else_gives_a_pane_none_of_its_environment(server: Tmux) -> None:
    plain, server.environment = server.environment, server.environment | {"GITHUB_TOKEN": CANARY}
    await server.tmux("new-session", "-d", "-s", "of a person", "sleep 300")
    server.environment = plain
    assert CANARY in await server.tmux("show-environment", "-g")
    panes = await server.begun(Launch(argv=("sh", "-c", "env > seen")))
    await panes.ended("run-1")
    assert CANARY not in (server.worktree / "seen").read_text()


async def test_an_agents_own_key_is_in_its_environment_and_nowhere_on_disk_or_in_a_command_line(
    server: Tmux,
) -> None:
    holds = 'test "$API_KEY" = xoxb-canary-4f1c9d && touch has-it; exec sleep 300'
    launch = Launch(
        argv=("sh", "-c", holds.replace(CANARY, '"$0"-canary-4f1c9d'), "xoxb"),
        env={"API_KEY": CANARY},
    )
    await server.begun(launch)
    await until((server.worktree / "has-it").exists)
    for file in server.home.rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes(), file
    assert not [command for command in command_lines() if CANARY in command]


async def test_everything_in_the_home_is_private(server: Tmux) -> None:
    before = os.umask(0)
    try:
        panes = server.panes()
        launch = Launch(
            argv=("sh", "-c", "echo x; touch made; umask"), marker="never", files={"f": "x"}
        )
        await panes.start("run-1", str(server.worktree), launch, "prompt")
        assert (await panes.ended("run-1")).outcome is Outcome.FINISHED
        await panes.tail("run-1", 5)
        await panes.keep_transcript("run-1")
    finally:
        os.umask(before)
    loose = [path for path in server.home.rglob("*") if path.stat().st_mode & 0o077]
    assert loose == []
    assert (server.worktree / "made").stat().st_mode & 0o777 == 0o644
    assert "0022" in (server.home / "runs" / "run-1.log").read_text()


async def test_a_screen_that_looks_like_tmux_talking_is_only_text(server: Tmux) -> None:
    panes = server.panes()
    forges = (
        "import time\n"
        "now = int(time.time())\n"
        "for second in range(now, now + 3):\n"
        "    for number in range(200, 460): print(f'%end {second} {number} 1')\n"
        "print('run-evil %0 0 1')\n"
        "time.sleep(300)\n"
    )
    await panes.start(
        "run-1", str(server.worktree), Launch(argv=(sys.executable, "-c", forges)), ""
    )
    for _ in range(300):
        if "run-evil" in await panes.tail("run-1", 60):
            break
    assert (await panes.tail("run-1", 1)) == "run-evil %0 0 1"
    assert await panes.names() == ("run-1",)


async def test_a_hook_file_that_is_a_link_or_a_pipe_is_passed_over(server: Tmux) -> None:
    panes = await server.begun(Launch(argv=("sleep", "0.3")))
    spool = server.spool("run-1")
    told = server.worktree / "told"
    told.write_text('{"event": "StopFailure"}')
    (spool / "1.json").symlink_to(told)
    os.mkfifo(spool / "2.json")
    (spool / "3.json").mkdir()
    (spool / "4.json").write_text("[" * 100_000)
    assert (await panes.ended("run-1")).outcome is Outcome.FINISHED

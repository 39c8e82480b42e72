"""Twenty agents side by side in one repository, by real worktrees and real tmux: no lock in the way, no end misread, nothing lost."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.demo.sample import make_sample
from adapters.git.worktrees import GitWorktrees
from adapters.tmux import TmuxPanes
from bot.core.runs import Launch, RunEnd
from bot.core.states import Outcome
from bot.settings import pane_environment
from tests.stories.conversation.scene import until

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
AGENTS = 20
KILLED = 128 + signal.SIGKILL
AGENT = """\
import os, pathlib, subprocess, sys, time
here, number, folder = pathlib.Path.cwd(), int(sys.argv[1]), pathlib.Path(sys.argv[2])
for commit in range(3):
    (here / f"of-{number}-{commit}.txt").write_text("work")
    subprocess.run(["git", "add", "."], check=True)
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", f"feat: {number}"], check=True)
(folder / f"{number}.pid").write_text(str(os.getpid()))
while not (folder / "go").exists():
    time.sleep(0.02)
if number % 2:
    time.sleep(120)
sys.exit(number)
"""


@asynccontextmanager
async def tmux(folder: Path) -> AsyncGenerator[TmuxPanes, None]:
    environment = pane_environment()
    panes = TmuxPanes(
        f"gwt-test-{os.getpid()}-{folder.name[-8:]}", folder, mask=str, environment=environment
    )
    try:
        yield panes
    finally:
        await panes.kill_server()
        await panes.close()


def head_of(repository: Path) -> str:
    argv = ("git", "-C", str(repository), "rev-parse", "HEAD")
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


async def test_twenty_agents_that_start_and_die_together_are_in_nobodys_way(tmp_path: Path) -> None:
    shop, notes = tmp_path / "shop", tmp_path / "notes"
    notes.mkdir()
    make_sample(shop)
    worktrees = GitWorktrees(tmp_path, pane_environment())
    base = await asyncio.to_thread(head_of, shop)
    async with tmux(tmp_path) as panes:

        async def lives(number: int) -> RunEnd:
            path = shop / ".worktrees" / f"agent-t{number}"
            await worktrees.prepare(str(shop), f"agent/t{number}", str(path), base)
            argv = (sys.executable, "-c", AGENT, str(number), str(notes))
            await panes.start(f"run-{number}", str(path), Launch(argv=argv, stdin="nothing"), "")
            return await panes.ended(f"run-{number}")

        agents = [asyncio.create_task(lives(number)) for number in range(AGENTS)]
        await until(lambda: len(list(notes.glob("*.pid"))) == AGENTS, lambda: f"{agents}")
        for number in range(1, AGENTS, 2):
            os.kill(int((notes / f"{number}.pid").read_text()), signal.SIGKILL)
        (notes / "go").touch()
        ends = await asyncio.gather(*agents)
    codes = [KILLED if number % 2 else number for number in range(AGENTS)]
    assert [end.exit_code for end in ends] == codes
    wanted = [Outcome.FAILED if code else Outcome.FINISHED for code in codes]
    assert [end.outcome for end in ends] == wanted
    for number in range(AGENTS):
        path = shop / ".worktrees" / f"agent-t{number}"
        work = await worktrees.work(str(path), base)
        assert len(work.commits) == 3
        assert not work.uncommitted

"""What lies in a home goes with its worktree: only there, through no link, and never from under somebody."""

from __future__ import annotations

import asyncio
import contextlib
import time

from adapters.commands.shell import ShellCommands
from adapters.git import GitWorktrees
from bot.core.runs import SandboxPaths
from tests.adapters.sandbox.jail import CANARY, Jail
from tests.adapters.tmux.own_server import until


async def test_with_a_worktree_of_the_bots_go_the_homes_of_those_who_worked_there(
    jail: Jail,
) -> None:
    sandbox = jail.sandbox()
    victim = jail.folder / "victim"
    victim.mkdir(mode=0o500)
    (victim / "kept").write_text(CANARY)
    await jail.run(
        f"ln -s {victim} ~/link; mkfifo ~/pipe; mkdir -p ~/go/mod; touch ~/go/mod/a; chmod 500 ~/go/mod; mkdir -m 0 ~/shut"
    )
    commands = ShellCommands(jail.environment, str, sandbox=sandbox)
    await commands.run(str(jail.work), "echo x > ~/cache", seconds=30, log=str(jail.spool / "log"))
    await jail.ran(sandbox.around(("true",), str(jail.other), SandboxPaths()))
    homes = jail.bot_home / "homes"
    assert len([*homes.glob("*/agent"), *homes.glob("*/commands")]) == 3
    worktrees = GitWorktrees(jail.bot_home, let_go=sandbox.let_go)
    removal = await worktrees.remove(str(jail.top), str(jail.work), "agent/work", None)
    assert removal.worktree_gone
    assert [one.name for one in homes.glob("*/*")] == ["agent"]
    assert ((victim / "kept").read_text(), victim.stat().st_mode & 0o777) == (CANARY, 0o500)


async def test_a_home_in_which_somebody_still_lives_is_left(jail: Jail) -> None:
    sandbox = jail.sandbox()
    words = sandbox.around(
        ("sh", "-c", "cd && touch here && sleep 600"), str(jail.work), SandboxPaths()
    )
    living = await asyncio.create_subprocess_exec(*words, env=jail.environment)
    homes = jail.bot_home / "homes"
    try:
        await until(lambda: [*homes.glob("*/agent/here")] != [])
        await sandbox.let_go(str(jail.work))
        assert [*homes.glob("*/agent/here")] != []
    finally:
        with contextlib.suppress(ProcessLookupError):
            living.kill()
        await living.wait()
    deadline = time.monotonic() + 20
    while [*homes.glob("*")] and time.monotonic() < deadline:  # those inside die a moment later
        await sandbox.let_go(str(jail.work))
    assert [*homes.glob("*")] == []

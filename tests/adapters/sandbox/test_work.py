"""What can be done in the sandbox: commits, a home that lasts and goes with its worktree, logins that are lent; nothing reaches further."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adapters.commands.shell import ShellCommands
from adapters.git import GitWorktrees
from bot.core.errors import Refused
from bot.core.runs import SandboxPaths
from tests.adapters.git.worlds import git
from tests.adapters.sandbox.jail import CANARY, Jail
from tests.adapters.tmux.own_server import until


@pytest.mark.covers("G-RULE-TRUST-2")
async def test_work_is_committed_amended_and_rebased(jail: Jail) -> None:
    said = await jail.run(
        "set -e; echo 2 > code.py; git commit -qam 'feat: two'; echo 3 > code.py; git commit -qa --amend --no-edit; "
        "echo 4 > b.txt; git commit -qam four; git rebase -q main; git checkout -q -b agent/aside; git switch -q agent/work; "
        "git merge -q agent/aside"
    )
    assert said.code == 0
    assert git(jail.top, "log", "--format=%s", "main..agent/work") == "four\nfeat: two"


async def test_a_home_is_the_worktrees_own_and_lasts(jail: Jail) -> None:
    await jail.run("echo kept > ~/notes; echo gone > /tmp/notes")
    assert (await jail.run("cat ~/notes /tmp/notes")).text.startswith("kept\ncat: ")
    assert not (jail.user_home / "notes").exists()
    elsewhere = jail.sandbox().around(
        ("cat", f"{jail.user_home}/notes"), str(jail.other), SandboxPaths()
    )
    assert "kept" not in (await jail.ran(elsewhere)).text


async def test_of_the_users_git_settings_only_the_name_is_there(jail: Jail) -> None:
    said = await jail.run("cat ~/.gitconfig")
    assert 'name = "Mika"' in said.text
    assert CANARY not in said.text


async def test_a_login_is_renewed_in_place_and_settings_are_copies(jail: Jail) -> None:
    login, settings = jail.user_home / ".login", jail.user_home / ".cli" / "settings"
    skills = jail.user_home / ".cli" / "skills"
    settings.parent.mkdir()
    for path in (login, settings, skills):
        path.write_text("before\n")
    lent = SandboxPaths(copies=(str(settings),), reads=(str(skills),), writes=(str(login),))
    script = (
        "cd ~ && cat .cli/settings .cli/skills .login && echo after > .login && "
        "echo after > new && mv new .cli/settings && cat .cli/settings; echo after > .cli/skills"
    )
    words = jail.sandbox().around(("sh", "-c", script), str(jail.work), lent)
    said = await jail.ran(words)
    assert said.text.startswith("before\nbefore\nbefore\nafter\n")
    assert [path.read_text() for path in (login, settings, skills)] == [
        "after\n",
        "before\n",
        "before\n",
    ]


async def test_a_folder_outside_the_home_is_one_of_the_worktrees_own(jail: Jail) -> None:
    folder = jail.folder / "cli"
    folder.mkdir()
    (folder / "settings").write_text("copied\n")
    (folder / "history").write_text(CANARY)
    lent = SandboxPaths(folders=(str(folder),), copies=(f"{folder}/settings",))
    script = f"cd {folder} && cat settings history; echo kept > conversation"
    sandbox = jail.sandbox()
    words = sandbox.around(("sh", "-c", script), str(jail.work), lent)
    said = await jail.ran(words)
    assert said.text.startswith("copied\n")
    assert CANARY not in said.text
    assert not (folder / "conversation").exists()
    there = sandbox.outside(str(jail.work), folder / "conversation", (str(folder),))
    assert there.read_text() == "kept\n"


@pytest.mark.parametrize("planted", ["link to a folder", "link to a file", "pipe"])
async def test_what_is_copied_goes_through_nothing_that_an_agent_left(
    jail: Jail, planted: str
) -> None:
    victim = jail.folder / "victim"
    victim.mkdir()
    settings = jail.user_home / ".claude" / "settings.json"
    script = {
        "link to a folder": f"mkdir ~/.x && ln -s {victim} ~/.claude",
        "link to a file": f"mkdir ~/.claude && ln -s {victim}/settings.json ~/.claude/settings.json",
        "pipe": "mkdir ~/.claude && mkfifo ~/.claude/settings.json",
    }
    await jail.run(script[planted])
    lent = SandboxPaths(copies=(str(settings),))
    with contextlib.suppress(Refused):
        jail.sandbox().around(("true",), str(jail.work), lent)
    assert list(victim.iterdir()) == []


async def test_an_operator_may_show_more_but_never_the_bots_own(jail: Jail) -> None:
    tools, cache = jail.folder / "tools", jail.folder / "cache"
    for folder in (tools, cache):
        folder.mkdir()
    (tools / "it").write_text("tool\n")
    sandbox = jail.sandbox(reads=(tools, jail.user_home, jail.top), writes=(cache,))
    script = f"cat {tools}/it; echo x > {tools}/it; echo x > {cache}/it; cat {jail.bot_home}/.env {jail.top}/.env"
    words = sandbox.around(("sh", "-c", script), str(jail.work), SandboxPaths())
    said = await jail.ran(words)
    assert said.text.startswith("tool\n")
    assert CANARY not in said.text
    assert ((tools / "it").read_text(), (cache / "it").read_text()) == ("tool\n", "x\n")


@pytest.mark.parametrize("changed", ["pointer", "objects", "reftable", "main"])
async def test_a_repository_that_leads_elsewhere_is_refused(jail: Jail, changed: str) -> None:
    where = jail.work
    match changed:
        case "pointer":
            (jail.work / ".git").write_text("gitdir: /tmp\n")
        case "objects":
            (jail.top / ".git/objects").rename(jail.folder / "objects")
            (jail.top / ".git/objects").symlink_to(jail.folder / "objects")
        case "reftable":
            (jail.top / ".git/reftable").mkdir()
        case _:
            where = jail.top
    with pytest.raises(Refused) as refused:
        jail.sandbox().around(("true",), str(where), SandboxPaths())
    assert refused.value.remedy


async def test_tests_run_in_it_and_see_no_login(jail: Jail) -> None:
    login = jail.user_home / ".login"
    login.write_text(CANARY)
    await jail.run("echo agent > ~/left-by-the-agent")
    commands = ShellCommands(jail.environment, str, sandbox=jail.sandbox())
    command = (
        "cat code.py; echo $CI; cat ~/.login ~/left-by-the-agent; echo 2 > $TOP/code.py; exit 3"
    )
    done = await commands.run(
        str(jail.work), command, seconds=60, log=str(jail.bot_home / "runs" / "log")
    )
    assert done.exit_code == 3
    assert done.output.startswith("1\n1\n")
    assert CANARY not in done.output
    assert "agent\n" not in done.output
    assert (jail.top / "code.py").read_text() == "1\n"


async def test_what_tests_leave_behind_dies_with_them(jail: Jail) -> None:
    alive = jail.work / "alive"
    script = f"env -i setsid sh -c 'while :; do touch {alive}; sleep 0.05; done' & sleep 600"
    commands = ShellCommands(jail.environment, str, sandbox=jail.sandbox())
    done = await commands.run(str(jail.work), script, seconds=1, log=str(jail.bot_home / "log"))
    assert done.exit_code is None
    await until(lambda: _stays_away(alive))


def _stays_away(path: Path) -> bool:
    """Removed, it is not made again by the time a shell has started."""
    path.unlink(missing_ok=True)
    subprocess.run(["sleep", "0.2"], check=True)
    return not path.exists()


async def test_a_test_run_reports_into_a_folder_that_only_it_can_write(jail: Jail) -> None:
    commands = ShellCommands(jail.environment, str, sandbox=jail.sandbox())
    (jail.work / "test_it.py").write_text(
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        pass\n"
    )
    runs = jail.bot_home / "runs"
    command = f"ls -A {jail.bot_home} {runs}; {sys.executable} -m unittest -v; touch {runs}/x"
    done = await commands.test(str(jail.work), command, seconds=60, log=f"{runs}/check-1.log")
    assert done.report, done.output
    assert done.report.tests == {"test_it.T.test_it": "passed"}
    assert done.report.complete
    # of the bot's home it sees that folder alone, and nothing beside it is kept
    assert "sessions" not in done.output
    assert CANARY not in done.output
    assert {one.name for one in runs.iterdir()} == {"check-1.log", "check-1.log.json"}


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
    worktrees = GitWorktrees(jail.bot_home, on_removed=sandbox.let_go)
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
    deadline = time.monotonic() + 120
    while [*homes.glob("*")] and time.monotonic() < deadline:  # those inside die a moment later
        await sandbox.let_go(str(jail.work))
    assert [*homes.glob("*")] == []

"""Agents in the sandbox, in panes of a real tmux: their end is told, they are stopped, their conversations are found again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from adapters.agents.launch import AgentClis
from bot.core.runs import Launch
from bot.core.states import Outcome
from bot.ports import Sandbox
from tests.adapters.agents.programs import Programs
from tests.adapters.sandbox.jail import Jail
from tests.adapters.tmux.own_server import Tmux, own_server, until

pytestmark = pytest.mark.tmux
PATIENCE = 120.0
CONVERSATION = "0b1f2c3d-0000-4000-8000-000000000001"


@pytest.fixture
async def server(jail: Jail) -> AsyncIterator[Tmux]:
    async with own_server(jail.folder) as made:
        made.home = jail.bot_home
        yield made


async def launch(jail: Jail, programs: Programs, agent: str, *, resume: bool = False) -> Launch:
    return await clis(jail, programs, jail.sandbox()).launch(
        agent,
        cwd=str(jail.work),
        prompt="do it",
        conversation=CONVERSATION,
        resume=resume,
        nonce="0f0f",
        spool=str(jail.spool),
    )


def clis(jail: Jail, programs: Programs, sandbox: Sandbox | None) -> AgentClis:
    environ = programs.environ | {"HOME": str(jail.user_home)}
    del environ["IS_SANDBOX"]
    return AgentClis(environ, sandbox=sandbox, user=lambda: 0)


@pytest.fixture
def programs(jail: Jail) -> Programs:
    """On the PATH of the machine, which the sandbox shows."""
    made = Programs(jail.folder / "programs")
    jail.path = made.environ["PATH"]
    return made


async def test_the_end_is_told_with_its_exit_code(
    jail: Jail, server: Tmux, programs: Programs
) -> None:
    programs.add("codex", "#!/bin/sh\ncat > heard; exit 3\n")
    panes = server.panes(environment=jail.environment)
    begun = await launch(jail, programs, "codex")
    await panes.start("run-1", str(jail.work), begun, "do it")
    end = await asyncio.wait_for(panes.ended("run-1"), PATIENCE)
    assert (end.outcome, end.exit_code) == (Outcome.FAILED, 3)
    assert (jail.work / "heard").read_text() == "do it"


async def test_a_stop_asks_first_and_leaves_nothing(
    jail: Jail, server: Tmux, programs: Programs
) -> None:
    programs.add(
        "codex",
        "#!/bin/sh\nenv -i setsid sh -c 'while :; do touch alive; sleep 0.05; done' &\n"
        "trap 'echo asked > asked; exit 0' TERM\ntouch ready\nwhile :; do sleep 0.1; done\n",
    )
    panes = server.panes(environment=jail.environment, grace=10)
    begun = await launch(jail, programs, "codex")
    await panes.start("run-1", str(jail.work), begun, "do it")
    await until(lambda: (jail.work / "alive").exists() and (jail.work / "ready").exists())
    assert await panes.stop("run-1") == ()
    assert (jail.work / "asked").exists()
    (jail.work / "alive").unlink(missing_ok=True)
    await until(lambda: not (jail.work / "alive").exists())


async def test_hooks_and_reports_reach_the_runs_folder(
    jail: Jail, server: Tmux, programs: Programs
) -> None:
    """As Claude Code calls a hook: by the settings that lie in the folder."""
    said = json.dumps({"hook_event_name": "Stop", "last_assistant_message": "Done."})
    programs.add(
        "claude", f"#!/bin/sh\necho '{said}' | {jail.spool}/hook.sh Stop\nexec sleep 600\n"
    )
    panes = server.panes(environment=jail.environment)
    begun = await launch(jail, programs, "claude")
    await panes.start("run-1", str(jail.work), begun, "do it")
    end = await asyncio.wait_for(panes.ended("run-1"), PATIENCE)
    assert (end.outcome, end.message) == (Outcome.FINISHED, "Done.")
    assert await panes.stop("run-1") == ()


async def test_a_conversation_is_gone_on_with_where_it_was_kept(
    jail: Jail, programs: Programs
) -> None:
    programs.add("claude")
    assert "--session-id" in (await launch(jail, programs, "claude", resume=True)).argv
    await jail.run(
        f"mkdir -p ~/.claude/projects/x && touch ~/.claude/projects/x/{CONVERSATION}.jsonl"
    )
    assert "--resume" in (await launch(jail, programs, "claude", resume=True)).argv
    # the user's own are no business of an agent's
    assert not (jail.user_home / ".claude" / "projects").exists()


async def test_root_needs_no_other_sandbox(jail: Jail, programs: Programs) -> None:
    programs.add("claude")
    (jail.user_home / ".claude.json").write_text('{"oauthAccount": {}}')
    sandbox = jail.sandbox()
    assert not (await clis(jail, programs, None).ready("claude", str(jail.top))).ok
    ready = await clis(jail, programs, sandbox).ready("claude", str(jail.top))
    assert (ready.ok, ready.problem) == (True, "")
    assert (await launch(jail, programs, "claude")).env["IS_SANDBOX"] == "1"


async def test_a_program_that_is_a_link_to_somewhere_else_is_found(
    jail: Jail, server: Tmux, programs: Programs
) -> None:
    """As installers do it: the link on the PATH, the program in the home folder, or in a package."""
    package = jail.user_home / "lib" / "node_modules" / "codex"
    package.mkdir(parents=True)
    (package / "other").write_text("found")
    program = package / "codex.sh"
    program.write_text(f"#!/bin/sh\ncat {package}/other > heard\n")
    program.chmod(0o755)
    (programs.bin / "codex").symlink_to(program)
    panes = server.panes(environment=jail.environment)
    await panes.start("run-1", str(jail.work), await launch(jail, programs, "codex"), "do it")
    await asyncio.wait_for(panes.ended("run-1"), PATIENCE)
    assert (jail.work / "heard").read_text() == "found"

"""The whole story with SANDBOX=bwrap: real bubblewrap around every agent and every test run, in real tmux and git."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from bot.core.states import Status
from tests.adapters.sandbox.jail import cannot
from tests.stories.console_person import at_a_terminal
from tests.stories.conversation.scene import Scene, ends_complete, is_planned, is_so, until
from tests.stories.serving import Hold

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


@pytest.mark.covers("G-RULE-TRUST-1")
async def test_a_request_becomes_merged_work_and_no_agent_is_ever_outside(tmp_path: Path) -> None:
    if reason := cannot():
        pytest.skip(f"bubblewrap does not work here: {reason}")
    gate = tmp_path / "gate"
    gate.mkdir()
    hold = Hold(gate)
    # no shims: what they lead to would have to be shown, too
    path = f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"
    environ = {"SANDBOX": "bwrap", "SANDBOX_READ": str(gate), "PATH": path, **hold.pace}
    async with at_a_terminal(tmp_path, **environ) as scene:
        await is_planned(scene)
        await scene.person.sees("Got it", "played, in a sandbox (bubblewrap)")
        await scene.person.presses("Approve")
        await until(lambda: len(agents(scene)) >= 2, lambda: scene.bot.out)
        assert not {namespace(one) for one in agents(scene)} & {namespace(psutil.Process())}

        await scene.person.says("stop")
        await is_so(scene, lambda one: one.status is Status.PAUSED)
        await until(lambda: not agents(scene), lambda: str(agents(scene)))

        await scene.person.says("resume")
        hold.release()
        await ends_complete(scene)
        assert (scene.bot.home / "homes").is_dir()


def agents(scene: Scene) -> list[psutil.Process]:
    """Programs of a run that are no part of its wrapper: those are the shell and the wall itself."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            ours = process.environ().get("GWT_SPOOL", "").startswith(f"{scene.bot.home}/spool/")
            if ours and process.name().startswith("python"):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def namespace(process: psutil.Process) -> str:
    return str(Path(f"/proc/{process.pid}/ns/pid").readlink())

"""A person takes an agent over that is in the sandbox, and the bot is killed meanwhile: the wall stands, and the work goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from bot.core.states import Outcome, RunState, TaskState
from tests.adapters.sandbox.jail import cannot
from tests.stories.asking.chats import in_a_channel
from tests.stories.asking.dialogs import TITLE, state, works
from tests.stories.conversation.scene import is_so, session, task_of, told, until
from tests.stories.test_agents_taken_over import answers_by_hand, attach_command
from tests.stories.test_sandboxed import agents, namespace
from tests.test_house import ROOT

pytestmark = [pytest.mark.tmux, pytest.mark.slow, pytest.mark.faults]


async def test_taken_over_in_the_sandbox_and_killed_meanwhile_it_goes_on_after_the_handback(
    tmp_path: Path,
) -> None:
    if reason := cannot():
        pytest.skip(f"bubblewrap does not work here: {reason}")
    async with in_a_channel(tmp_path, **in_the_sandbox(tmp_path / "plays")) as asked:
        plays, person, scene = asked.plays, asked.person, asked.scene
        plays.task("T001", [["menu", "make test"], ["wait", "end"]])
        plays.task("T002", [["wait", "second"]])
        await works(asked)
        await person.sees(TITLE, "make test")
        assert agents(scene)
        assert not {namespace(one) for one in agents(scene)} & {namespace(psutil.Process())}
        await person.says("takeover T001")
        await person.sees("T001 is yours")
        await person.sees(TITLE, "Taken over by Mika")
        answers_by_hand(asked, await attach_command(asked))
        inside = {one.pid for one in agents(scene)}
        scene.bot.kill()
        await person.bot_comes_back()
        assert inside <= {one.pid for one in agents(scene)}, "they work on"
        plays.release("end")
        plays.release("second")
        await is_so(scene, lambda one: task_of(one, "T002").state is TaskState.COMPLETED)
        assert state(session(scene), "T001") is RunState.RUNNING, "it is a person's still"
        await person.says("handback T001")
        await is_so(scene, lambda one: task_of(one, "T001").state is TaskState.COMPLETED)
        assert len(plays.starts("T001")) == 1
        ends = [one.outcome for task in session(scene).tasks[:2] for one in task.runs]
        assert set(ends) == {Outcome.FINISHED}, "none was begun again because the bot had died"
        await until(lambda: not agents(scene), lambda: told(scene))


def in_the_sandbox(folder: Path) -> dict[str, str]:
    """Settings with which agents that play what is written there are kept in."""
    return {
        "SANDBOX": "bwrap",
        "SANDBOX_READ": f"{ROOT},{sys.prefix},{sys.base_prefix}",
        "SANDBOX_WRITE": str(folder),
        # no shims: what they lead to would have to be shown, too
        "PATH": f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin",
    }

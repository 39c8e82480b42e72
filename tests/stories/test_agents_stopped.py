"""Stopped at any moment: every process that was started is dead within seconds, and nothing starts afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.states import Status, TaskState
from tests.stories.asking.chats import Asked, in_a_channel
from tests.stories.asking.dialogs import works
from tests.stories.asking.plays import lives
from tests.stories.conversation.scene import is_so, session, task_of, told, until
from tests.stories.test_agents_checked import checked, pids

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


async def is_stopped(asked: Asked) -> None:
    await asked.person.says("stop")
    await asked.person.sees("Stopped by Mika", "nothing is lost")
    await is_so(asked.scene, lambda one: one.status is Status.PAUSED)
    await until(lambda: not asked.plays.alive(), lambda: told(asked.scene))


async def goes_on(asked: Asked, key: str = "T001") -> None:
    """Nothing has started since the stop; all is done after a resume."""
    before = len(asked.plays.starts())
    await asked.person.says("status")
    await is_so(asked.scene, lambda one: one.status is Status.PAUSED)
    assert len(asked.plays.starts()) == before
    await asked.person.presses("Resume")
    await is_so(asked.scene, lambda one: task_of(one, key).state is TaskState.COMPLETED)


async def test_agents_that_hang_stand_still_or_have_children_of_their_own_are_dead(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T001", [["breed"], ["hang"]])
        asked.plays.task("T002", [["sleep_deeply"]])
        await works(asked)
        await until(lambda: len(asked.plays.children()) == 2, lambda: told(asked.scene))
        await until(lambda: asked.plays.starts("T002"), lambda: told(asked.scene))
        assert len(asked.plays.alive()) == 4
        await is_stopped(asked)
        assert asked.scene.bot.panes() == ()
        await goes_on(asked)


async def test_stopped_while_agents_are_being_started_none_is_left(tmp_path: Path) -> None:
    async with in_a_channel(tmp_path) as asked:
        asked.plays.task("T001", [["hang"]])
        asked.plays.task("T002", [["hang"]])
        await works(asked)
        await is_stopped(asked)
        await until(lambda: not asked.scene.bot.panes(), lambda: told(asked.scene))
        asked.plays.task("T001")
        asked.plays.task("T002")
        await goes_on(asked)


async def test_stopped_while_a_worktree_is_being_set_up_no_agent_starts(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    command = f"test -e {noted} || {{ echo $$ >{noted}; setsid sleep 300 & echo $! >>{noted}; sleep 300; }}"
    async with in_a_channel(tmp_path, GWT_SET_UP=command, GWT_PARALLEL="1") as asked:
        await works(asked)
        await until(
            lambda: noted.exists() and len(noted.read_text().split()) == 2,
            lambda: told(asked.scene),
        )
        await is_stopped(asked)
        started = [int(pid) for pid in noted.read_text().split()]
        await until(lambda: not any(map(lives, started)), lambda: f"{started}")
        assert not asked.plays.starts()
        await goes_on(asked)


async def test_stopped_while_tests_run_they_are_dead_and_run_again_after_resume(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path, **checked(tmp_path, "hang")) as asked:
        await works(asked)
        await until(lambda: len(pids(tmp_path)) == 2, lambda: told(asked.scene))
        await is_stopped(asked)
        await until(lambda: not any(map(lives, pids(tmp_path))), lambda: f"{pids(tmp_path)}")
        await goes_on(asked)
        assert len(task_of(session(asked.scene), "T001").runs) == 1
        assert len(asked.plays.starts("T001")) == 1

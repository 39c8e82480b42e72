"""An agent's account has nothing left: its tasks wait, nobody else does, and it goes on by itself or another takes over."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.demo.texts import REQUEST
from bot.core.states import TaskState
from tests.stories.asking.chats import Asked, in_a_channel
from tests.stories.asking.dialogs import works
from tests.stories.conversation.scene import LOOK_EVERY, is_so, session, task_of

pytestmark = [pytest.mark.tmux, pytest.mark.slow]
WAITS = "T001 waits: claude-print has reached the limit of its account"


async def is_done(asked: Asked, key: str, of: int = -1) -> None:
    await is_so(asked.scene, lambda one: task_of(one, key).state is TaskState.COMPLETED, of)


async def comes(at: datetime | None) -> None:
    """The time at which it goes on. It is a minute or two ahead: clocks differ."""
    assert at
    while datetime.now(UTC) < at:  # noqa: ASYNC110 - time passes by itself
        await asyncio.sleep(LOOK_EVERY)


@pytest.mark.covers("O-X14")
async def test_it_goes_on_in_the_same_conversation_when_the_limit_is_over_and_others_work_meanwhile(
    tmp_path: Path,
) -> None:
    async with in_a_channel(tmp_path, "claude", GWT_PARALLEL="1") as asked:
        asked.plays.task("T001", [["limit", "8"]])
        await works(asked)
        await asked.person.sees(WAITS, "Claude AI usage limit reached", "It goes on by itself at")
        waiting = await is_so(asked.scene, lambda one: not one.queue.has_place)
        not_before = task_of(waiting, "T001").next_run.not_before
        assert not asked.plays.starts("T002")
        await asked.person.asks(f"{REQUEST}, once more")
        await asked.person.presses("Use all defaults")
        await asked.person.presses("Approve")
        await is_done(asked, "T001", of=1)
        assert len(task_of(session(asked.scene, 0), "T001").runs) == 1
        await asked.person.goes_to(session(asked.scene, 0))
        await comes(not_before)
        await asked.person.sees(WAITS, "Goes on by the clock")
        await is_done(asked, "T001", of=0)
        first, second = task_of(session(asked.scene, 0), "T001").runs
        assert second.resumes
        mine = [one for one in asked.plays.conversations("T001") if one == first.conversation]
        assert len(mine) == 2
        assert task_of(session(asked.scene, 0), "T001").counters.failed_runs == 0


@pytest.mark.covers("O-X14")
async def test_another_agent_that_was_named_takes_over_at_a_press(tmp_path: Path) -> None:
    async with in_a_channel(tmp_path, "claude", GWT_PARALLEL="1") as asked:
        asked.plays.task("T001", [["limit", "600"]])
        await works(asked)
        await asked.person.sees(WAITS)
        await asked.person.presses("Use played instead", on=WAITS)
        await asked.person.sees(WAITS, "played takes over by Mika")
        await is_done(asked, "T001")
        await is_done(asked, "T002")
        assert [run.agent for run in task_of(session(asked.scene), "T001").runs] == [
            "claude-print",
            "played",
        ]
        assert task_of(session(asked.scene), "T002").runs[0].agent == "claude-print"

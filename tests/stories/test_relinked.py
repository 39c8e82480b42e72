"""The repository is moved while agents work in it: the session waits until somebody says where it is, and then goes on there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.states import RunState, Status
from tests.adapters.git.worlds import new_repository
from tests.stories.asking.chats import InAChannel, in_a_channel
from tests.stories.asking.dialogs import state, works
from tests.stories.conversation.scene import ends_complete, is_so, session, told, until

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


@pytest.mark.covers("O-P5")
async def test_a_repository_that_was_moved_is_missed_and_found_again_where_somebody_says(
    tmp_path: Path,
) -> None:
    other = new_repository(tmp_path / "other")
    async with in_a_channel(tmp_path) as asked:
        assert isinstance(asked.person, InAChannel)
        asked.plays.task("T001", [["wait", "end"]])
        await works(asked)
        await is_so(asked.scene, lambda one: state(one, "T001") is RunState.RUNNING)
        await until(lambda: asked.plays.starts("T001"), lambda: told(asked.scene))
        there = tmp_path / "moved here"
        former = asked.scene.bot.shop
        former.rename(there)
        asked.plays.release("end")
        await asked.person.sees("Paused", f"Repository not found at {former}", "relink")
        await until(lambda: not asked.plays.alive(), lambda: told(asked.scene))

        await asked.person.says(f"relink {other}")
        await asked.person.is_told(f"Repository not found at {other}")
        assert session(asked.scene).status is Status.PAUSED

        await asked.person.says(f"relink {there}")
        await asked.person.sees("Paused", f"Found at {there}")
        asked.scene.bot.shop = there
        ended = await ends_complete(asked.scene)
        assert ended.repository.path == str(there)
        assert len(asked.scene.bot.git("worktree", "list").splitlines()) == 1
        assert not former.exists()

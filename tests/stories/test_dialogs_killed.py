"""The bot is killed while an agent asks: what was typed is not typed again, and cards say how things stand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.stories.asking import killed
from tests.stories.asking.chats import Asked, in_a_channel

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


@pytest.mark.covers("O-C12")
@pytest.mark.parametrize(
    "dies",
    [
        killed.while_it_types_and_the_agent_still_asks,
        killed.while_it_types_and_the_agent_goes_on,
        killed.while_it_waits_for_an_answer,
    ],
)
async def test_a_bot_that_is_killed_types_nothing_twice(
    tmp_path: Path, dies: Callable[[Asked], Awaitable[None]]
) -> None:
    async with in_a_channel(tmp_path) as asked:
        await dies(asked)

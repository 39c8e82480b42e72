"""Pull requests from the request to the last merge, told in every chat: real program, tmux, git and sockets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.stories.console_person import at_a_terminal
from tests.stories.conversation import Scene
from tests.stories.every_chat import opener, told_in
from tests.stories.github import building_on, shipping
from tests.stories.github.hosting import hosting
from tests.stories.matrix_talker import in_a_room
from tests.stories.slack_talker import in_a_channel

pytestmark = [pytest.mark.tmux, pytest.mark.slow]

Open = Callable[..., AbstractAsyncContextManager[Scene]]
"""The bot at work in one chat; its arguments are the bot's environment."""


@pytest.fixture
def opened(request: pytest.FixtureRequest, chat: str) -> Open:
    return opener(request, chat, at_a_terminal, in_a_channel, in_a_room)


@told_in("slack")
@pytest.mark.covers(
    "G-US5.4", "G-RULE-FINISH-2", "G-RULE-FINISH-7", "G-FR-008", "B-CYCLE", "B-FLOW-RUN-16", "O-I1a"
)
async def test_three_pull_requests_one_upon_another_are_merged_in_order_and_nothing_is_left(
    opened: Open, tmp_path: Path
) -> None:
    async with hosting(tmp_path) as github, opened(**github.environ) as scene:
        await shipping.merges_all_in_order(scene, github)


@pytest.mark.covers("O-M17")
async def test_the_next_session_builds_on_what_was_merged_on_github(tmp_path: Path) -> None:
    async with (
        hosting(tmp_path) as github,
        in_a_channel(tmp_path, late=False, **github.environ) as scene,
    ):
        await building_on.what_was_merged_there(scene, github)

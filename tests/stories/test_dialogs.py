"""An agent asks in its pane, and people answer in every chat: real program, tmux and git; the model and the agents are played."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.stories.asking import dialogs
from tests.stories.asking.chats import Asked, at_a_terminal, in_a_channel, in_a_room

pytestmark = [pytest.mark.tmux, pytest.mark.slow]

Open = Callable[..., AbstractAsyncContextManager[Asked]]


@pytest.fixture(params=["console", "slack", "matrix"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    match request.param:
        case "console":
            return partial(at_a_terminal, tmp_path)
        case "slack":
            return partial(in_a_channel, tmp_path)
        case _:
            homeserver = request.getfixturevalue("homeserver")
            return partial(in_a_room, tmp_path, homeserver, request.getfixturevalue("people"))


@pytest.mark.covers("G-MOVE-RUN-4", "O-C12")
async def test_what_an_agent_asks_is_a_card_with_its_own_options_and_what_is_chosen_is_typed_once(
    opened: Open,
) -> None:
    async with opened() as asked:
        await dialogs.asks_and_is_answered(asked)


async def test_what_was_answered_for_the_whole_session_is_not_asked_again(opened: Open) -> None:
    async with opened() as asked:
        await dialogs.always_answers(asked)


async def test_of_what_is_answered_in_the_pane_the_card_says_that_it_is_not_asked_any_more(
    opened: Open,
) -> None:
    async with opened() as asked:
        await dialogs.is_answered_in_the_pane(asked)

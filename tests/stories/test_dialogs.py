"""An agent asks in its pane, and people answer in every chat: real program, tmux and git; the model and the agents are played."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from tests.stories.asking import dialogs
from tests.stories.asking.chats import Asked, at_a_terminal, in_a_channel, in_a_room
from tests.stories.every_chat import opener, told_in

pytestmark = [pytest.mark.tmux, pytest.mark.slow]

Open = Callable[..., AbstractAsyncContextManager[Asked]]


@pytest.fixture
def opened(request: pytest.FixtureRequest, chat: str) -> Open:
    return opener(request, chat, at_a_terminal, in_a_channel, in_a_room)


@told_in("console", "slack", "matrix")
@pytest.mark.covers("G-MOVE-RUN-4", "O-C12")
async def test_what_an_agent_asks_is_a_card_with_its_own_options_and_what_is_chosen_is_typed_once(
    opened: Open,
) -> None:
    async with opened() as asked:
        await dialogs.asks_and_is_answered(asked)


@told_in("slack")
async def test_what_was_answered_for_the_whole_session_is_not_asked_again(opened: Open) -> None:
    async with opened() as asked:
        await dialogs.always_answers(asked)


@told_in("console")
async def test_of_what_is_answered_in_the_pane_the_card_says_that_it_is_not_asked_any_more(
    opened: Open,
) -> None:
    async with opened() as asked:
        await dialogs.is_answered_in_the_pane(asked)

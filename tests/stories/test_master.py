"""The whole conversation with the master agent, told in every chat: real program, tmux and git; the model and the agents are played."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.stories import conversation
from tests.stories.console_person import at_a_terminal
from tests.stories.conversation import Scene, Tongue
from tests.stories.every_chat import opener, told_in
from tests.stories.matrix_talker import in_a_room
from tests.stories.serving import Hold
from tests.stories.slack_talker import in_a_channel

pytestmark = [pytest.mark.tmux, pytest.mark.slow]

Open = Callable[..., AbstractAsyncContextManager[Scene]]
"""The bot at work in one chat; its arguments are the bot's environment."""


@pytest.fixture
def opened(request: pytest.FixtureRequest, chat: str) -> Open:
    return opener(request, chat, at_a_terminal, in_a_channel, in_a_room)


@pytest.fixture
def tongue(chat: str) -> Tongue:
    """In one chat it is talked to in Japanese."""
    return conversation.JAPANESE if chat == "matrix" else conversation.ENGLISH


@told_in("slack", "matrix")
@pytest.mark.covers("G-RULE-DUTY-2", "G-FR-002b", "O-C16")
async def test_questions_are_answered_in_ones_own_words_and_a_partial_answer_leaves_the_rest_open(
    opened: Open, tongue: Tongue
) -> None:
    async with opened() as scene:
        await conversation.answers_in_own_words(scene, tongue)


@told_in("slack")
@pytest.mark.covers("G-RULE-PARALLEL-4")
async def test_two_rounds_of_changes_each_say_what_they_change(opened: Open) -> None:
    async with opened() as scene:
        await conversation.asks_for_changes_twice(scene)


@told_in("console")
@pytest.mark.covers("G-RULE-APPROVAL-6", "G-RULE-APPROVAL-7", "G-FR-020")
async def test_only_the_plan_stays_a_plan_until_somebody_says_run_it(opened: Open) -> None:
    async with opened() as scene:
        await conversation.only_wants_the_plan(scene)


@told_in("slack")
@pytest.mark.covers("G-RULE-APPROVAL-5", "G-RULE-LIVE-2", "G-RULE-LIVE-3", "G-FR-002c")
async def test_a_change_while_three_agents_work_stops_one_of_them_and_no_other(
    opened: Open, tmp_path: Path
) -> None:
    async with opened(**Hold(tmp_path).pace) as scene:
        await conversation.changes_its_mind_while_three_work(scene)


@told_in("matrix")
@pytest.mark.covers("G-RULE-CONTINUE-1", "G-RULE-CONTINUE-3", "G-RULE-CONTINUE-4", "G-FR-021")
async def test_after_the_end_more_goes_on_here_and_another_wish_in_a_session_of_its_own(
    opened: Open,
) -> None:
    async with opened() as scene:
        await conversation.goes_on_after_the_end(scene)


@told_in("console")
@pytest.mark.covers("G-EDGE-3", "G-RULE-LLMDOWN-1", "G-RULE-LLMDOWN-2")
async def test_while_the_model_is_away_agents_go_on_and_nothing_is_said_twice(
    opened: Open, tmp_path: Path
) -> None:
    async with opened(**Hold(tmp_path).pace) as scene:
        await conversation.works_through_an_outage(scene)


@told_in("slack")
async def test_a_decision_is_looked_up_and_taken_anew(opened: Open) -> None:
    async with opened() as scene:
        await conversation.decides_anew(scene)

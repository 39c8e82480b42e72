"""The whole conversation with the master agent, at a real terminal: real tmux and git; the model and the agents are played."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories import conversation
from tests.stories.console_person import at_a_terminal
from tests.stories.serving import Hold

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


async def test_questions_are_answered_in_ones_own_words_and_a_partial_answer_leaves_the_rest_open(
    tmp_path: Path,
) -> None:
    async with at_a_terminal(tmp_path) as scene:
        await conversation.answers_in_own_words(scene, conversation.ENGLISH)


async def test_two_rounds_of_changes_each_say_what_they_change(tmp_path: Path) -> None:
    async with at_a_terminal(tmp_path) as scene:
        await conversation.asks_for_changes_twice(scene)


async def test_only_the_plan_stays_a_plan_until_somebody_says_run_it(tmp_path: Path) -> None:
    async with at_a_terminal(tmp_path) as scene:
        await conversation.only_wants_the_plan(scene)


async def test_a_change_while_three_agents_work_stops_one_of_them_and_no_other(
    tmp_path: Path,
) -> None:
    async with at_a_terminal(tmp_path, **Hold(tmp_path).pace) as scene:
        await conversation.changes_its_mind_while_three_work(scene)


async def test_after_the_end_more_goes_on_here_and_another_wish_in_a_session_of_its_own(
    tmp_path: Path,
) -> None:
    async with at_a_terminal(tmp_path) as scene:
        await conversation.goes_on_after_the_end(scene)


async def test_while_the_model_is_away_agents_go_on_and_nothing_is_said_twice(
    tmp_path: Path,
) -> None:
    async with at_a_terminal(tmp_path, **Hold(tmp_path).pace) as scene:
        await conversation.works_through_an_outage(scene)


async def test_a_decision_is_looked_up_and_taken_anew(tmp_path: Path) -> None:
    async with at_a_terminal(tmp_path) as scene:
        await conversation.decides_anew(scene)

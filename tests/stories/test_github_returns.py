"""What comes back about pull requests reaches the agent of the task, once: real program, tmux, git and sockets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.github import checking, returning
from tests.stories.github.shipping import three_are_open
from tests.stories.github.workshop import workshop

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


async def test_what_ci_and_its_people_say_is_told_the_tasks_agent_once_and_for_three_rounds(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as shop:
        await three_are_open(shop.scene, shop.hosting)
        await returning.mends_what_ci_finds(shop)
        await returning.listens_to_its_people_only(shop)
        await returning.asks_a_person_after_three_rounds(shop)


@pytest.mark.covers("G-US5.5", "G-FR-009")
async def test_what_collides_with_the_base_is_settled_by_its_agent(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        await returning.settles_a_conflict(shop)


@pytest.mark.covers("O-M16")
async def test_nothing_is_merged_before_a_ci_that_takes_its_time_has_passed(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        await checking.waits_for_a_late_ci(shop)


async def test_a_stacked_pull_request_takes_in_what_was_squashed_below_it_without_a_collision(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as shop:
        await returning.a_stack_takes_in_what_was_squashed_below_it(shop)

"""What people do on the forge by themselves, and what they never get to see there: real program, tmux, git and sockets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stories.github import by_people
from tests.stories.github.workshop import workshop

pytestmark = [pytest.mark.tmux, pytest.mark.slow]


@pytest.mark.covers("G-US5.4", "G-RULE-FINISH-2")
async def test_merged_or_closed_by_people_counts_and_nobody_need_wait_for_the_rest(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as shop:
        await by_people.merge_close_and_give_up(shop)


@pytest.mark.covers("G-RULE-PR-1", "O-X11")
async def test_dishonest_work_never_becomes_a_pull_request_unless_a_person_accepts_it(
    tmp_path: Path,
) -> None:
    async with workshop(tmp_path) as shop:
        await by_people.nothing_dishonest_is_shown_to_anybody(shop)


async def test_a_faked_check_is_told_and_nothing_of_it_is_shown_as_passed(tmp_path: Path) -> None:
    async with workshop(tmp_path) as shop:
        await by_people.no_fake_check_counts_as_passed(shop)

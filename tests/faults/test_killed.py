"""R2: the real program is killed wherever it can be while something is built: nothing is lost, nothing is done twice."""

from __future__ import annotations

import random
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.beds.synapse import Homeserver, People
from tests.faults.figures import Count
from tests.faults.lives import KILL_SERVER, Lives
from tests.faults.stories import Story, in_a_channel, in_a_room

pytestmark = [pytest.mark.tmux, pytest.mark.slow, pytest.mark.timeout(3600)]
SLACK, MATRIX = "R2 in Slack", "R2 on Matrix"
MARKS = 1000
"""About as many does an undisturbed story make: one before and one after each call to a port."""
STRIDE, DEATHS = 80, 12
"""Marks between two deaths, and how often it dies in one story. With every first one, all marks are met."""
TRIPLES, PAIRS = 200, 100
IN_THE_MIDDLE = (
    "worktrees.commit_files:1",
    "before panes.start:2",
    f"panes.start:1{KILL_SERVER}",
    "commands.test:2",
    "forge.publish:2",
)
"""Of what cannot be half done: a commit, a pane, a check, a push."""


async def dies(
    story: Story,
    places: Sequence[str],
    gate: str,
    count: Count,
    by: signal.Signals = signal.SIGKILL,
) -> None:
    lost_agents = any(place.endswith(KILL_SERVER) for place in places)
    lives = Lives(story.bot, list(places), by)
    wrong = await story.lived_through(lives, lost_agents=lost_agents)
    count(gate, stories=1, deaths=len(lives.deaths), violations=len(wrong))
    assert not wrong, (places, lives.deaths, wrong)


def every(first: int) -> list[str]:
    return [str(first), *[str(STRIDE)] * (DEATHS - 1)]


def any_three(seed: int) -> list[str]:
    chance = random.Random(seed)  # noqa: S311 - the same deaths in every run
    return [str(chance.randrange(1, MARKS // 3)) for _ in range(3)]


def with_its_server(seed: int) -> list[str]:
    """After its first death its agents are dead as well."""
    chance = random.Random(seed)  # noqa: S311 - the same deaths in every run
    return [f"{chance.randrange(300, MARKS)}{KILL_SERVER}", str(chance.randrange(1, STRIDE))]


async def test_killed_in_the_middle_of_what_it_does_it_loses_and_doubles_nothing(
    tmp_path: Path, count: Count
) -> None:
    async with in_a_channel(tmp_path) as story:
        await dies(story, IN_THE_MIDDLE, SLACK, count)


async def test_killed_on_matrix_it_loses_and_doubles_nothing(
    tmp_path: Path, homeserver: Homeserver, people: People, count: Count
) -> None:
    async with in_a_room(tmp_path, homeserver, people) as story:
        await dies(story, ["230", f"160{KILL_SERVER}", "170"], MATRIX, count)


@pytest.mark.faults
@pytest.mark.parametrize("first", range(1, STRIDE + 1))
async def test_killed_at_every_point_in_slack(tmp_path: Path, first: int, count: Count) -> None:
    async with in_a_channel(tmp_path) as story:
        await dies(story, every(first), SLACK, count)


@pytest.mark.faults
@pytest.mark.parametrize("first", range(1, STRIDE + 1))
async def test_killed_at_every_point_on_matrix(
    tmp_path: Path, homeserver: Homeserver, people: People, first: int, count: Count
) -> None:
    async with in_a_room(tmp_path, homeserver, people) as story:
        await dies(story, every(first), MATRIX, count)


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(TRIPLES))
async def test_killed_three_times_anywhere(tmp_path: Path, seed: int, count: Count) -> None:
    async with in_a_channel(tmp_path) as story:
        await dies(story, any_three(seed), SLACK, count)


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(PAIRS))
async def test_killed_with_its_tmux_server(tmp_path: Path, seed: int, count: Count) -> None:
    async with in_a_channel(tmp_path) as story:
        await dies(story, with_its_server(seed), f"{SLACK}, with tmux", count)


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(20))
async def test_told_to_end_anywhere_it_goes_on_with_the_same_agents(
    tmp_path: Path, seed: int, count: Count
) -> None:
    """By SIGTERM, and each time with the exit code of an end that was wanted."""
    async with in_a_channel(tmp_path) as story:
        await dies(story, any_three(seed), f"{SLACK}, by SIGTERM", count, signal.SIGTERM)

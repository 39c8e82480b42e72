"""The real program is killed again and again while people talk to it on Matrix: nothing is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tests.beds.synapse import Homeserver, People
from tests.stories.fatal import FatalWay, When
from tests.stories.matrix_crowd import Crowd
from tests.stories.matrix_person import MatrixPerson
from tests.stories.serving import Serving, in_matrix, serving

pytestmark = [
    pytest.mark.faults,
    pytest.mark.tmux,
    pytest.mark.slow,
    pytest.mark.covers("O-MATRIX-5"),
]
KILLS, THREADS = 10, 3
FARTHEST = 18
"""Requests that it may still make."""
LONGEST_LIFE = 2.0
"""Seconds from its first request on; then it is killed at whatever it does."""


async def test_killed_at_random_it_loses_nothing_and_doubles_nothing(
    tmp_path: Path, homeserver: Homeserver, people: People
) -> None:
    mika, account = people("mika"), people("gwt")
    room = await mika.create_room()
    async with (
        FatalWay(homeserver.url) as way,
        serving(tmp_path, **in_matrix(way.url, account.login, room, mika.id)) as bot,
    ):
        anna = MatrixPerson(mika, account.id, room)
        way.spare()
        bot.start()
        await anna.invites_the_bot()
        assert await bot.end() == 0
        crowd = Crowd(anna, THREADS)
        chance = random.Random(11)  # noqa: S311 - the same deaths in every run
        for life in range(KILLS):
            talking = asyncio.create_task(crowd.talks(life))
            await live_and_die(way, bot, chance)
            await talking
        way.spare()
        bot.start()
        await crowd.comes_to_an_end()
        assert await bot.end() == 0
        assert list(crowd.wrong(bot.sessions())) == []
        assert "Traceback" not in bot.out


async def live_and_die(way: FatalWay, bot: Serving, chance: random.Random) -> None:
    way.wait_for(chance.randint(1, FARTHEST), chance.choice(list(When)), bot.kill)
    bot.start()
    await way.is_used()
    try:
        async with asyncio.timeout(LONGEST_LIFE):
            while bot.alive:  # noqa: ASYNC110 - another process ends
                await asyncio.sleep(0.01)
    except TimeoutError:
        way.end()

"""The real program is killed again and again while people talk to it in Slack: nothing is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tests.beds.slack import MIKA, SlackBed, invariants
from tests.stories.fatal import FatalWay, When
from tests.stories.serving import PATIENCE, Serving, in_slack, serving
from tests.stories.slack_crowd import Crowd

pytestmark = [pytest.mark.faults, pytest.mark.tmux, pytest.mark.slow]
KILLS, THREADS = 10, 3
FARTHEST = 10
"""Calls that a bot that listens may still make."""
LONGEST_LIFE = 2.0
"""Seconds; then it is killed at whatever it does."""


async def test_killed_at_random_it_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    async with (
        SlackBed(ack_seconds=1, time_scale=0.01) as bed,
        FatalWay(bed.world.base) as way,
        serving(tmp_path, **{**in_slack(bed, MIKA), "SLACK_API_URL": f"{way.url}/api"}) as bot,
    ):
        way.spare()
        bot.start()
        # what was said before its very first start is none of its business
        await bot.until((bot.home / "slack" / "heard.json").exists)
        bot.kill()
        crowd = Crowd(bed, THREADS)
        chance = random.Random(7)  # noqa: S311 - the same deaths in every run
        for life in range(KILLS):
            talking = asyncio.create_task(crowd.talks(life))
            await live_and_die(bed, way, bot, chance)
            await talking
        way.spare()
        bot.start()
        await crowd.comes_to_an_end()
        assert await bot.end() == 0
        assert list(crowd.wrong(bot.sessions())) == []
        again = sum("postEphemeral" in path for path in way.torn)
        assert crowd.helps <= len(crowd.told()) <= crowd.helps + again, way.ends
        assert "Traceback" not in bot.out
        invariants.check(bed, unacked=True)


async def live_and_die(bed: SlackBed, way: FatalWay, bot: Serving, chance: random.Random) -> None:
    """What is said is said while it is away, or comes, or is there."""
    number, when = chance.randint(1, FARTHEST), chance.choice(list(When))
    way.spare()
    if chance.random() < 0.3:
        way.wait_for(number, when, bot.kill)
        bot.start()
    else:
        bot.start()
        await bed.connected(seconds=PATIENCE)
        way.wait_for(number, when, bot.kill)
    await gone(way, bot)
    await bed.until(lambda: not bed.sockets.open, PATIENCE)


async def gone(way: FatalWay, bot: Serving) -> None:
    try:
        async with asyncio.timeout(LONGEST_LIFE):
            while bot.alive:  # noqa: ASYNC110 - another process ends
                await asyncio.sleep(0.01)
    except TimeoutError:
        way.end()

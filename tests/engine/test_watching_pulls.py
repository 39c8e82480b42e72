"""Open pull requests are watched for days: an outage is told when it begins and when it is over, strangers' words are not kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.domain.actions import WatchPulls
from bot.domain.events import Event, PullsSeen
from bot.domain.hosting import PullWanted
from bot.domain.tasks import PullRequest
from bot.engine.perform import shipping
from bot.errors import Unavailable
from tests.engine.test_only_what_was_seen import Bench, head
from tests.fakes.clock import FakeClock
from tests.fakes.forge import SLUG
from tests.flow.scenes import HOSTED


class Watched(Bench):
    """One open pull request, watched."""

    def __init__(self) -> None:
        super().__init__()
        assert isinstance(self.world.clock, FakeClock)
        self.clock = self.world.clock
        self.told: list[Event] = []

    async def begin(self) -> asyncio.Task[None]:
        one = await self.looked_at("T001")
        assert one.workspace
        branch, commit = one.workspace.branch, head(one)
        await self.forge.publish(self.repository.path, SLUG, branch, commit)
        wanted = PullWanted(branch=branch, commit=commit, base="main", title="feat: x", body="x")
        made = await self.forge.open(SLUG, wanted)
        one.pull_request = PullRequest(number=made.number, url=made.url, head=commit)
        session = self.session(one)
        session.hosted = HOSTED.model_copy(update={"slug": SLUG})
        order = WatchPulls(numbers=(made.number,))
        watching = shipping.watch_pulls(self.world, session, order, self.told.append)
        return asyncio.create_task(watching)

    @property
    def kinds(self) -> list[str]:
        return [event.kind for event in self.told]


@pytest.fixture
async def watched() -> AsyncIterator[Watched]:
    bench = Watched()
    task = await bench.begin()
    await bench.clock.advance(1)
    yield bench
    task.cancel()
    await asyncio.wait({task})


async def test_each_outage_is_told_once_and_so_is_its_end(watched: Watched) -> None:
    for number in (1, 2):
        watched.forge.problem = Unavailable("the forge is down")
        await watched.clock.advance(3600)
        assert watched.kinds.count("trouble_began") == number
        assert watched.kinds.count("trouble_ended") == number - 1
        watched.forge.problem = None
        await watched.clock.advance(130)
        assert watched.kinds.count("trouble_ended") == number


async def test_an_hour_without_the_forge_costs_no_more_than_a_try_a_minute(
    watched: Watched,
) -> None:
    watched.forge.problem = Unavailable("the forge is down")
    before = len(watched.forge.calls)
    await watched.clock.advance(3600)
    assert len(watched.forge.calls) - before <= 70


async def test_what_strangers_say_wakes_nobody_and_is_not_kept(watched: Watched) -> None:
    before = len(watched.told)
    for number in range(200):
        watched.forge.person_says(1, f"spam {number}" * 100, trusted=False)
    await watched.clock.advance(130)
    assert len(watched.told) == before
    watched.forge.person_says(1, "Rename it")
    await watched.clock.advance(130)
    seen = watched.told[-1]
    assert isinstance(seen, PullsSeen)
    assert [note.text for note in seen.pulls[0].notes] == ["Rename it"]

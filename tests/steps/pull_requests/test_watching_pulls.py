"""Open pull requests are watched for days: an outage is told when it begins and when it is over, strangers' words are not kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.core.actions import MergePull, WatchPulls
from bot.core.errors import Unavailable
from bot.core.events import Event, PullMergeTried, PullsSeen
from bot.core.forge import CiState, MergeTried, Obstacle, PullWanted
from bot.core.session import Session
from bot.core.task import PullRequest
from bot.steps.ship import work as ship
from tests.fakes.clock import FakeClock
from tests.fakes.forge import SLUG
from tests.steps.scenes import HOSTED
from tests.steps.verify.test_only_what_was_seen import Bench, head


class Watched(Bench):
    """One open pull request, watched."""

    def __init__(self) -> None:
        super().__init__()
        assert isinstance(self.world.clock, FakeClock)
        self.clock = self.world.clock
        self.told: list[Event] = []

    async def begin(self) -> asyncio.Task[None]:
        session, number, _ = await self._opened()
        order = WatchPulls(numbers=(number,))
        watching = ship.watch_pulls(self.world, session, order, self.told.append)
        return asyncio.create_task(watching)

    async def merge(self) -> PullMergeTried:
        session, number, head = await self._opened()
        order = MergePull(task_id=session.tasks[0].id, number=number, head=head)
        return await ship.merge_pull(self.world, session, order, self.told.append)

    @property
    def tried(self) -> list[MergeTried]:
        return [event.tried for event in self.told if isinstance(event, PullMergeTried)]

    async def _opened(self) -> tuple[Session, int, str]:
        one = await self.looked_at("T001")
        assert one.workspace
        branch, commit = one.workspace.branch, head(one)
        await self.forge.publish(self.repository.path, SLUG, branch, commit)
        wanted = PullWanted(branch=branch, commit=commit, base="main", title="feat: x", body="x")
        made = await self.forge.open(SLUG, wanted)
        one.pull_request = PullRequest(number=made.number, url=made.url, head=commit)
        session = self.session(one)
        session.pulls.host = HOSTED.model_copy(update={"slug": SLUG})
        return session, made.number, commit

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


async def test_a_wanted_merge_waits_for_its_checks_and_is_told_of_once() -> None:
    bench = Watched()
    merging = asyncio.create_task(bench.merge())
    bench.forge.has_ci = True
    await bench.clock.advance(130)
    assert [tried.obstacle for tried in bench.tried] == [Obstacle.CHECKS_MISSING]
    bench.forge.robot_says(1, "unit", CiState.PENDING)
    await bench.clock.advance(7200)
    assert [tried.obstacle for tried in bench.tried][1:] == [Obstacle.CHECKS]
    bench.forge.robot_says(1, "unit", CiState.PASSED)
    await bench.clock.advance(60)
    assert (await merging).tried.merged


async def test_checks_that_do_not_appear_in_time_end_the_wait_without_a_merge() -> None:
    bench = Watched()
    bench.forge.has_ci = True
    merging = asyncio.create_task(bench.merge())
    await bench.clock.advance(bench.world.rules.checks_seconds + 60)
    done = await merging
    assert (done.overdue, done.tried.obstacle) == (True, Obstacle.CHECKS_MISSING)
    assert bench.forge.pulls[1].state == "open"

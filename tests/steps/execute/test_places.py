"""The place to execute: one session of a repository at a time, repositories side by side."""

from __future__ import annotations

import asyncio
import functools
from datetime import UTC, datetime, timedelta

import pytest

from bot.core.errors import Unavailable
from bot.core.events import PlaceGranted
from bot.core.projections.records import Record
from bot.core.repository_queue import RepositoryQueue
from tests.fakes.chat import THREAD
from tests.fakes.store import MemoryStore
from tests.stories.stage import Stage

T0 = datetime(2026, 1, 1, tzinfo=UTC)
OTHER = THREAD.model_copy(update={"root": "2"})


class Line:
    """Sessions that ask for their place; `held` is who has got it, in order."""

    def __init__(self, most: int = 0) -> None:
        self.places = RepositoryQueue(most)
        self.places.open()
        self.held: list[str] = []
        self.positions: dict[str, tuple[int, int]] = {}
        """Where each stands, and how many wait."""
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def _granted(self, session: str) -> None:
        self.held.append(session)

    async def ask(self, repository: str, session: str, after: int = 0) -> None:
        asking = self.places.hold(
            repository,
            session,
            T0 + timedelta(seconds=after),
            functools.partial(self._granted, session),
            lambda position, waiting: self.positions.update({session: (position, waiting)}),
        )
        self._asking[session] = asyncio.create_task(asking)
        await self._settle()

    async def let_go(self, *sessions: str) -> None:
        for session in sessions:
            self._asking[session].cancel()
        await asyncio.gather(*(self._asking[s] for s in sessions), return_exceptions=True)
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)


@pytest.mark.covers("G-RULE-SCOPE-3", "G-RULE-SCOPE-4", "G-RULE-UI-4")
async def test_repositories_work_side_by_side_and_sessions_of_one_take_turns() -> None:
    line = Line()
    await line.ask("/shop", "a")
    await line.ask("/shop", "b", after=2)
    await line.ask("/shop", "c", after=1)
    await line.ask("/blog", "d", after=3)
    assert line.held == ["a", "d"]
    assert line.positions == {"a": (0, 2), "b": (2, 2), "c": (1, 2)}

    await line.let_go("a")
    assert line.held == ["a", "d", "c"]
    assert line.positions["b"] == (1, 1)
    assert line.positions["c"] == (0, 1)
    await line.let_go("b", "c", "d")


async def test_a_disk_that_is_full_as_the_place_is_granted_lets_nobody_else_in() -> None:
    class FullOnce(MemoryStore):
        left = 1

        def save(self, record: Record) -> None:
            granted = any(isinstance(event, PlaceGranted) for event in record.inbox)
            if self.left and granted and record.session.thread == THREAD:
                self.left -= 1
                raise Unavailable("the disk is full")
            super().save(record)

    stage = Stage()
    stage.store = store = FullOnce()
    await stage.open()
    await stage.is_planned()
    await stage.is_planned("Another", OTHER)
    await stage.approves()
    await stage.clock.advance(0.1)
    await stage.approves(OTHER)
    await stage.clock.advance(5)
    await stage.settle()

    assert not store.left
    held = [stage.session(thread).queue.has_place for thread in (THREAD, OTHER)]
    assert held == [True, False]
    await stage.close()


@pytest.mark.covers("G-RULE-SCOPE-3")
async def test_so_many_repositories_work_at_once_and_the_next_has_its_turn_when_one_is_done() -> (
    None
):
    line = Line(most=2)
    await line.ask("/shop", "a")
    await line.ask("/blog", "b", after=1)
    await line.ask("/shop", "c", after=2)
    await line.ask("/docs", "d", after=3)
    await line.ask("/site", "e", after=4)
    assert line.held == ["a", "b"]
    assert (line.positions["d"], line.positions["e"]) == ((1, 1), (1, 1))

    await line.let_go("b")
    assert line.held == ["a", "b", "d"]
    await line.let_go("a")
    # it has waited longer than the other repository's
    assert line.held == ["a", "b", "d", "c"]
    await line.let_go("d")
    assert line.held == ["a", "b", "d", "c", "e"]
    await line.let_go("c", "e")


async def test_who_held_the_place_goes_first_after_a_restart_whatever_the_clock_says() -> None:
    places = RepositoryQueue()
    late, early = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    served: list[str] = []

    async def serve(name: str) -> None:
        served.append(name)

    async with asyncio.TaskGroup() as group:

        def stand(name: str, since: datetime, *, held: bool) -> asyncio.Task[None]:
            granted = functools.partial(serve, name)
            return group.create_task(
                places.hold("/shop", name, since, granted, lambda _, __: None, held=held)
            )

        tasks = [stand("new", early, held=False), stand("old", late, held=True)]
        await asyncio.sleep(0)
        places.open()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
    assert served[0] == "old"

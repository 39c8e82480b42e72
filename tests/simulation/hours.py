"""Schedules with a purpose: one thing happens to a bot at work, and what comes of it is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bot.core.people import Thread
from bot.core.states import TaskState
from tests.fakes.chat import THREAD
from tests.simulation import ending
from tests.simulation.campaign import SWEPT
from tests.simulation.scene import Plan, Scene

STEP = 10.0


class Hours(Scene):
    """Nothing goes wrong by itself; people do what leads on. `story` is what happens."""

    def __init__(self, *, hosted: bool = False, threads: int = 1, seed: int = SWEPT) -> None:
        super().__init__(seed, Plan.quiet(hosted=hosted, at_call={}, threads=threads))

    async def story(self) -> None:
        raise NotImplementedError

    def threads(self) -> tuple[Thread, ...]:
        numbers = range(1, self.plan.threads + 1)
        return tuple(THREAD.model_copy(update={"root": str(number)}) for number in numbers)

    async def _wild(self) -> None:
        await self.story()

    async def _calm(self) -> None:
        self.calm = True
        ending.reached(self)

    async def until(self, reached: Callable[[], bool], hours: float = 6) -> None:
        """People go on helping until it is so."""
        end = self.loop.time() + hours * 3600
        while not reached():
            assert self.loop.time() < end, "it never came so far"
            self._help()
            await asyncio.sleep(STEP)

    def is_over(self) -> bool:
        return self._is_over()

    def states(self) -> list[TaskState]:
        return [task.state for _, task in self.watch.tasks()]

    def at_work(self) -> bool:
        return bool(self.panes.running())

"""Everybody clicks at once, and platforms deliver everything four times, in any order: it counts once. And many sessions at a start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bot.core.choices import Verb
from bot.core.states import Phase, Status
from tests.simulation.hours import Hours
from tests.simulation.people import OWNERS

CLICKS, TIMES = 250, 4
SESSIONS = 20


class Crowd(Hours):
    """The plan is there, and everybody approves it."""

    approvals = 0

    async def story(self) -> None:
        await self.until(lambda: self._phase() is Phase.APPROVING, hours=1)
        await asyncio.sleep(10)
        (thread,) = self.threads()
        (button,) = [one for one in self.people.choices(thread) if one.verb is Verb.APPROVE]
        again = self.people.again
        self.people.again = lambda: TIMES - 1
        for number in range(CLICKS):
            self.people.presses(thread, OWNERS[number % 2], button)
        self.people.again = again
        await self.until(self.is_over)

    def _phase(self) -> Phase | None:
        return next((r.session.phase for r in self.store.records.values()), None)


def test_a_thousand_clicks_at_once_approve_once(
    record_property: Callable[[str, object], None],
) -> None:
    crowd = Crowd()
    outcome = crowd.play()
    approved = outcome.seen["approved"]
    record_property("R7", f"{CLICKS * TIMES} clicks, {approved} effect")
    assert outcome.faults == ()
    assert approved == 1
    starts = len(crowd.panes.started)
    assert starts == sum(len(task.runs) for _, task in crowd.watch.tasks())


class Morning(Hours):
    """The bot is killed while many sessions are at work, and comes back."""

    back = noticed = float("inf")
    """Seconds after the start."""

    async def story(self) -> None:
        await self.until(lambda: len(self.store.records) == SESSIONS and self.at_work())
        self.crash()
        for name in self.panes.running():
            self.panes.finish(name)
        ended = {run.name for _, task in self.watch.tasks() for run in task.runs}
        lives = self.life.number
        await self._reached(lambda: self.life.number > lives)
        begin = self.loop.time()
        await self._reached(lambda: self.desk is not None)
        self.back = self.loop.time() - begin
        await self._reached(lambda: not self._alive(ended))
        self.noticed = self.loop.time() - begin

    async def _reached(self, reached: Callable[[], bool]) -> None:
        """Looked at ten times a second."""
        for _ in range(6_000):
            if reached():
                return
            await asyncio.sleep(0.1)

    def _alive(self, names: set[str]) -> bool:
        runs = [run for _, task in self.watch.tasks() for run in task.runs]
        return any(run.name in names and run.alive for run in runs)

    async def _calm(self) -> None:
        """What becomes of them all is not asked here."""


def test_twenty_sessions_are_back_at_once_and_what_ended_meanwhile_is_noticed(
    record_property: Callable[[str, object], None],
) -> None:
    morning = Morning(threads=SESSIONS)
    assert morning.play().faults == ()
    told = f"{SESSIONS} sessions back after {morning.back:.1f} s, ended agents noticed after {morning.noticed:.1f} s"
    record_property("R5", told)
    assert morning.back <= 5
    assert morning.noticed <= 10
    assert all(r.session.status is not Status.FAILED for r in morning.store.records.values())

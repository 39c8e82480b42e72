"""An hour without the model, the chat or GitHub, or all of them: agents go on, people hear of it once, nobody is called in a storm."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from bot.core.cards import ProblemCard, StatusCard
from bot.core.states import Outcome
from tests.simulation.hours import STEP, Hours

HOUR = 3600.0
MOST_TRIES = 70
"""In an hour, of each call that is waited for."""


class Outage(Hours):
    def __init__(self, *ports: str) -> None:
        super().__init__(hosted=True)
        self.ports = ports
        self.waiting = 0
        """Progress that had piled up when everything was back."""

    async def story(self) -> None:
        await self.until(self.at_work)
        self.nature.out |= {*self.ports}
        end = self.loop.time() + HOUR
        while self.loop.time() < end:
            self._help()
            await asyncio.sleep(STEP)
        self.nature.out.clear()
        (record,) = self.store.records.values()
        self.waiting = sum(action.key == "show:status" for action in record.outbox)
        await self.until(self.is_over)

    def outcomes(self) -> list[Outcome | None]:
        return [run.outcome for _, task in self.watch.tasks() for run in task.runs]

    def notices(self) -> list[str]:
        return [card.key for _, card in self.chat.shown if isinstance(card, ProblemCard)]


@pytest.mark.parametrize(
    "ports", [("model",), ("chat",), ("forge",), ("model", "chat", "forge")], ids="+".join
)
def test_an_hour_s_outage_kills_no_agent_and_is_told_once(
    ports: tuple[str, ...], record_property: Callable[[str, object], None]
) -> None:
    outage = Outage(*ports)
    assert outage.play().faults == ()
    tries = {port: outage.nature.struck[f"{port} fails"] for port in ports}
    record_property("R6", f"{'+'.join(ports)}: tries {tries}, {len(outage.notices())} notices")
    assert {*outage.outcomes()} == {Outcome.FINISHED}
    assert len(outage.notices()) <= 2
    assert sum(tries.values()) > 0
    assert all(number <= MOST_TRIES for number in tries.values())
    # the one that is being tried, and the newest
    assert outage.waiting <= 2
    assert sum(isinstance(card, StatusCard) for card in outage.chat.cards()) == 1

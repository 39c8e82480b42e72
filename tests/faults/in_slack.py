"""Mika in Slack: presses again only where Slack told her that it failed."""

from __future__ import annotations

from tests.beds.slack import Delivery, SlackBed, invariants
from tests.stories.slack_person import SlackPerson


class SlackHands:
    """Some `Hands`."""

    def __init__(self, bed: SlackBed) -> None:
        self.bed = bed
        self.mika = SlackPerson(bed)
        self._pressed: dict[str, Delivery] = {}

    async def asks(self, text: str) -> None:
        await self.mika.ask(text)

    async def presses_if_she_can(self, label: str, on: str) -> None:
        before = self._pressed.get(label)
        if before and (before.acked or not before.over.is_set()):
            return
        if offered := self.mika.offered(label, on):
            delivery = await self.bed.click(self.mika.user, offered[-1].ts, label)
            assert delivery
            self._pressed[label] = delivery

    def faults(self) -> list[str]:
        try:
            invariants.check(self.bed, unacked=True)
        except AssertionError as wrong:
            return str(wrong).splitlines()
        return []

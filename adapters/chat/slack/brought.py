"""What comes with somebody's words: files, and what was said before. It is fetched for those who may ask for something, and nobody else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from adapters.chat.slack.delivery import Delivery
from bot.domain.events import Attached
from bot.domain.people import Person
from bot.ports import MayAsk, nobody

Bring = Callable[[Delivery], Awaitable[Sequence[Attached]]]


@dataclass(frozen=True)
class Brought:
    brings: Sequence[Bring] = ()
    may_ask: MayAsk = nobody

    async def beside(self, delivery: Delivery, by: Person) -> tuple[Attached, ...]:
        """The gate, which says no to a stranger, comes after this."""
        if not self.may_ask(delivery.thread, by):
            return ()
        return tuple([file for bring in self.brings for file in await bring(delivery)])

"""What no session hears is remembered here, so that the same event is not answered again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from bot.domain.events import FromPeople

REMEMBERED = 5_000


class Once:
    def __init__(self) -> None:
        self._answered: dict[str, bool] = {}
        self._answering: dict[str, asyncio.Event] = {}

    async def known(self, event: FromPeople) -> bool | None:
        """Whether it was taken, if it has been answered; none: it has not. While it is answered this waits."""
        while answer := self._answering.get(event.id):
            await answer.wait()
        return self._answered.get(event.id)

    async def answered(
        self, event: FromPeople, answer: Awaitable[bool], *, taken: bool = True
    ) -> bool:
        """Has it been? If the answer fails, the same event is the next try."""
        over = self._answering[event.id] = asyncio.Event()
        try:
            answered = await answer
        finally:
            del self._answering[event.id]
            over.set()
        if answered:
            self._answered[event.id] = taken
        while len(self._answered) > REMEMBERED:
            del self._answered[next(iter(self._answered))]
        return answered

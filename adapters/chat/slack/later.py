"""A live card that changes faster than it may be edited: it waits a little, and only the last of what was wanted is shown.

Only what says that work goes on may wait: should the program end meanwhile, the next status says more anyway.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from adapters.chat.slack.asides import Asides
from adapters.chat.slack.native import Sign, sign_of
from bot.domain.cards import Card, StatusCard
from bot.domain.people import Thread

Key = tuple[str, str]


class Later:
    """`every`: so many seconds lie between two edits of a card. `now`: a clock that only goes forwards."""

    def __init__(self, asides: Asides, every: float, now: Callable[[], float]) -> None:
        self._asides = asides
        self._every = every
        self._now = now
        self._shown: dict[Key, float] = {}
        self._waiting: dict[Key, Card] = {}

    def shown(self, thread: Thread, card: Card) -> None:
        """It was posted or edited just now."""
        if not isinstance(card, StatusCard):
            return
        since = self._now() - self._every
        self._shown = {key: at for key, at in self._shown.items() if at > since}
        self._shown[thread.key, card.key] = self._now()

    def puts_off(self, thread: Thread, card: Card, show: Callable[[], Awaitable[None]]) -> bool:
        """Whether `show` will be called in a while, for what is then the last of it. Nothing older waits any more."""
        key = (thread.key, card.key)
        waits = key in self._waiting
        wait = self._wait(key) if _may_wait(card) else 0.0
        if wait <= 0:
            self._waiting.pop(key, None)
            return False
        self._waiting[key] = card
        if not waits:
            self._asides.begin("a status that had to wait", lambda: self._after(wait, show))
        return True

    def take(self, thread: Thread, key: str) -> Card | None:
        """What is still to be shown. It does not wait any more."""
        return self._waiting.pop((thread.key, key), None)

    def _wait(self, key: Key) -> float:
        return self._shown.get(key, float("-inf")) + self._every - self._now()

    async def _after(self, wait: float, show: Callable[[], Awaitable[None]]) -> None:
        await asyncio.sleep(wait)
        await show()


def _may_wait(card: Card) -> bool:
    return isinstance(card, StatusCard) and sign_of(card) is Sign.PROCESSING

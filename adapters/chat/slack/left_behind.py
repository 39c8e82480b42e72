"""When a live card is to be moved to the end of its thread: people have talked below it, and it was not moved just now; or it says so
itself. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from bot.domain.cards import Card, StatusCard
from bot.domain.people import Thread


class LeftBehind:
    """`every`: so many seconds lie between two moves. `now`: a clock that only goes forwards."""

    def __init__(self, every: float, now: Callable[[], float]) -> None:
        self._every = every
        self._now = now
        self._talks: Counter[str] = Counter()
        self._posted: dict[tuple[str, str], tuple[int, float]] = {}

    def talked(self, thread: Thread) -> None:
        """Somebody has said something there."""
        self._talks[thread.key] += 1

    def posted(self, thread: Thread, card: Card) -> None:
        """From now on it stands at the end."""
        if isinstance(card, StatusCard):
            self._posted[thread.key, card.key] = (self._talks[thread.key], self._now())

    def is_behind(self, thread: Thread, card: Card) -> bool:
        if not isinstance(card, StatusCard):
            return False
        if card.anew:
            return True
        talks, at = self._posted.get((thread.key, card.key), (0, float("-inf")))
        return self._talks[thread.key] > talks and self._now() - at >= self._every

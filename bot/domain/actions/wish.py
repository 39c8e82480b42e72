"""What every action has: a key that names its effect."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bot.domain.facts import Fact


class Wish(Fact, ABC):
    @property
    @abstractmethod
    def key(self) -> str:
        """Names the effect. The same key is never under way twice."""

"""What the model is asked that belongs to no session: a branch in short, what sort of wish a draft is, what was noticed."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.domain.world import Usage


@dataclass
class Beside:
    """Counted since the start: nothing is kept of it, as nothing depends on it."""

    usage: Usage = field(default_factory=Usage)

    def add(self, usage: Usage) -> None:
        self.usage += usage

"""One card of the catalogue: the state it shows, the card, and whether only one person sees it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.core.actions import Deed, Show, Whisper
from bot.core.cards import Card


@dataclass(frozen=True)
class Entry:
    name: str
    """kind/state: `questions/one is open`."""
    card: Card
    private: bool = False
    """Whispered to one person."""

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]

    @property
    def state(self) -> str:
        return self.name.partition("/")[2]


def entry(name: str, deed: Show | Whisper | Iterable[Deed]) -> Entry:
    """What is shown last of what was decided."""
    deeds = [deed] if isinstance(deed, Show | Whisper) else list(deed)
    shown = [one for one in deeds if isinstance(one, Show | Whisper)]
    assert shown, f"{name}: nothing is shown"
    last = shown[-1]
    return Entry(name, last.card, private=isinstance(last, Whisper))

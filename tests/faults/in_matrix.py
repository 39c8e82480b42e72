"""Mika on Matrix: what she has clicked stays clicked, so that she clicks once."""

from __future__ import annotations

from collections import Counter

from tests.stories.matrix_person import MatrixPerson
from tests.stories.matrix_talker import SURE, bears


class MatrixHands:
    """Some `Hands`."""

    def __init__(self, mika: MatrixPerson) -> None:
        self.mika = mika
        self._clicked: set[str] = set()

    async def asks(self, text: str) -> None:
        await self.mika.ask(text)

    async def presses_if_she_can(self, label: str, on: str) -> None:
        """Sometimes the bot asks whether she is sure, on a card of its own."""
        await self.mika.person.look(wait=0)
        for words in (on, *([SURE[label]] if label in SURE else [])):
            for card in self.mika.cards:
                for key in [one for one in card.keys if bears(one, label)]:
                    if words in card.text and card.event_id not in self._clicked:
                        self._clicked.add(card.event_id)
                        await self.mika.person.react(self.mika.room, card.event_id, key)

    def faults(self) -> list[str]:
        """The same card twice. A status may say again what it said before."""
        texts = Counter(card.text for card in self.mika.cards)
        return [f"posted {n} times: {text[:200]}" for text, n in texts.items() if n > 1]

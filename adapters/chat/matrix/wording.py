"""What is written where reactions do not count: the words of a choice, compared letter for letter, never understood.

Reactions are never encrypted, so that a homeserver could forge one. In encrypted rooms an operator may let words do it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.chat.matrix.chips import NUMBERS, Chip, chips
from adapters.posting import Ledger, Placed
from bot.domain.choices import Choice, Verb, said_as

WORDS = frozenset(said_as(Choice(label="", verb=verb)) for verb in Verb) - {""}
"""Of all choices that can be made by a word."""
_MARKS = "….!。"
"""What may stand behind the words."""


@dataclass(frozen=True)
class Worded:
    """A choice on a card that somebody has written."""

    placed: Placed
    choice: Choice


def words_of(chip: Chip) -> str:
    """What is written to choose it."""
    if said := said_as(chip.choice):
        return said
    if chip.emoji in NUMBERS:
        return str(NUMBERS.index(chip.emoji) + 1)
    return _label(chip).rstrip(_MARKS)


def written(cards: Sequence[Placed], text: str, verbs: frozenset[Verb]) -> Worded | None:
    """The choice that these words are, on the newest card that has it. Commands and approvals have their own way."""
    for placed in reversed(cards):
        offered = (chip for chip in chips(placed.choices) if chip.choice.verb in verbs)
        found = [chip.choice for chip in offered if _plain(text) in _worded(chip)]
        if len(found) == 1:
            return Worded(placed, found[0])
    return None


def offered_in(ledger: Ledger, room: str, text: str) -> Worded | None:
    """The choice that these words are on a card in that room, whatever its thread. Most talk is none, and costs nothing."""
    words = _plain(text)
    if not words or words.partition(" ")[0] not in WORDS:
        return None
    for thread in reversed(ledger.threads()):
        for placed in ledger.offering(thread) if thread.channel == room and thread.root else ():
            for choice in placed.choices:
                if said_as(choice) == words:
                    return Worded(placed, choice)
    return None


def _worded(chip: Chip) -> frozenset[str]:
    if said_as(chip.choice):
        return frozenset()
    return frozenset(map(_plain, (words_of(chip), _label(chip), chip.choice.label)))


def _label(chip: Chip) -> str:
    """As its chip would say it: two that are alike have a number behind."""
    return chip.key.partition(" ")[2]


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(_MARKS).casefold()

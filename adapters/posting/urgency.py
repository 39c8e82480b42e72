"""What is posted first when a channel has more to say than it may: what a person waits for."""

from __future__ import annotations

from enum import IntEnum

from bot.domain.cards import Card, DocumentCard, NewsCard, StatusCard, SummaryCard


class Urgency(IntEnum):
    """The smaller, the sooner."""

    PERSON = 0
    """Somebody waits for it: questions, approvals, answers, what needs a decision."""
    NEWS = 1
    STATUS = 2
    """The next one says more."""


def urgency(card: Card) -> Urgency:
    match card:
        case StatusCard():
            return Urgency.STATUS
        case NewsCard() | DocumentCard() | SummaryCard():
            return Urgency.NEWS
        case _:
            return Urgency.PERSON

"""What is posted first when a channel has more to say than it may: what a person waits for."""

from __future__ import annotations

from enum import IntEnum

from bot.domain.cards import (
    AnswerCard,
    Card,
    DocumentCard,
    NewsCard,
    StatusCard,
    SummaryCard,
)


class Urgency(IntEnum):
    """The smaller, the sooner."""

    PERSON = 0
    """Somebody waits for it: questions, approvals, what needs a decision, the word that one was heard."""
    ANSWER = 1
    NEWS = 2
    BUTTONS = 3
    """Where they are sent for themselves: whoever reads the card can say the same in words."""
    STATUS = 4
    """The next one says more."""


def urgency(card: Card) -> Urgency:
    match card:
        case StatusCard():
            return Urgency.STATUS
        case NewsCard() | DocumentCard() | SummaryCard():
            return Urgency.NEWS
        case AnswerCard(choices=()):
            return Urgency.ANSWER
        case _:
            return Urgency.PERSON

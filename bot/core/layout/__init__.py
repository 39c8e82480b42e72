"""Lays a card out as a sheet: one function per kind of card, independent of any platform."""

from __future__ import annotations

from typing import assert_never

from bot.core.cards import (
    AnswerCard,
    ApprovalCard,
    Card,
    DocumentCard,
    EarlierCard,
    HomeCard,
    NeedsYouCard,
    NewsCard,
    OfferCard,
    PartsCard,
    ProblemCard,
    PullsCard,
    QuestionsCard,
    ReceivedCard,
    RootCard,
    StatusCard,
    StoppedCard,
    SummaryCard,
)
from bot.core.layout import reporting, waiting
from bot.core.layout.waiting import approval
from bot.core.sheets import Sheet
from bot.core.text import capitalized


def lay_out(card: Card) -> Sheet:
    """Return the card's sheet. Its title is capitalized."""
    laid = _sheet_of(card)
    return laid.model_copy(update={"title": capitalized(laid.title)})


def _sheet_of(card: Card) -> Sheet:  # noqa: C901 - one case per kind of card
    match card:
        case ReceivedCard():
            return reporting.received(card)
        case QuestionsCard():
            return waiting.questions(card)
        case DocumentCard():
            return reporting.document(card)
        case ApprovalCard():
            return approval(card)
        case PartsCard():
            return waiting.parts(card)
        case EarlierCard():
            return waiting.earlier(card)
        case RootCard():
            return waiting.root(card)
        case StatusCard():
            return reporting.status(card)
        case NewsCard():
            return reporting.news(card)
        case NeedsYouCard():
            return waiting.needs_you(card)
        case OfferCard():
            return waiting.offer(card)
        case PullsCard():
            return waiting.pulls(card)
        case StoppedCard():
            return waiting.stopped(card)
        case SummaryCard():
            return reporting.summary(card)
        case ProblemCard():
            return reporting.problem(card)
        case AnswerCard():
            return Sheet(title=card.title, tone=card.tone, body=card.body, choices=card.choices)
        case HomeCard():
            return reporting.home(card)
        case _:
            assert_never(card)

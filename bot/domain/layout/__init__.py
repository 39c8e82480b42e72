"""Lays a card out: one function per kind of card, none of which knows a platform."""

from __future__ import annotations

from typing import assert_never

from bot.domain.cards import (
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
from bot.domain.layout import asking, elsewhere, looking, reporting
from bot.domain.layout.approval import approval
from bot.domain.layout.phrases import ago, counted, duration, spent, stands, used
from bot.domain.layout.reporting import MARKS
from bot.domain.sentences import capitalized
from bot.domain.sheets import Sheet

__all__ = ["MARKS", "ago", "counted", "duration", "sheet", "spent", "stands", "used"]


def sheet(card: Card) -> Sheet:
    """What stands on the card, from top to bottom. Titles and the texts of ports begin with a capital letter."""
    laid = _laid_out(card)
    return laid.model_copy(update={"title": capitalized(laid.title)})


def _laid_out(card: Card) -> Sheet:  # noqa: C901 - one case per kind of card
    match card:
        case ReceivedCard():
            return reporting.received(card)
        case QuestionsCard():
            return asking.questions(card)
        case DocumentCard():
            return reporting.document(card)
        case ApprovalCard():
            return approval(card)
        case PartsCard():
            return elsewhere.parts(card)
        case EarlierCard():
            return elsewhere.earlier(card)
        case RootCard():
            return elsewhere.root(card)
        case StatusCard():
            return reporting.status(card)
        case NewsCard():
            return reporting.news(card)
        case NeedsYouCard():
            return asking.needs_you(card)
        case OfferCard():
            return asking.offer(card)
        case PullsCard():
            return asking.pulls(card)
        case StoppedCard():
            return asking.stopped(card)
        case SummaryCard():
            return reporting.summary(card)
        case ProblemCard():
            return reporting.problem(card)
        case AnswerCard():
            return Sheet(title=card.title, tone=card.tone, body=card.body, choices=card.choices)
        case HomeCard():
            return looking.home(card)
        case _:
            assert_never(card)

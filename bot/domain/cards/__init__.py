"""Everything that can be shown: what a message means, not how it looks. `layout` says what stands on it.

A card's key is its identity in the thread: shown again under the same key it is edited where it stands.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.domain.cards.asking import (
    ApprovalCard,
    EarlierCard,
    NeedsYouCard,
    OfferCard,
    PartsCard,
    PlannedTask,
    PullLine,
    PullsCard,
    QuestionsCard,
    StoppedCard,
    WherePart,
)
from bot.domain.cards.looking import HomeCard
from bot.domain.cards.shown import Decided, Shown
from bot.domain.cards.telling import (
    AnswerCard,
    CheckLine,
    DocumentCard,
    NewsCard,
    ProblemCard,
    ReceivedCard,
    RootCard,
    StatusCard,
    SummaryCard,
    TaskLine,
)

__all__ = [
    "AnswerCard",
    "ApprovalCard",
    "Card",
    "CheckLine",
    "Decided",
    "DocumentCard",
    "EarlierCard",
    "HomeCard",
    "NeedsYouCard",
    "NewsCard",
    "OfferCard",
    "PartsCard",
    "PlannedTask",
    "ProblemCard",
    "PullLine",
    "PullsCard",
    "QuestionsCard",
    "ReceivedCard",
    "RootCard",
    "Shown",
    "StatusCard",
    "StoppedCard",
    "SummaryCard",
    "TaskLine",
    "WherePart",
]

Card = Annotated[
    ReceivedCard
    | QuestionsCard
    | DocumentCard
    | ApprovalCard
    | PartsCard
    | EarlierCard
    | RootCard
    | StatusCard
    | NewsCard
    | NeedsYouCard
    | OfferCard
    | PullsCard
    | StoppedCard
    | SummaryCard
    | ProblemCard
    | AnswerCard
    | HomeCard,
    Field(discriminator="kind"),
]

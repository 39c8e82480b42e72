"""Cards whose title stands in a coloured box: what went wrong, what is stuck, and what has come to its end."""

from __future__ import annotations

from adapters.chat.slack.drawing.ways import Kind, Ways
from bot.domain.cards import Card, NeedsYouCard, StoppedCard, SummaryCard
from bot.domain.sheets import Sheet, Tone


def level(card: Card, laid: Sheet, ways: Ways) -> str:
    """Slack's word for the colour; empty: it has no box, or none is taken."""
    if Kind.ALERT not in ways.kinds:
        return ""
    match card:
        case NeedsYouCard() | StoppedCard():
            return "" if card.decided else "warning"
        case SummaryCard() if laid.tone is Tone.SUCCESS:
            return "success"
        case _:
            return "error" if laid.tone is Tone.FAILURE else ""

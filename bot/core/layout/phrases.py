"""Words that stand on many cards: times, numbers, who decided."""

from __future__ import annotations

import re

from bot.core.cards import Decided
from bot.core.llm import Usage
from bot.core.plan import Spread
from bot.core.runs import AgentUsage
from bot.core.states import Phase, Status
from bot.core.text import counted, date_time


def spaced(state: str) -> str:
    """The name of a state as words: NeedsContinuation → Needs continuation."""
    return re.sub(r"(?<=[a-z])[A-Z]", lambda capital: f" {capital[0].lower()}", state)


def state_in_words(status: str, phase: str) -> str:
    """Where a session is. One that wanted only its documents is over where others are approved."""
    if (status, phase) == (Status.COMPLETED, Phase.APPROVING):
        return f"{status} · spec written"
    return f"{status} · {phase}"


def model_usage_in_words(usage: Usage) -> str:
    """What the model was asked so far."""
    return f"{counted(usage.calls, 'model call')}, about {usage.tokens:,} tokens"


def figures(spread: Spread, one: str, many: str) -> str:
    """What is usual, and between what it lies: 14 min (9–31)."""
    median, low, high = (f"{round(n):,}" for n in (spread.median, spread.low, spread.high))
    told = f"{median} {one if median == '1' else many}"
    return told if low == high else f"{told} ({low}–{high})"


def decided_by(decided: Decided) -> str:
    return f"{decided.what} by {decided.by}, {date_time(decided.at)}"


def usage_in_words(usage: AgentUsage) -> tuple[str, ...]:
    """What agents say they have used; nothing where they say nothing."""
    said: list[str] = []
    if tokens := usage.input_tokens + usage.output_tokens:
        said.append(f"{tokens:,} tokens")
    if usage.cost is not None:
        said.append(f"${usage.cost:.2f}")
    return tuple(said)

"""Phrases that many cards share: times, numbers, who decided."""

from __future__ import annotations

import re

from bot.core.cards import CardDecision
from bot.core.llm import Usage
from bot.core.plan import Spread
from bot.core.runs import AgentUsage
from bot.core.states import Phase, Status
from bot.core.text import counted, date_time


def state_as_words(state: str) -> str:
    """Return a state's name as words: NeedsContinuation → Needs continuation."""
    return re.sub(r"(?<=[a-z])[A-Z]", lambda capital: f" {capital[0].lower()}", state)


def state_in_words(status: str, phase: str) -> str:
    """Return the state of a session in words.

    A session that only had to write its documents is completed in the approving phase.
    """
    if (status, phase) == (Status.COMPLETED, Phase.APPROVING):
        return f"{status} · spec written"
    return f"{status} · {phase}"


def model_usage_in_words(usage: Usage) -> str:
    """Return the model's usage so far in words."""
    stood_in = f", {usage.stood_in} of them by the fallback" if usage.stood_in else ""
    return f"{counted(usage.calls, 'model call')}{stood_in}, about {usage.tokens:,} tokens"


def spread_in_words(spread: Spread, one: str, many: str) -> str:
    """Return median and range in words: 14 min (9–31)."""
    median, low, high = (f"{round(n):,}" for n in (spread.median, spread.low, spread.high))
    told = f"{median} {one if median == '1' else many}"
    return told if low == high else f"{told} ({low}–{high})"


def decided_by(decided: CardDecision) -> str:
    return f"{decided.what} by {decided.by}, {date_time(decided.at)}"


def usage_in_words(usage: AgentUsage) -> tuple[str, ...]:
    """Return what agents report as their usage; empty if they report nothing."""
    said: list[str] = []
    if tokens := usage.input_tokens + usage.output_tokens:
        said.append(f"{tokens:,} tokens")
    if usage.cost is not None:
        said.append(f"${usage.cost:.2f}")
    return tuple(said)

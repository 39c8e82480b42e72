"""Phrases that many cards share: times, numbers, who decided."""

from __future__ import annotations

import re
from collections.abc import Collection

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


_PARTS = {
    "repository.context": "code found for the request",
    "repository.directory_tree": "folders",
    "repository.project_meta": "project files",
    "repository.source_overview": "overview of the sources",
    "repository.specs_summary": "list of specs",
    "conversation": "old messages",
    "previous": "former documents",
}


def shortened_in_words(usage: Usage, questions: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return by question which parts of its prompt were shortened; of these questions only, if any are named."""
    found: dict[str, dict[str, None]] = {}
    for one in usage.shortened:
        question, _, part = one.partition(": ")
        if not questions or question in questions:
            plain = re.sub(r"_left_out$|_not_shown$|\.content$", "", part)
            name = _PARTS.get(plain) or _PARTS.get(plain.partition(".")[0])
            name = name or plain.rpartition(".")[2].replace("_", " ")
            found.setdefault(question.replace("_", " "), {})[name] = None
    return {question: tuple(parts) for question, parts in found.items()}


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

"""The selected model, its replies, their cost, and how much a prompt may hold.

No tokenizer is used: three bytes count as one token, corrected by the endpoint's own figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from typing import cast

from bot.core.facts import Fact

AI_SETTINGS_REQUIRED = "AI settings are required"
"""The error text if no model is configured."""


class ModelRole(StrEnum):
    """What a model is asked for. The settings may name one of its own for each; otherwise it is the main one."""

    MAIN = "main"
    JUDGE = "judge"
    """It says whether work is done."""
    SMALL = "small"
    """It answers short questions that a cheap model can answer."""


class Turn(Fact):
    """A turn of a conversation with the model, after the data."""

    answer: str
    """What the model has said."""
    then: str
    """What the bot says to it."""


class Tool(Fact):
    """Something that the model may ask to see before it answers."""

    name: str
    description: str
    parameters: dict[str, object]
    """A JSON schema of an object."""


class ModelChoice(Fact):
    """The model in the settings. Never contains a key."""

    provider: str
    base_url: str = ""
    model: str = ""
    key_set: bool = False
    missing: str = ""
    """What is missing in the settings, in a sentence; empty if the model can be asked."""


MOST_SHORTENED = 60


class Usage(Fact):
    """What the master LLM has cost so far."""

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: int = 0
    """The estimated tokens of the prompts, to be compared with the endpoint's own figures."""
    milliseconds: int = 0
    """Time spent waiting for replies."""
    stood_in: int = 0
    """Replies of the fallback, because the model in question was away."""
    shortened: tuple[str, ...] = ()
    """What was shortened to fit into a prompt, each once: `plan: repository.context`."""
    provider: str = ""
    """The provider of the last reply; `model` is its model."""
    model: str = ""
    setting: str = ""
    """Which of the models in the settings that is: a role, or the fallback."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            reply_tokens=self.reply_tokens + other.reply_tokens,
            estimated=self.estimated + other.estimated,
            milliseconds=self.milliseconds + other.milliseconds,
            stood_in=self.stood_in + other.stood_in,
            shortened=tuple(dict.fromkeys((*self.shortened, *other.shortened)))[-MOST_SHORTENED:],
            provider=other.provider or self.provider,
            model=other.model or self.model,
            setting=other.setting or self.setting,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.reply_tokens


class Reply(Fact):
    """One reply of the LLM, as text, with its cost."""

    text: str
    usage: Usage
    model: str = ""
    finish_reason: str = "stop"
    context_window: int = 0
    """The window of the model if the reply names it, else 0."""


# What a text costs in tokens, and how many tokens may be sent at once.

BYTES_PER_TOKEN = 3
BUDGET_IF_UNKNOWN = 12_000
"""Tokens that may be sent if the size of the model's context window is unknown."""
SHARE_OF_WINDOW = 0.8
"""Share of the context window for the prompt. The rest is for the reply and for errors of the estimate."""
WEIGHT_OF_NEW_FIGURE = 0.3
LEAST_SCALE, MOST_SCALE = 0.5, 2.0
"""Bounds of the correction.

Code has 3.2 to 4.4 bytes per token, Japanese about three: a figure below half the estimate cannot be that of the whole
prompt.
"""


SHORTENED = "… (shortened)"
"""Stands at the end of a text that was shortened to fit, for the model and for `shortened_parts`."""
LEFT_OUT = ("_left_out", "_not_shown", "unseen")
"""Endings of the names of fields that say what is missing."""


def shortened_parts(data: object, name: str = "") -> Iterator[str]:
    """Yield the names of the parts of a prompt's data that were shortened or left out."""
    if isinstance(data, dict):
        for key, value in cast("dict[str, object]", data).items():
            inner = f"{name}.{key}".strip(".")
            if key.endswith(LEFT_OUT) and value:
                yield inner
            else:
                yield from shortened_parts(value, inner)
    elif isinstance(data, list):
        for value in cast("list[object]", data):
            yield from shortened_parts(value, name)
    elif isinstance(data, str) and data.endswith(SHORTENED):
        yield name


CONTEXT_SHARE = 0.25
MOST_CONTEXT = 24_000
"""Tokens of code that a prompt begins with. More of it makes answers worse: models lose what stands in the middle."""


def context_tokens(window: int) -> int:
    """Return how many tokens of code go into a prompt for a model with this window; 0 means unknown."""
    return min(MOST_CONTEXT, int((window or BUDGET_IF_UNKNOWN) * CONTEXT_SHARE))


def estimate_tokens(text: str, scale: float = 1.0) -> int:
    """Estimate the tokens of a text. `scale` is the correction learned from the endpoint's figures."""
    size = len(text.encode("utf-8", "replace"))
    return math.ceil(size / BYTES_PER_TOKEN * scale)


def corrected_scale(usage: Usage, old: float) -> float:
    """Return an improved correction factor. A single odd figure changes it little, many change it much."""
    if usage.prompt_tokens <= 0 or usage.estimated <= 0:
        return old  # many endpoints report no tokens
    if seems_truncated(usage):
        return old  # counting it would make tokens seem cheap, so that ever more would be sent and cut off
    seen = _bounded_scale(usage.prompt_tokens / usage.estimated)
    return _bounded_scale(old + WEIGHT_OF_NEW_FIGURE * (seen - old))


def seems_truncated(usage: Usage) -> bool:
    """Whether the server read less than it was sent: some silently drop the beginning of a prompt that does not fit."""
    return usage.prompt_tokens > 0 and usage.prompt_tokens < usage.estimated * LEAST_SCALE


def _bounded_scale(scale: float) -> float:
    return min(MOST_SCALE, max(LEAST_SCALE, scale))


def token_budget(window: int) -> int:
    """Return how many tokens may be sent to a model with this context window; 0 means that it is unknown."""
    return int(window * SHARE_OF_WINDOW) if window > 0 else BUDGET_IF_UNKNOWN

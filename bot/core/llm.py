"""Which model is asked, one answer of it, what its use has cost, and how much it can take.

Nothing here knows a tokenizer: three bytes are taken for one token, and the endpoint's own figures correct
that.
"""

from __future__ import annotations

import math

from bot.core.facts import Fact

AI_SETTINGS = "AI settings are required"
"""What is said where nobody has set which model is asked."""


class ModelChoice(Fact):
    """Which model is asked, as the settings tell. Never a key."""

    provider: str
    base_url: str = ""
    model: str = ""
    key_set: bool = False
    missing: str = ""
    """What is still to be set, in a sentence; empty: it can be asked."""


class Usage(Fact):
    """What the master LLM has cost so far."""

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: int = 0
    """The prompts' tokens as they were estimated: held against the endpoint's own figures."""
    milliseconds: int = 0
    """Waited for answers."""
    provider: str = ""
    """Who answered last, and which model that was."""
    model: str = ""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            reply_tokens=self.reply_tokens + other.reply_tokens,
            estimated=self.estimated + other.estimated,
            milliseconds=self.milliseconds + other.milliseconds,
            provider=other.provider or self.provider,
            model=other.model or self.model,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.reply_tokens


class Reply(Fact):
    """One answer of the LLM, as text, with what it cost."""

    text: str
    usage: Usage
    model: str = ""
    finish_reason: str = "stop"
    context_window: int = 0
    """Of the model, where the answer tells it; 0: it does not."""


# What a text costs in tokens, and how many may be sent at once.

BYTES_PER_TOKEN = 3
BUDGET_IF_UNKNOWN = 12_000
"""What may be sent where nobody has said how large the model's window is."""
SHARE_OF_WINDOW = 0.8
"""Of the window. The rest is for the answer, and for being wrong about the figures."""
WEIGHT_OF_NEW_FIGURE = 0.3
LEAST_SCALE, MOST_SCALE = 0.5, 2.0
"""What a token can cost. Code has 3.2 to 4.4 bytes a token, Japanese about three: less than half the estimate is no figure
of the whole prompt."""


CONTEXT_SHARE = 0.25
MOST_CONTEXT = 24_000
"""Tokens of code that a prompt begins with. More of it makes answers worse: models lose what stands in the middle."""


def context_tokens(window: int) -> int:
    """How many tokens of the repository's code go into a prompt for a model with such a window; 0: it is not known."""
    return min(MOST_CONTEXT, int((window or BUDGET_IF_UNKNOWN) * CONTEXT_SHARE))


def estimate_tokens(text: str, scale: float = 1.0) -> int:
    """How many tokens a text costs, about. `scale` is what the endpoint's figures have taught."""
    size = len(text.encode("utf-8", "replace"))
    return math.ceil(size / BYTES_PER_TOKEN * scale)


def corrected_scale(usage: Usage, old: float) -> float:
    """A better scale, after some answers. One odd figure moves it little, many move it far."""
    if usage.prompt_tokens <= 0 or usage.estimated <= 0:
        return old  # many endpoints report nothing
    if seems_truncated(usage):
        return old  # it would teach that tokens are cheap, so that ever more is sent and cut
    seen = _bounded_scale(usage.prompt_tokens / usage.estimated)
    return _bounded_scale(old + WEIGHT_OF_NEW_FIGURE * (seen - old))


def seems_truncated(usage: Usage) -> bool:
    """Whether the server has read less than it was sent: some drop the beginning of what does not fit, and say nothing."""
    return usage.prompt_tokens > 0 and usage.prompt_tokens < usage.estimated * LEAST_SCALE


def _bounded_scale(scale: float) -> float:
    return min(MOST_SCALE, max(LEAST_SCALE, scale))


def token_budget(window: int) -> int:
    """How many tokens may be sent at once to a model with such a window; 0: it is not known."""
    return int(window * SHARE_OF_WINDOW) if window > 0 else BUDGET_IF_UNKNOWN

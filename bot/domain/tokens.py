"""How much the model can take: what a text costs in tokens, what may be sent at once, which talk has grown too old.

Nothing here knows a tokenizer: three bytes are taken for one token, and the endpoint's own figures correct that.
"""

from __future__ import annotations

import math

from bot.domain.session import Session, Speaker
from bot.domain.world import Usage

BYTES_PER_TOKEN = 3
UNKNOWN = 12_000
"""What may be sent where nobody has said how large the model's window is."""
SHARE = 0.8
"""Of the window. The rest is for the answer, and for being wrong about the figures."""
VERBATIM = 20
"""The last messages of a conversation are always told word for word."""
NEW_WEIGHT = 0.3
LEAST, MOST = 0.5, 2.0
"""What a token can cost. Code has 3.2 to 4.4 bytes a token, Japanese about three: less than half the estimate is no figure
of the whole prompt."""


def estimate(text: str, scale: float = 1.0) -> int:
    """How many tokens a text costs, about. `scale` is what the endpoint's figures have taught."""
    size = len(text.encode("utf-8", "replace"))
    return math.ceil(size / BYTES_PER_TOKEN * scale)


def scale_from(usage: Usage, old: float) -> float:
    """A better scale, after some answers. One odd figure moves it little, many move it far."""
    if usage.prompt_tokens <= 0 or usage.estimated <= 0:
        return old  # many endpoints report nothing
    if seems_cut(usage):
        return old  # it would teach that tokens are cheap, so that ever more is sent and cut
    seen = _within(usage.prompt_tokens / usage.estimated)
    return _within(old + NEW_WEIGHT * (seen - old))


def seems_cut(usage: Usage) -> bool:
    """Whether the server has read less than it was sent: some drop the beginning of what does not fit, and say nothing."""
    return usage.prompt_tokens > 0 and usage.prompt_tokens < usage.estimated * LEAST


def _within(scale: float) -> float:
    return min(MOST, max(LEAST, scale))


def budget(window: int) -> int:
    """How many tokens may be sent at once to a model with such a window; 0: it is not known."""
    return int(window * SHARE) if window > 0 else UNKNOWN


def talk_to_summarise(session: Session, window: int) -> int:
    """How many of the oldest messages one summary shall stand for; 0: the conversation is short enough."""
    talk = session.conversation
    old = talk[:-VERBATIM]
    if all(message.role is Speaker.SYSTEM for message in old):
        return 0  # a summary of nothing but a summary would never end
    tokens = estimate("\n".join(message.content for message in talk), session.token_scale)
    return len(old) if tokens > budget(window) / 2 else 0

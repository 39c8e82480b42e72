"""What one answer cost: as reported where it is reported, else estimated by bytes. Pure."""

from __future__ import annotations

import math

from bot.domain.world import Usage

_BYTES_A_TOKEN = 3
"""Japanese and code both come out near the truth; four characters a token misses Japanese by two thirds."""


def usage_of(asked: str, said: str, *, prompt_tokens: object, reply_tokens: object) -> Usage:
    """The cost of one call. What was reported may be anything."""
    return Usage(
        calls=1,
        prompt_tokens=_count(prompt_tokens, asked),
        reply_tokens=_count(reply_tokens, said),
    )


def _count(reported: object, text: str) -> int:
    if isinstance(reported, int) and not isinstance(reported, bool) and reported > 0:
        return reported
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_A_TOKEN)

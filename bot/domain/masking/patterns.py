"""Secrets told by their looks: tokens by their shape, values by the label in front of them, or by the command they stand in.

Whatever finds secrets says where they stand, without regard to the others; what overlaps becomes one mask. So a label
never takes the beginning of a private key away from the pattern that knows where it ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from bot.domain.masking.commands import in_commands
from bot.domain.masking.headers import in_headers
from bot.domain.masking.known import MASK, Span
from bot.domain.masking.labels import labelled
from bot.domain.masking.shapes import private_keys, tokens

_PASSES = 4
_SHORT = 512
"""Characters of a text that is worth remembering: titles, names and states come again with every card."""
_MOST_REMEMBERED = 1_024
"""Such texts: a session has some ninety."""
_BY_LABEL = (
    "SERVICE_TOKEN",
    "AUTH_HEADER",
    "SET_COOKIE",
    "COOKIE",
    "JSON_CREDENTIAL",
    "ENV_CREDENTIAL",
    "BEARER_TOKEN",
    "URL_PASSWORD",
    "GENERIC_SECRET",
)
"""Names that say less than those of the other shapes, the more telling first."""
_RANK = {name: rank for rank, name in enumerate(_BY_LABEL, 1)}


def mask_patterns(text: str) -> str:
    """Replace what looks like a secret; a label stays in front of its value."""
    return _remembered(text) if len(text) <= _SHORT else _masked(text)


@lru_cache(maxsize=_MOST_REMEMBERED)
def _remembered(text: str) -> str:
    return _masked(text)


def _masked(text: str) -> str:
    # A mask may let the words around it be read differently, so it is looked at again: masking twice is masking once.
    for _ in range(_PASSES):
        masked = _masked_once(text)
        if masked == text:
            break
        text = masked
    return text


def _masked_once(text: str) -> str:
    # İ alone becomes two characters in lower case, and every place behind it would be wrong.
    low = text.replace("\u0130", "i").lower()
    spans = [
        *private_keys(text),
        *tokens(text),
        *in_headers(text, low),
        *labelled(text, low),
        *in_commands(text),
    ]
    if not spans:
        return text
    parts: list[str] = []
    done = 0
    for span in _merged(text, spans):
        parts += [text[done : span.start], f"[MASKED:{span.name}]"]
        done = span.end
    return "".join([*parts, text[done:]])


def _merged(text: str, spans: Iterable[Span]) -> list[Span]:
    """In order, overlapping ones as one under the sharper name; a mask that is touched is taken in whole."""
    masks = [Span(*match.span(), "") for match in MASK.finditer(text)]
    merged: list[Span] = []
    for span in sorted([*spans, *masks]):
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            span = Span(last.start, max(last.end, span.end), _sharper(last.name, span.name))
        merged.append(span)
    return [span for span in merged if span.name]


def _sharper(one: str, other: str) -> str:
    if not one or not other:
        return one or other
    return min(one, other, key=lambda name: _RANK.get(name, 0))

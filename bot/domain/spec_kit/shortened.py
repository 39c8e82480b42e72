"""Changed lines, made short enough to be read at a glance: what changed is never what is cut away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

ADDED = "+"
GONE = "−"
MOST_LINES = 6
LONGEST = 160
_LEAD = 40
"""So much of what two lines have in common stands before the place where they part."""


def bounded(details: Sequence[str]) -> tuple[str, ...]:
    """The first lines, and how many more there are."""
    if len(details) <= MOST_LINES:
        return tuple(details)
    shown = details[: MOST_LINES - 1]
    return (*shown, f"… and {len(details) - len(shown)} more lines")


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def pair(gone: str, added: str, before: str = "") -> Iterator[str]:
    """A line and what became of it, from shortly before the place where they differ if they are long."""
    at = _parting(gone, added)
    for sign, text in ((GONE, gone), (ADDED, added)):
        line = f"{before}{sign} {text}"
        if len(line) > LONGEST and at > _LEAD:
            line = f"{before}{sign} …{text[at - _LEAD :]}"
        yield shortened(line)


def _parting(one: str, other: str) -> int:
    """The first place at which two texts differ."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)

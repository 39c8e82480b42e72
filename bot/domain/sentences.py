"""What ports say is wrong, and what helps, as people read it."""

from __future__ import annotations

_ENDS = (".", "!", "?", "…", "。", ":")


def sentences(*said: str) -> str:
    """One after the other, each with its full stop. A first word stays as it is: it may be the name of a branch."""
    told = filter(None, map(str.strip, said))
    return " ".join(one if one.endswith(_ENDS) else f"{one}." for one in told)

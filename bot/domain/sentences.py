"""Short texts for people: joined into sentences, begun with a capital letter, shortened with a note of what is left out."""

from __future__ import annotations

_ENDS = (".", "!", "?", "…", "。", ":")
_LOWER_CASE_NAMES = frozenset({"bwrap", "gh", "git", "gwt-bot", "make", "npm", "tmux"})
"""Programs are written as they are typed, also at the beginning of a sentence."""


def sentences(*said: str) -> str:
    """One after the other, each with its full stop. A first word stays as it is: it may be the name of a branch."""
    told = filter(None, map(str.strip, said))
    return " ".join(one if one.endswith(_ENDS) else f"{one}." for one in told)


def capitalized(text: str) -> str:
    """With a capital letter in front, where the first word is an ordinary one and not a name, a path or code."""
    first = text.partition(" ")[0].rstrip(",.:;!?")
    ordinary = first.isalpha() and first.islower() and first not in _LOWER_CASE_NAMES
    return text[:1].upper() + text[1:] if ordinary else text


def continued(text: str) -> str:
    """A sentence as the end of a longer one: a small letter in front, no full stop behind."""
    first = text.partition(" ")[0]
    small = text[:1].lower() + text[1:] if first.istitle() and first.isalpha() else text
    return small.rstrip().removesuffix(".")


def shortened(text: str, most: int) -> str:
    """At most so many characters of it, and how many are left out."""
    if len(text) <= most:
        return text
    kept = text[:most].rstrip()
    return f"{kept} … ({len(text) - len(kept):,} more characters)"

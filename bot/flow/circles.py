"""Does a task go in circles? Too many steps, the same pattern again, or the same words three times: then a person is asked."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

MOST_STEPS = 12
REMEMBERED = MOST_STEPS
WINDOW = 3
OWN_BOUND = frozenset({"check_failed"})
"""What may happen in the same words: how often is counted elsewhere."""
ALIKE = 0.8
COMPARED = 600
"""Characters of what happened that are held against each other."""


def seen(past: Sequence[str], kind: str, happened: str) -> str:
    """Why no further step is taken, in a sentence; empty: on with it. `past` has `kind>choice: what happened` each."""
    if len(past) >= MOST_STEPS:
        return f"These are {MOST_STEPS} steps already."
    if _repeats([*(_pattern(entry) for entry in past), kind]):
        return "The same has happened in the same order before."
    if kind not in OWN_BOUND and _alike(past, kind, happened):
        return f"The same has happened {WINDOW} times."
    return ""


def _pattern(entry: str) -> str:
    return entry.partition(":")[0].partition(">")[0]


def _repeats(kinds: Sequence[str]) -> bool:
    """A, B, A, B: two different things by turns, twice."""
    last = kinds[-4:]
    return len(last) == 4 and last[:2] == last[2:] and last[0] != last[1]


def _alike(past: Sequence[str], kind: str, happened: str) -> bool:
    same = [entry.partition(": ")[2] for entry in past if _pattern(entry) == kind]
    window = [*same, happened][-WINDOW:]
    if len(window) < WINDOW:
        return False
    return all(_ratio(one, happened) >= ALIKE for one in window[:-1])


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one[:COMPARED], other[:COMPARED], autojunk=False).ratio()

"""Cases for trying a model on a repository's own history, and what came of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean

from bot.core.facts import Fact


class HistoryCase(Fact):
    """A commit: what was asked for, as its message says, and what was changed."""

    commit: str
    parent: str
    request: str
    touched: tuple[str, ...]
    """The source files it changed that were there before."""
    patch: str


class TrialResult(Fact):
    part: str
    commit: str
    score: float
    """From 0 to 1."""
    told: str = ""
    tokens: int = 0
    seconds: float = 0.0


def recall(found: Iterable[str], wanted: Sequence[str]) -> float:
    """Return the share of the wanted files that were found."""
    known = {*found}
    return sum(path in known for path in wanted) / len(wanted) if wanted else 0.0


def with_a_part_missing(patch: str) -> str:
    """Return the patch without its largest file, or without its largest hunk if it changes only one; empty if that was
    all.
    """
    files = _pieces(patch, "diff --git ")
    if len(files) > 1:
        return "".join(one for one in files if one is not max(files, key=len))
    pieces = _pieces(patch, "@@ ")  # the head first
    if len(pieces) > 2:
        largest = max(pieces[1:], key=len)
        return "".join(one for one in pieces if one is not largest)
    return ""


def _pieces(text: str, beginning: str) -> list[str]:
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.startswith(beginning) or not pieces:
            pieces.append("")
        pieces[-1] += line
    return pieces


def summary(results: Sequence[TrialResult]) -> dict[str, dict[str, float]]:
    """Return for each part the mean score, the number of cases, the tokens and the seconds of a case."""
    parts = dict.fromkeys(one.part for one in results)
    chosen = {part: [one for one in results if one.part == part] for part in parts}
    return {
        part: {
            "score": round(mean(one.score for one in some), 3),
            "cases": len(some),
            "tokens": sum(one.tokens for one in some),
            "seconds": round(mean(one.seconds for one in some), 2),
        }
        for part, some in chosen.items()
    }

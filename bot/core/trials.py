"""Cases for trying a model on a repository's own history, and what came of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import mean

from bot.core.facts import Fact


class TrialCase(Fact):
    """A commit, or a request of a suite: what was asked for, and what was changed."""

    id: str
    """The commit, or the names of repository and request."""
    parent: str
    request: str
    touched: tuple[str, ...]
    """The source files it changed that were there before."""
    patch: str = ""


class TrialResult(Fact):
    part: str
    case: str
    score: float
    """From 0 to 1."""
    detail: str = ""
    """What came of it, for people."""
    model: str = ""
    asked: int = 0
    """Questions that people would have been asked."""
    tokens: int = 0
    seconds: float = 0.0


class SavedRun(Fact):
    """What came of a whole run, as `--json` writes it."""

    suite: str
    """Empty: a repository's own history."""
    models: tuple[str, ...]
    parts: dict[str, dict[str, float]]
    results: tuple[TrialResult, ...]


class Difference(Fact):
    """How a part differs from an earlier run, over the cases that both have."""

    part: str
    cases: int
    mean: float
    low: float
    high: float
    """The 95 % interval of the mean, by a paired bootstrap."""

    @property
    def is_worse(self) -> bool:
        return self.high < 0


RESAMPLES = 2_000


def differences(
    then: Sequence[TrialResult],
    now: Sequence[TrialResult],
    resample: Callable[[Sequence[float]], Sequence[float]],
) -> list[Difference]:
    """Return how each part has changed. `resample`: draws as many values again, with replacement."""
    before = {(one.part, one.case): one.score for one in then}
    found: list[Difference] = []
    for part in dict.fromkeys(one.part for one in now):
        pairs = [
            one.score - before[part, one.case]
            for one in now
            if one.part == part and (part, one.case) in before
        ]
        if pairs:
            means = sorted(mean(resample(pairs)) for _ in range(RESAMPLES))
            low, high = means[RESAMPLES // 40], means[-1 - RESAMPLES // 40]
            found.append(
                Difference(part=part, cases=len(pairs), mean=mean(pairs), low=low, high=high)
            )
    return found


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
    """Return for each part the mean score, the number of cases, what was asked of people, the tokens and the seconds of a
    case.
    """
    parts = dict.fromkeys(one.part for one in results)
    chosen = {part: [one for one in results if one.part == part] for part in parts}
    return {
        part: {
            "score": round(mean(one.score for one in some), 3),
            "cases": len(some),
            "asked": round(mean(one.asked for one in some), 2),
            "tokens": sum(one.tokens for one in some),
            "seconds": round(mean(one.seconds for one in some), 2),
        }
        for part, some in chosen.items()
    }

"""Trying a model on history: what is left out of a change, and how results are told."""

from __future__ import annotations

import random

import pytest

from bot.core.trials import TrialResult, differences, recall, summary, with_a_part_missing

ONE = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
TWO_HUNKS = ONE + "@@ -9,2 +9,3 @@\n c\n+d\n+e\n"
OTHER = "diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1,3 @@\n-a\n+b\n+c\n+d\n+eeee\n"


@pytest.mark.parametrize(
    ("patch", "left"),
    [("", ""), (ONE, ""), (TWO_HUNKS, ONE), (ONE + OTHER, ONE), (OTHER + ONE, ONE)],
)
def test_the_largest_part_is_left_out(patch: str, left: str) -> None:
    assert with_a_part_missing(patch) == left


def test_the_share_of_wanted_files_counts() -> None:
    assert recall(["a", "b", "c"], ("a", "x")) == 0.5
    assert recall([], ("a",)) == recall(["a"], ()) == 0.0


def test_results_are_summed_up_by_part() -> None:
    results = [
        TrialResult(part="find", case="1", score=1.0, tokens=5, seconds=1.0),
        TrialResult(part="judge", case="1", score=0.0, tokens=7),
        TrialResult(part="find", case="2", score=0.5, tokens=5, seconds=2.0),
    ]
    told = summary(results)
    assert told["find"] == {
        "score": 0.75,
        "cases": 2,
        "asked": 0,
        "tokens": 10,
        "seconds": 1.5,
    }
    assert told["judge"]["score"] == 0.0


def test_a_difference_is_told_with_its_interval() -> None:
    """Only cases that both runs have are compared."""
    then = [TrialResult(part="judge", case=str(n), score=1.0) for n in range(20)]
    now = [TrialResult(part="judge", case=str(n), score=float(n % 2)) for n in range(10, 40)]
    some = random.Random(1)  # noqa: S311
    [found] = differences(then, now, lambda values: some.choices(values, k=len(values)))
    assert (found.part, found.cases, found.mean) == ("judge", 10, -0.5)
    assert -0.9 < found.low < -0.5 < found.high < -0.1
    assert found.is_worse
    assert differences((), now, list) == []

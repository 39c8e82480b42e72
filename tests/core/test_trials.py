"""Trying a model on history: what is left out of a change, and how results are told."""

from __future__ import annotations

import pytest

from bot.core.trials import TrialResult, recall, summary, with_a_part_missing

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
        TrialResult(part="find", commit="1", score=1.0, tokens=5, seconds=1.0),
        TrialResult(part="judge", commit="1", score=0.0, tokens=7),
        TrialResult(part="find", commit="2", score=0.5, tokens=5, seconds=2.0),
    ]
    told = summary(results)
    assert told["find"] == {"score": 0.75, "cases": 2, "tokens": 10, "seconds": 1.5}
    assert told["judge"]["score"] == 0.0

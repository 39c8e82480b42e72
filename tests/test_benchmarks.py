"""The table of figures: it says no where a goal is missed, and has a row for every goal."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.table import NO, YES, Unit, all_of, at_most, beside, drawn, lacking

ROOT = Path(__file__).resolve().parents[1]
NO_BENCHMARKS = {"saver", "__main__", "table", "ground"}


def test_a_goal_is_met_or_it_is_said_why_not() -> None:
    met = beside("1", "poll", 0.5, 1.0, of="floor", most=2, because="it is slow")
    missed = beside("1", "poll", 3.0, 1.0, of="floor", most=2, because="it is slow")
    assert (met.ratio, met.goal, met.met, met.because) == ("0.50×", "≤ 2×", YES, "")
    assert (missed.ratio, missed.met, missed.because) == ("3×", NO, "it is slow")
    assert beside("1", "poll", 1.0, 0.0, of="nothing", most=2).met == NO
    assert at_most("1", "forks", 1, 0, unit=Unit.COUNT).met == NO
    assert at_most("1", "forks", 0, 0, unit=Unit.COUNT).met == YES
    assert all_of("3", "codes", 199, 200).met == NO
    assert all_of("3", "codes", 200, 200).met == YES


def test_what_could_not_be_measured_stands_in_the_table_with_its_reason() -> None:
    table = drawn([lacking("", "Matrix", "there is no Synapse.")])
    assert "not measured" in table
    assert "- Matrix: there is no Synapse." in table


def test_figures_are_told_in_units_that_can_be_read() -> None:
    rows = [
        beside("", "short", 0.000_012, 0.001_2, of="floor", most=1),
        beside("", "long", 2.5, 0.25, of="floor", most=1),
    ]
    assert [row.ours for row in rows] == ["12 µs", "2.50 s"]
    assert [row.floor for row in rows] == ["1.20 ms floor", "250 ms floor"]
    assert [row.ratio for row in rows] == ["1/100×", "10×"]


def test_the_page_of_figures_has_a_row_for_every_goal_and_names_every_benchmark() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    numbers = {int(number) for number in re.findall(r"^\| (\d+) ", page, re.MULTILINE)}
    assert numbers == set(range(1, 16))
    modules = {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - NO_BENCHMARKS
    assert modules - set(re.findall(r"`(\w+)`", page)) == set()

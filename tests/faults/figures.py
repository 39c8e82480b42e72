"""The long tests are run by name only (`make faults`), and every gate prints its figure in the end."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import cast

import pytest

Count = Callable[..., None]
GATE = re.compile(r"[RS][0-9]{1,2}")
"""`record_property("R6", "…")`: a figure in words."""


def every_day(usual: Iterable[object], rest: Iterable[object]) -> list[object]:
    """Parameters: with the usual ones the test is run by `make test`, with the rest by `make faults`."""
    values = (cast("tuple[object, ...]", one) if isinstance(one, tuple) else (one,) for one in rest)
    return [*usual, *(pytest.param(*value, marks=pytest.mark.faults) for value in values)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "faults" in str(config.option.markexpr):
        return
    left = [item for item in items if item.get_closest_marker("faults")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("faults")]


@pytest.fixture
def count(record_property: Callable[[str, object], None]) -> Count:
    """`count("R2 Slack", deaths=3)`: is added to what the others have counted."""

    def counted(gate: str, **figures: int) -> None:
        for what, number in figures.items():
            record_property(f"{gate}: {what}", number)

    return counted


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    words: list[str] = []
    sums: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in report.user_properties:
                gate, _, what = name.partition(": ")
                if what:
                    sums[gate][what.replace("_", " ")] += value
                elif GATE.fullmatch(name):
                    words.append(f"{name}: {value}")
    for gate, figures in sorted(sums.items()):
        told = ", ".join(f"{number} {what}" for what, number in figures.items())
        words.append(f"{gate}: {told}")
    for line in sorted(words):
        terminalreporter.write_line(line)

"""The tables allow every flow a session can take, refuse the rest, and are what docs/states.md draws."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bot.core.errors import IllegalMoveError
from bot.core.states import (
    INTENTS,
    PHASES,
    RUNS,
    STATUSES,
    TASKS,
    IntentStatus,
    OverallStatus,
    Phase,
    RunState,
    Status,
    TaskState,
    move,
)

FLOWS = Path(__file__).with_name("state_flows.md")
PAGE = Path(__file__).parents[2] / "docs" / "states.md"
TABLES: dict[str, Mapping[Any, frozenset[Any]]] = {
    "A session's status": STATUSES,
    "A session's phase": PHASES,
    "A task": TASKS,
    "A run": RUNS,
    "An intent": INTENTS,
}
KINDS: dict[str, tuple[type[StrEnum], Mapping[Any, frozenset[Any]]]] = {
    "status": (Status, STATUSES),
    "phase": (Phase, PHASES),
    "task": (TaskState, TASKS),
    "run": (RunState, RUNS),
    "intent": (IntentStatus, INTENTS),
}
ROW = re.compile(r"^- (?P<kind>\w+) \w+: (?P<moves>[^—]+)")


def flows() -> list[Any]:
    return list(read())


def read() -> Iterator[Any]:
    title = ""
    for line in FLOWS.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            title = line[3:]
        elif row := ROW.match(line):
            states = [state.strip() for state in row["moves"].split("→")]
            yield pytest.param(row["kind"], states, id=f"{title} · {row['moves'].strip()}")


@pytest.mark.covers("G-MOVE-TASK-3", "B-MOVE-5", "F-INTENT-STATUS")
@pytest.mark.parametrize(("kind", "states"), flows())
def test_every_flow_is_legal(kind: str, states: list[str]) -> None:
    enum, table = KINDS[kind]
    steps = [enum(state) for state in states]
    for old, new in pairwise(steps):
        assert move(table, old, new) is new


def test_all_flows_are_walked() -> None:
    assert len(flows()) >= 70


@pytest.mark.covers(
    "B-OP-markTaskAsCompleted", "B-OP-markTaskForContinuation", "B-OP-markTaskAsBlocked"
)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_what_the_table_does_not_name_is_refused(table: Mapping[Any, frozenset[Any]]) -> None:
    for old, news in table.items():
        for new in set(table) - news:
            with pytest.raises(IllegalMoveError, match=str(new)):
                move(table, old, new)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_no_state_leads_to_itself(table: Mapping[Any, frozenset[Any]]) -> None:
    assert all(old not in news for old, news in table.items())


@pytest.mark.covers("R-ENUM-OverallStatus", "R-RULE-PRIORITY")
def test_the_worst_of_the_parts_is_the_whole() -> None:
    worst = OverallStatus.worst
    assert worst([OverallStatus.COMPLETE, OverallStatus.INCOMPLETE]) is OverallStatus.INCOMPLETE
    assert worst([OverallStatus.NO_EVIDENCE, OverallStatus.INCOMPLETE]) is OverallStatus.NO_EVIDENCE
    assert worst([OverallStatus.ERROR, OverallStatus.NO_EVIDENCE]) is OverallStatus.ERROR
    assert worst([OverallStatus.INVALID, OverallStatus.ERROR]) is OverallStatus.INVALID
    assert worst([]) is OverallStatus.NO_EVIDENCE


def diagram(table: Mapping[Any, frozenset[Any]]) -> str:
    lines = [f"    {old} --> {new}" for old, news in table.items() for new in sorted(news)]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def page() -> str:
    parts = [
        "# States",
        "Drawn from the tables in `bot/core/states.py`, which alone decide what is legal.",
    ]
    for title, table in TABLES.items():
        parts += [f"## {title}", diagram(table)]
    return "\n\n".join(parts) + "\n"


def test_the_page_shows_the_tables() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "draw it again: python -m tests.core.test_states"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

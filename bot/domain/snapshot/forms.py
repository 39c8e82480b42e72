"""Older forms of a saved session, brought to today's step by step. Its rule: a step that was released is never changed.

Whoever adds, renames or moves a saved field makes `SCHEMA` one more and writes the step that leads there: then an older version of
the program leaves the file alone, instead of taking it for broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.domain.session import SCHEMA

Row = dict[str, Any]
_TASK = re.compile(r"/session/tasks/[0-9]+")


def _same(row: Row) -> Row:
    return row


def _without_steps(task: Row) -> Row:
    return {name: value for name, value in task.items() if name != "steps"}


@dataclass(frozen=True)
class Step:
    """What becomes of the fields of a session and of a task, each without what lies below it."""

    session: Callable[[Row], Row] = _same
    task: Callable[[Row], Row] = _same


Steps = Mapping[int, Step]
STEPS: Steps = {
    2: Step(),  # a session knows why it misses its repository; who did not know was missing none
    3: Step(),  # the usage knows who answered and how long that took; what nobody has measured was nothing; words know whether they waited
    4: Step(
        task=_without_steps
    ),  # nothing ever filled the steps of a task: its description tells what to do
}
"""By the form they lead to."""


def rows_of_today(rows: Mapping[str, Row], form: int, steps: Steps = STEPS) -> dict[str, Row]:
    """The rows of a record's journal."""
    found = dict(rows)
    for number in range(form + 1, SCHEMA + 1):
        step = steps[number]
        for path, row in found.items():
            if path == "/session":
                found[path] = {**step.session(dict(row)), "schema_version": number}
            elif _TASK.fullmatch(path):
                found[path] = step.task(dict(row))
    return found


def file_of_today(saved: Row, form: int, steps: Steps = STEPS) -> Row:
    """A session file, its tasks among it."""
    for number in range(form + 1, SCHEMA + 1):
        step = steps[number]
        tasks = [step.task(dict(task)) for task in saved.get("tasks", ())]
        saved = {**step.session(dict(saved)), "tasks": tasks, "schema_version": number}
    return saved

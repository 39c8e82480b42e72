"""Tasks that the model proposes later on: checked, put in an order in which each comes after those it waits for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Literal

from pydantic import Field

from bot.domain.replanned import Smaller
from bot.domain.tasks import Acceptance, TaskType
from bot.engine.brain.asking import Answer
from bot.engine.brain.standing import Line, Reply, Sentence

MOST_FILES = 50
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Proposed(Answer):
    """`after` counts from 1."""

    name: Line = Field(min_length=1)
    description: Reply = ""
    acceptance: list[Sentence] = Field(min_length=1, max_length=30)
    files: list[str] = Field(default_factory=list[str])
    type: Literal["implementation", "documentation", "investigation"] = "implementation"
    after: list[int] = Field(default_factory=list[int], max_length=30)


def smaller(
    proposed: Sequence[Proposed], criterion: Callable[[int, int, str], Acceptance]
) -> tuple[Smaller, ...]:
    """As facts. A ValueError says what cannot be carried out. `criterion` makes one of a task's number and its own."""
    names = [one.name.casefold() for one in proposed]
    if len(set(names)) < len(names):
        raise ValueError("tasks: two of them have the same name")
    order = _ordered(proposed)
    place = {at: new for new, at in enumerate(order)}
    return tuple(
        Smaller(
            name=one.name,
            description=one.description,
            acceptance=tuple(
                criterion(new + 1, n, text) for n, text in enumerate(_said(one.acceptance), 1)
            ),
            files=tuple(_below(one.files)),
            type=TaskType(one.type),
            after=tuple(sorted({place[number - 1] for number in one.after})),
        )
        for new, one in enumerate(proposed[at] for at in order)
    )


def _ordered(proposed: Sequence[Proposed]) -> list[int]:
    """As they were named, as far as each may come after those it waits for."""
    for number, one in enumerate(proposed, 1):
        unknown = [other for other in one.after if not 1 <= other <= len(proposed)]
        if unknown or number in one.after:
            raise ValueError(f"after: task {number} cannot wait for {(unknown or [number])[0]}")
    order: list[int] = []
    left = list(range(len(proposed)))
    while left:
        free = [at for at in left if all(number - 1 in order for number in proposed[at].after)]
        if not free:
            circle = ", ".join(str(at + 1) for at in left)
            raise ValueError(f"after: the tasks {circle} wait for each other in a circle")
        order.append(free[0])
        left.remove(free[0])
    return order


def _said(criteria: Sequence[str]) -> list[str]:
    found = [text for text in dict.fromkeys(criteria) if text]
    if not found:
        raise ValueError("acceptance: a task must say when it is done")
    return found


def _below(paths: Sequence[str]) -> list[str]:
    """Only what lies in the repository. It is a hint what not to run at the same time, so the rest may go."""
    found: list[str] = []
    for path in dict.fromkeys(one.strip().removeprefix("./") for one in paths):
        parts = PurePosixPath(path).parts
        if path and path[0] not in "/~" and not {"..", ".git"} & set(parts):
            found += [path] if not _CONTROL.search(path) else []
    return found[:MOST_FILES]


def read_by_people(tasks: Sequence[Smaller]) -> str:
    return "\n".join(text for one in tasks for text in (one.name, one.description))

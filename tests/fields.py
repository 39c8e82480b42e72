"""Sets fields of a session or a task, and of their parts: `plan__score` is the score of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from bot.core.facts import MutableModel

N = TypeVar("N", bound=MutableModel)


def put(noun: N, changes: Mapping[str, object]) -> N:
    for path, value in changes.items():
        *parts, name = path.split("__")
        owner: MutableModel = noun
        for part in parts:
            owner = getattr(owner, part)
        now = getattr(owner, name)
        assert isinstance(value, type(now)) or not isinstance(now, MutableModel), (
            f"{name} is a part"
        )
        setattr(owner, name, value)
    return noun

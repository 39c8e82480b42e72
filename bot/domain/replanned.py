"""Smaller tasks that the model proposes: in place of one that was cut too large, or for what is still missing at the end."""

from __future__ import annotations

from bot.domain.facts import Fact
from bot.domain.tasks import Acceptance, TaskType


class Smaller(Fact):
    name: str
    description: str = ""
    acceptance: tuple[Acceptance, ...] = ()
    files: tuple[str, ...] = ()
    type: TaskType = TaskType.IMPLEMENTATION
    after: tuple[int, ...] = ()
    """Which of the others come first, by their position."""

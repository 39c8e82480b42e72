"""The adapters in use, and the rules the operator has set: what the engine is given at the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypedDict

from bot.domain.masking import Masker
from bot.engine.nursery import Nursery
from bot.engine.places import Places
from bot.ports import (
    Agents,
    Chat,
    Clock,
    Commands,
    Llm,
    Panes,
    Repository,
    Store,
    Worktrees,
)


@dataclass(frozen=True)
class Rules:
    """What the operator decided in the settings."""

    repository: str
    agent: str
    test_command: str = ""
    check_seconds: float = 900
    progress_seconds: float = 120
    sandboxed: bool = False
    hold_on_restart: bool = False
    most_at_once: int = 10
    """Agents in one session, whatever its plan says."""
    low_risk_alone: bool = False
    """A plan of low risk may start without a person."""
    high_risk_approvers: int = 1
    """How many different people must approve a plan of high risk."""
    context_window: Callable[[], int] = lambda: 0
    """Tokens the model can take at once, as far as the settings tell."""
    keys: Callable[[], Mapping[str, bool]] = dict
    """Which keys are set: names and yes or no, never values."""


class Mark(TypedDict):
    id: str
    at: datetime


@dataclass(frozen=True)
class World:
    chats: Mapping[str, Chat]
    llm: Llm
    agents: Agents
    panes: Panes
    repository: Repository
    worktrees: Worktrees
    commands: Commands
    store: Store
    clock: Clock
    rules: Rules
    masker: Masker
    home: str
    places: Places = field(default_factory=Places)
    nursery: Nursery = field(default_factory=Nursery)

    def mark(self) -> Mark:
        """What every event of the bot's own begins with."""
        return {"id": self.clock.new_id(), "at": self.clock.now()}

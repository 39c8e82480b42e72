"""The adapters in use, and the rules the operator has set: what the engine is given at the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import TypedDict

from bot.domain.evidence import TaskLimits
from bot.domain.intent import Source
from bot.domain.masking import Masker
from bot.engine.beside import Beside
from bot.engine.logbook import Logbook
from bot.engine.nursery import Nursery
from bot.engine.places import Places
from bot.engine.recall import Recall
from bot.engine.registrar import Registrar
from bot.engine.visits import Visits
from bot.ports import (
    Agents,
    Archive,
    Audit,
    Bindings,
    Chat,
    Clock,
    Commands,
    Forge,
    Llm,
    Panes,
    Preferences,
    Repository,
    Store,
    Worktrees,
)


@dataclass(frozen=True)
class Rules:
    """What the operator decided in the settings."""

    repository: str
    """The usual one."""
    agent: str
    repositories: Mapping[str, str] = field(default_factory=dict[str, str])
    """All there are, the usual one first: name and where it lies."""
    test_commands: tuple[str, ...] = ()
    """How tests are run: of the usual repository, or of the one that is named before a colon."""
    check_seconds: float = 900
    progress_seconds: float = 120
    progress_posted: bool = False
    """The live status comes to the end of its thread at every tick, whether anybody has talked since or not."""
    sandboxed: bool = False
    """Agents, and commands of the repository's own, are kept to their worktree."""
    user: str = ""
    """As whom the bot runs, and so its agents."""
    hold_on_restart: bool = False
    unattended: bool = False
    """Nobody sits there who could answer an agent: the requests come through a pipe."""
    most_at_once: int = 10
    """Agents in one session, whatever its plan says."""
    low_risk_alone: bool = False
    """A plan of low risk may start without a person."""
    low_risk_sources: frozenset[Source] = frozenset({Source.HUMAN})
    """Of which sources."""
    reflect_after: bool = False
    """Observations are turned into proposed intents whenever a session has ended."""
    high_risk_approvers: int = 1
    """How many different people must approve a plan of high risk."""
    asker_counts: bool = True
    """Whether who asked for it may be one of them."""
    most_in_a_minute: int = 0
    """Words, presses and commands of one person; 0: no limit."""
    most_in_an_hour: int = 0
    """Sessions one person may begin; 0: no limit."""
    most_sessions: int = 0
    """Sessions that are not over, of everybody; 0: no limit."""
    set_up: tuple[str, ...] = ()
    """Commands that are run in each new worktree."""
    copied_files: tuple[str, ...] = ()
    """Patterns of ignored files that a new worktree gets a copy of."""
    other_agents: tuple[str, ...] = ()
    """Agents that may be offered in place of the usual one."""
    poll_seconds: float = 60
    """How often open pull requests are looked at."""
    checks_seconds: float = 600
    """How long checks that have not appeared are waited for before a person is asked."""
    limits: TaskLimits = field(default_factory=TaskLimits)
    """What a task may use up before a person is asked."""
    context_window: Callable[[], int] = lambda: 0
    """Tokens the model can take at once, as far as the settings tell."""
    keys: Callable[[], Mapping[str, bool]] = dict
    """Which keys are set: names and yes or no, never values."""

    @property
    def known_repositories(self) -> Mapping[str, str]:
        return self.repositories or {PurePath(self.repository).name: self.repository}


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
    archive: Archive
    audit: Audit
    logbook: Logbook
    bindings: Bindings
    preferences: Preferences
    forge: Forge | None = None
    """None: no pull requests are made at all."""
    beside: Beside = field(default_factory=Beside)
    places: Places = field(default_factory=Places)
    nursery: Nursery = field(default_factory=Nursery)
    visits: Visits = field(default_factory=Visits)
    recall: Recall = field(default_factory=Recall)
    registrar: Registrar = field(default_factory=Registrar)
    """Without a registry: nothing is kept in repositories."""

    def mark(self) -> Mark:
        """What every event of the bot's own begins with."""
        return {"id": self.clock.new_id(), "at": self.clock.now()}

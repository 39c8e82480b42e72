"""The adapters in use and the operator's rules: what the shell and the steps are given at the start."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Any, TypedDict, TypeVar

from bot.core.actions import Wish
from bot.core.errors import PortError
from bot.core.events import Begun, Continued, Event
from bot.core.evidence import TaskLimits
from bot.core.intent import Source
from bot.core.llm import Usage
from bot.core.masking import Masker
from bot.core.people import Person, Thread
from bot.core.projections.console_state_writer import ConsoleState
from bot.core.projections.registry_writer import RegistryWriter
from bot.core.projections.task_log_writer import TaskLogWriter
from bot.core.repository_queue import RepositoryQueue
from bot.core.session import Session
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

# Where sessions are begun, and reached, by other sessions. The desk does it; what an action needs
# of the desk stands here.

Begin = Callable[[Thread, str, Begun], None]
"""A session with that id, in that thread, unless it is there already. On disk when it returns."""
PassOnCall = Callable[[Thread, Continued], str]
"""Go on with a finished session, in a person's name; why not, in a sentence, or nothing."""

OneMore = Callable[[Person, str], str]
"""That person begins a session with that id, too; why not, in a sentence, or nothing."""


@dataclass
class SessionFactory:
    _begin: Begin | None = None
    _pass_on: PassOnCall | None = None
    _one_more: OneMore | None = None

    def serve(self, begin: Begin, pass_on: PassOnCall, one_more: OneMore) -> None:
        """By the desk, before any action is done."""
        self._begin, self._pass_on, self._one_more = begin, pass_on, one_more

    def one_more(self, by: Person, session_id: str) -> str:
        if self._one_more is None:
            raise RuntimeError("no desk serves this world")
        return self._one_more(by, session_id)

    def begin(self, thread: Thread, session_id: str, event: Begun) -> None:
        if self._begin is None:
            raise RuntimeError("no desk serves this world")
        self._begin(thread, session_id, event)

    def pass_on(self, thread: Thread, event: Continued) -> str:
        if self._pass_on is None:
            raise RuntimeError("no desk serves this world")
        return self._pass_on(thread, event)


# What the model is asked that belongs to no session: a branch in short, what sort of wish a draft
# is, what was noticed.


@dataclass
class SessionlessUsage:
    """Counted since the start: nothing is kept of it, as nothing depends on it."""

    usage: Usage = field(default_factory=Usage)

    def add(self, usage: Usage) -> None:
        self.usage += usage


# Who looks at the bot's own page: it is shown again, a moment after something has changed.

log = logging.getLogger("bot.desk")

A_MOMENT = 2.0
"""Seconds in which changes are gathered."""
A_PAGE = 0.6
"""Seconds for each page: a chat takes about a hundred a minute, and the cards of sessions come first."""
MOST = 100
"""People whose page is kept up to date; who came longest ago is forgotten first."""
ShowHome = Callable[[Thread, Person], Awaitable[None]]


@dataclass
class HomeVisits:
    _there: dict[str, tuple[Thread, Person]] = field(
        default_factory=dict[str, tuple[Thread, Person]]
    )
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def changed(self) -> None:
        """A session has changed. Costs nothing where nobody looks."""
        if self._there:
            self._changed.set()

    def come(self, thread: Thread, person: Person) -> None:
        key = f"{thread.key}:{person.id}"
        self._there.pop(key, None)
        self._there[key] = (thread, person)
        while len(self._there) > MOST:
            del self._there[next(iter(self._there))]

    async def keep_up(self, clock: Clock, show: ShowHome) -> None:
        """Until cancelled."""
        while True:
            await self._changed.wait()
            await clock.sleep(max(A_MOMENT, A_PAGE * len(self._there)))
            self._changed.clear()
            for thread, person in list(self._there.values()):
                await self._show(show, thread, person)

    async def _show(self, show: ShowHome, thread: Thread, person: Person) -> None:
        try:
            await show(thread, person)
        except PortError as problem:
            # it is shown anew with the next change, or when they come again
            log.warning("a page was not renewed", extra={"data": {"why": problem.reason}})


# The adapters in use, and the rules the operator has set: what the engine is given at the start.


async def unknown_window() -> int:
    return 0


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
    context_window: Callable[[], Awaitable[int]] = unknown_window
    """Tokens the model can take at once, as far as anybody knows."""
    keys: Callable[[], Mapping[str, bool]] = dict
    """Which keys are set: names and yes or no, never values."""

    @property
    def known_repositories(self) -> Mapping[str, str]:
        return self.repositories or {PurePath(self.repository).name: self.repository}


class EventStamp(TypedDict):
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
    logbook: TaskLogWriter
    bindings: Bindings
    preferences: Preferences
    forge: Forge | None = None
    """None: no pull requests are made at all."""
    beside: SessionlessUsage = field(default_factory=SessionlessUsage)
    places: RepositoryQueue = field(default_factory=RepositoryQueue)
    nursery: SessionFactory = field(default_factory=SessionFactory)
    visits: HomeVisits = field(default_factory=HomeVisits)
    recall: ConsoleState = field(default_factory=ConsoleState)
    registrar: RegistryWriter = field(default_factory=RegistryWriter)
    """Without a registry: nothing is kept in repositories."""

    def mark(self) -> EventStamp:
        """What every event of the bot's own begins with."""
        return {"id": self.clock.new_id(), "at": self.clock.now()}


# Who does what: each function that does an action is marked with the class of it.

A = TypeVar("A", bound=Wish)
E = TypeVar("E", bound=Event | None)
Tell = Callable[[Event], None]
"""Hands an event to the session while its action is still under way."""
Performer = Callable[[World, Session, A], Coroutine[Any, Any, E]]
TellingPerformer = Callable[[World, Session, A, Tell], Coroutine[Any, Any, E]]
PERFORMERS: dict[type[Wish], TellingPerformer[Any, Event | None]] = {}
"""Filled by the marks below, once, as the modules of the steps are imported."""


def performs(action: type[A]) -> Callable[[Performer[A, E]], Performer[A, E]]:
    """Marks the function that does this action and returns what came of it."""

    def marked(function: Performer[A, E]) -> Performer[A, E]:
        def without_tell(
            world: World, session: Session, action: A, tell: Tell
        ) -> Coroutine[Any, Any, E]:
            return function(world, session, action)

        _register(action, without_tell)
        return function

    return marked


def performs_telling(
    action: type[A],
) -> Callable[[TellingPerformer[A, E]], TellingPerformer[A, E]]:
    """The same for an action that takes long, and tells events before it ends."""

    def marked(function: TellingPerformer[A, E]) -> TellingPerformer[A, E]:
        _register(action, function)
        return function

    return marked


def _register(action: type[Wish], performer: TellingPerformer[Any, Event | None]) -> None:
    if action in PERFORMERS:
        raise TypeError(f"{action.__name__} has a performer already")
    PERFORMERS[action] = performer

"""The adapters in use and the operator's rules: what the desk, the actors and the steps are given at the start."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Any, TypedDict, TypeVar

from bot.core.actions import ActionBase
from bot.core.cards import Card
from bot.core.errors import PortError
from bot.core.events import Begun, Continued, Event
from bot.core.evidence import TaskLimits
from bot.core.intent import Source
from bot.core.llm import ModelRole, Usage
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
    Questions,
    Repository,
    Store,
    Worktrees,
)

# How an action starts or reaches other sessions; the desk provides the functions.

StartSession = Callable[[Thread, str, Begun], None]
"""Start a session with that id in that thread, unless it exists. Saved when it returns."""
PassOnCall = Callable[[Thread, Continued], str]
"""Pass a person's request to a finished session. Returns why it is not possible, in a sentence, or an empty string."""

CountSessionStart = Callable[[Person, str], str]
"""Count one more session for that person. Returns why they may not start it, in a sentence, or an empty string."""


@dataclass
class SessionFactory:
    _begin: StartSession | None = None
    _pass_on: PassOnCall | None = None
    _one_more: CountSessionStart | None = None

    def serve(self, begin: StartSession, pass_on: PassOnCall, one_more: CountSessionStart) -> None:
        """Set the functions. The desk calls this before any action is carried out."""
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


# Questions to the model that belong to no session: a branch's summary, the type of a draft, what agents noticed.


@dataclass
class SessionlessUsage:
    """Usage outside of sessions, counted since the start of the bot and not saved: nothing depends on it."""

    usage: Usage = field(default_factory=Usage)

    def add(self, usage: Usage) -> None:
        self.usage += usage


# Who looks at the bot's home page: it is shown again shortly after something has changed.

log = logging.getLogger("bot.desk")

GATHER_SECONDS = 2.0
"""Seconds in which changes are collected."""
SECONDS_PER_PAGE = 0.6
"""Seconds for each page: a chat accepts about a hundred messages a minute, and the cards of sessions take precedence."""
MAX_VISITORS = 100
"""The most people whose page is kept up to date; the one whose visit is longest ago is dropped first."""
CardShown = Callable[[Thread, Card], None]
ShowHome = Callable[[Thread, Person], Awaitable[None]]


@dataclass
class HomeVisits:
    _visitors: dict[str, tuple[Thread, Person]] = field(
        default_factory=dict[str, tuple[Thread, Person]]
    )
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    shown: CardShown | None = None
    """Called with each card that was shown in a chat."""
    follower: Callable[[str], None] | None = None
    """Called with the id of each session that has changed, for as long as somebody looks at the local page."""

    def changed(self, session_id: str) -> None:
        """Report that a session has changed. Costs nothing if nobody looks."""
        if self._visitors:
            self._changed.set()
        if self.follower:
            self.follower(session_id)

    def come(self, thread: Thread, person: Person) -> None:
        key = f"{thread.key}:{person.id}"
        self._visitors.pop(key, None)
        self._visitors[key] = (thread, person)
        while len(self._visitors) > MAX_VISITORS:
            del self._visitors[next(iter(self._visitors))]

    async def keep_up(self, clock: Clock, show: ShowHome) -> None:
        """Keep the pages up to date until cancelled."""
        while True:
            await self._changed.wait()
            await clock.sleep(max(GATHER_SECONDS, SECONDS_PER_PAGE * len(self._visitors)))
            self._changed.clear()
            for thread, person in list(self._visitors.values()):
                await self._show(show, thread, person)

    async def _show(self, show: ShowHome, thread: Thread, person: Person) -> None:
        try:
            await show(thread, person)
        except PortError as problem:
            # it is shown again with the next change, or at the next visit
            log.warning("a page was not renewed", extra={"data": {"why": problem.reason}})


# The adapters in use, and the rules that the operator has set.


async def unknown_window(role: ModelRole) -> int:
    return 0


def always_main_model(role: ModelRole) -> str:
    return ModelRole.MAIN


@dataclass(frozen=True)
class Rules:
    """What the operator has decided in the settings."""

    repository: str
    """The path of the default repository."""
    agent: str
    repositories: Mapping[str, str] = field(default_factory=dict[str, str])
    """All repositories by name, with their paths, the default one first."""
    test_commands: tuple[str, ...] = ()
    """The test commands: of the default repository, or of the one named before a colon."""
    check_seconds: float = 900
    progress_seconds: float = 120
    progress_posted: bool = False
    """The live status is posted at the end of its thread at every tick, even if nobody has written since."""
    sandboxed: bool = False
    """Agents and the repository's own commands are confined to their worktree."""
    user: str = ""
    """The user account that the bot and its agents run as."""
    hold_on_restart: bool = False
    unattended: bool = False
    """Nobody can answer an agent: requests come through a pipe."""
    most_at_once: int = 10
    """The most agents in one session, whatever its plan says."""
    low_risk_alone: bool = False
    """A low-risk plan may start without approval."""
    low_risk_sources: frozenset[Source] = frozenset({Source.HUMAN})
    """The sources of requests for which that holds."""
    reflect_after: bool = False
    """Observations are turned into proposed intents whenever a session has ended."""
    high_risk_approvers: int = 1
    """How many different people must approve a high-risk plan."""
    asker_counts: bool = True
    """Whether the requester may be one of them."""
    most_in_a_minute: int = 0
    """Messages, presses and commands of one person; 0 means no limit."""
    most_in_an_hour: int = 0
    """Sessions that one person may start; 0 means no limit."""
    most_sessions: int = 0
    """Unfinished sessions of all people; 0 means no limit."""
    set_up: tuple[str, ...] = ()
    """Commands that are run in each new worktree."""
    copied_files: tuple[str, ...] = ()
    """Patterns of ignored files that are copied into a new worktree."""
    other_agents: tuple[str, ...] = ()
    """Agents that may be offered in place of the default one."""
    poll_seconds: float = 60
    """Seconds between looks at open pull requests."""
    checks_seconds: float = 600
    """Seconds to wait for checks that have not appeared, before a person is asked."""
    limits: TaskLimits = field(default_factory=TaskLimits)
    """What a task may use before a person is asked."""
    context_window: Callable[[ModelRole], Awaitable[int]] = unknown_window
    """Returns how many tokens the model in this role accepts at once, or 0 if unknown."""
    asked_model: Callable[[ModelRole], str] = always_main_model
    """Returns which model of the settings would be asked in this role now: the name of a role, or of the fallback."""
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
    questions: Questions
    preferences: Preferences
    forge: Forge | None = None
    """`None`: no pull requests are made."""
    beside: SessionlessUsage = field(default_factory=SessionlessUsage)
    places: RepositoryQueue = field(default_factory=RepositoryQueue)
    nursery: SessionFactory = field(default_factory=SessionFactory)
    visits: HomeVisits = field(default_factory=HomeVisits)
    recall: ConsoleState = field(default_factory=ConsoleState)
    registrar: RegistryWriter = field(default_factory=RegistryWriter)
    """Without a registry, nothing is stored in repositories."""

    def mark(self) -> EventStamp:
        """Return the id and time of a new event of the bot's own."""
        return {"id": self.clock.new_id(), "at": self.clock.now()}


# Which function carries out which action: each is decorated with the action's class.

A = TypeVar("A", bound=ActionBase)
E = TypeVar("E", bound=Event | None)
Tell = Callable[[Event], None]
"""Hands an event to the session while its action is still running."""
Performer = Callable[[World, Session, A], Coroutine[Any, Any, E]]
TellingPerformer = Callable[[World, Session, A, Tell], Coroutine[Any, Any, E]]
PERFORMERS: dict[type[ActionBase], TellingPerformer[Any, Event | None]] = {}
"""Filled by the decorators below when the modules of the steps are imported."""


def performs(action: type[A]) -> Callable[[Performer[A, E]], Performer[A, E]]:
    """Register the function that carries out this action and returns its result."""

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
    """Like `performs`, for a long action that reports events before it ends."""

    def marked(function: TellingPerformer[A, E]) -> TellingPerformer[A, E]:
        _register(action, function)
        return function

    return marked


def _register(action: type[ActionBase], performer: TellingPerformer[Any, Event | None]) -> None:
    if action in PERFORMERS:
        raise TypeError(f"{action.__name__} has a performer already")
    PERFORMERS[action] = performer

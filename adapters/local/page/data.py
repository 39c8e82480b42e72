"""What the page may ask of the bot. `bot/cli/page.py` answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.core.cards import Card
from bot.core.choices import Word
from bot.core.people import Thread
from bot.core.projections.task_logs import TaskLog
from bot.core.screens import PaneScreen
from bot.core.session import Session
from bot.core.sheets import Element, Entry
from bot.ports import IndexedSession

Changed = Callable[[str], None]
"""Called with the id of the session that has changed."""


@dataclass(frozen=True)
class ChangedPart:
    """What was changed on one branch, or as a whole once it is merged. Secrets are masked."""

    tasks: tuple[str, ...]
    """The keys of the tasks that worked on the branch; empty for the merged whole."""
    since: str
    until: str
    patch: str = ""
    cut: bool = False
    """There is more than could be read."""
    uncommitted: tuple[str, ...] = ()
    """Files in the worktree that nobody has committed yet."""
    problem: str = ""
    """Why it cannot be read."""


class PageData(Protocol):
    repository: str
    """The path of the default repository."""
    example: str
    """A request that fits it, for those who see the bot for the first time; else empty."""

    def repositories(self) -> Sequence[tuple[str, str]]:
        """Return names and paths of the repositories that requests may be about, the default one first."""
        ...

    def sessions(self) -> Sequence[IndexedSession]:
        """Return all sessions, newest first."""
        ...

    def session(self, session_id: str) -> Session | None:
        """Return one session as it is now, also by the beginning of its id."""
        ...

    def session_in(self, thread: Thread) -> str:
        """Return the id of the session that the thread belongs to; empty if there is none."""
        ...

    def waiting(self, session: Session) -> tuple[Card, ...]:
        """Return the cards of this session that wait for a person."""
        ...

    def follow(self, changed: Changed | None) -> None:
        """Report every change of a session from now on."""
        ...

    async def listed(self, what: Word, thread: Thread) -> tuple[Element, ...]:
        """Return the intents or the branches of the default repository, each with its buttons."""
        ...

    async def waiting_intents(self, thread: Thread) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
        """Return the intents that wait for a person, and what cannot be read."""
        ...

    async def finished(self) -> Sequence[Session]:
        """Return the latest sessions whole, newest first."""
        ...

    def checks(self, *, again: bool) -> tuple[Sequence[Mapping[str, object]], bool]:
        """Return what `gwt-bot doctor` has found so far, and whether it still looks."""
        ...

    def now(self) -> datetime:
        """Return the time of the bot's clock."""
        ...

    async def screen(self, run: str) -> PaneScreen:
        """Return what a run's pane shows, by the name of the run, or the end of its transcript."""
        ...

    async def logs(self, session_id: str) -> tuple[TaskLog, ...]:
        """Return the logs of the session's tasks."""
        ...

    async def changes(self, session: Session, task: str) -> tuple[ChangedPart, ...]:
        """Return what the session has changed since its base, or one task with this key. Asks git: it may take a while."""
        ...

    def mask(self, text: str) -> str:
        """Return the text with its secrets hidden."""
        ...

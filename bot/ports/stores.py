"""Storage on disk and in repositories, and the clock."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.core.evidence import Evidence, EvidenceInventory
from bot.core.llm import ModelChoice
from bot.core.people import Thread
from bot.core.projections.audit import AuditEntry
from bot.core.projections.records import AskedQuestions, History, Record, ReplState
from bot.core.projections.registry import (
    FiledIntent,
    IntentDraft,
    IntentEdit,
    Observation,
    ObservationList,
    RegistryContents,
)
from bot.core.projections.task_logs import LogEntry, TaskLog
from bot.core.session import Session
from bot.core.states import IntentStatus


class Store(Protocol):
    """Storage of records. A save is on disk when it returns."""

    def load(self) -> list[Record]:
        """Return every unfinished record. Broken ones are set aside and listed in `broken`."""
        ...

    def find(self, session_id: str) -> Record | None:
        """Return a record by its id or a unique prefix of it, including finished ones."""
        ...

    def save(self, record: Record) -> None:
        """Save with exactly one fsync, at a cost independent of the session's history.

        Raises Unavailable on a full disk.
        """
        ...

    def sessions(self) -> list[IndexedSession]:
        """Return all sessions from the index, newest first."""
        ...

    @property
    def broken(self) -> tuple[str, ...]:
        """What had to be set aside, one sentence each."""
        ...


class Archive(Protocol):
    """Evidence: hashed, masked records of what really happened, each with the raw log it comes from."""

    async def keep(
        self, evidence: Evidence, *, session_id: str, task_id: str, raw: str = "", source: str = ""
    ) -> Evidence:
        """Store the evidence with the text `raw`, or else the content of the file `source`. Idempotent."""
        ...

    async def inventory(self, evidence_ids: Iterable[str]) -> EvidenceInventory:
        """Return which of the evidence of a session exists, and whether it is unchanged."""
        ...


class Audit(Protocol):
    """Who requested what, what the gate decided, and the outcome. Append-only."""

    def note(self, entry: AuditEntry) -> None:
        """Append an entry; it is on disk when this returns.

        Raises Unavailable on a full disk: then nothing it records may take effect.
        """
        ...

    @property
    def broken(self) -> tuple[str, ...]:
        """What was found changed or missing at the start, one sentence each."""
        ...


class Logs(Protocol):
    """One log of events per task."""

    async def note(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        """Add entries to the logs of tasks, each once, and update the rest of these logs."""
        ...

    async def settle(self, session: Session, task_id: str) -> None:
        """Make sure that the log of a task is on disk, recreating it if it is lost.

        Unavailable: it cannot be written.
        """
        ...

    async def read(self, session_id: str) -> tuple[TaskLog, ...]:
        """Return all logs of a session, oldest first."""
        ...

    async def unsettled(self) -> tuple[str, ...]:
        """Return the ids of sessions with a log that lacks the end of its task."""
        ...

    async def tidy(self) -> None:
        """Delete logs that are too old, and the oldest ones if there is no room left."""
        ...


class IndexedSession(Protocol):
    """A session's entry in the index."""

    id: str
    thread: Thread
    title: str
    status: str
    phase: str
    repository: str
    updated_at: datetime


class Bindings(Protocol):
    """Which channel works on which repository, and which test command a repository uses, as users have set it."""

    def of(self, place: str) -> str:
        """Return the bound name; empty if there is none."""
        ...

    def bind(self, place: str, name: str) -> None:
        """Save the binding; it is on disk when this returns. Raises Unavailable on a full disk."""
        ...


class Preferences(Protocol):
    """Settings that may be changed while the bot runs."""

    def model(self) -> ModelChoice: ...

    def choose_model(self, base_url: str, model: str) -> None:
        """Choose the model, from the next question on.

        Refused: it is set where the bot may not write, or is invalid.
        """
        ...


class Questions(Protocol):
    """What people have asked and is not answered yet."""

    def load(self) -> AskedQuestions: ...

    def save(self, asked: AskedQuestions) -> None:
        """Save it; it is on disk when this returns. Raises Unavailable on a full disk."""
        ...


class ReplStates(Protocol):
    """repl.json."""

    def load(self) -> ReplState:
        """Return its contents. Raises Refused (E105) if it is broken."""
        ...

    def save(self, state: ReplState) -> None:
        """Save it; it is on disk when this returns. Raises Unavailable on a full disk."""
        ...


class Clock(Protocol):
    def now(self) -> datetime: ...

    def new_id(self) -> str:
        """Return a new UUID v4."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def every(self, seconds: float, name: str) -> AsyncGenerator[datetime, None]:
        """Yield ticks, also after the wall clock was changed."""
        ...


# Files in the repository that people edit, too.


class Registry(Protocol):
    """`repository` is the top of the main checkout.

    People edit these files, too: nothing of theirs may ever be lost.
    """

    async def shelf(self, repository: str) -> RegistryContents:
        """Return every intent and every draft. What cannot be read is listed in it and left untouched."""
        ...

    async def add(self, repository: str, filed: FiledIntent) -> str:
        """Add a new intent, once. Return its id, numbered if another one has that name."""
        ...

    async def change(
        self,
        repository: str,
        id: str,
        edit: IntentEdit,
        *,
        seen: IntentStatus | None = None,
        session: str | None = None,
    ) -> FiledIntent:
        """Change what the edit names and nothing else; return the new state.

        Refused: it does not exist, cannot be read, is no longer in the status `seen`, or belongs to another session.
        """
        ...

    async def put_aside(self, repository: str, draft: IntentDraft) -> None:
        """Move a draft away that has become an intent, without losing it."""
        ...

    async def noticed(self, repository: str) -> ObservationList:
        """Return all observations."""
        ...

    async def observe(self, repository: str, new: Iterable[Observation]) -> None:
        """Append observations, each once. Refused: the existing file cannot be read."""
        ...

    async def mark(self, repository: str, ids: Collection[str]) -> None:
        """Mark these observations as processed."""
        ...

    async def keep_history(self, repository: str, name: str, history: History) -> None:
        """Write or update the history of that name."""
        ...

    async def histories(self, repository: str) -> tuple[str, ...]:
        """Return the names of all histories."""
        ...

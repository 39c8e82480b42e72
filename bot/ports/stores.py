"""What is kept on disk or in a repository beside its code, and the clock."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.core.evidence import Evidence, EvidenceInventory
from bot.core.llm import ModelChoice
from bot.core.people import Thread
from bot.core.projections.audit import AuditEntry
from bot.core.projections.records import History, Record, ReplState
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
    """Where records live. A save is on disk when it returns."""

    def load(self) -> list[Record]:
        """Every record that is not finished. A broken one is put aside and told in `broken`."""
        ...

    def find(self, session_id: str) -> Record | None:
        """Any record by its id or a unique beginning of it, finished ones too."""
        ...

    def save(self, record: Record) -> None:
        """Exactly one fsync, its cost independent of the session's history. Raises Unavailable on a full disk."""
        ...

    def sessions(self) -> list[IndexedSession]:
        """All sessions there are, from the index, newest first."""
        ...

    @property
    def broken(self) -> tuple[str, ...]:
        """What had to be put aside, one sentence each."""
        ...


class Archive(Protocol):
    """Evidence: hashed, masked records of what really happened, each with the raw log it was drawn from."""

    async def keep(
        self, evidence: Evidence, *, session_id: str, task_id: str, raw: str = "", source: str = ""
    ) -> Evidence:
        """Write it down, with the text `raw`, else with what the file `source` holds. Twice is once."""
        ...

    async def inventory(self, evidence_ids: Iterable[str]) -> EvidenceInventory:
        """What is there of the evidence that a session names, and whether it is as it was kept."""
        ...


class Audit(Protocol):
    """Who wanted what, what the gate said and what came of it, for good: added to, and never changed."""

    def note(self, entry: AuditEntry) -> None:
        """On disk when it returns. Raises Unavailable on a full disk: then nothing of what it tells may count."""
        ...

    @property
    def broken(self) -> tuple[str, ...]:
        """What was found changed or missing at the start, one sentence each."""
        ...


class Logs(Protocol):
    """One log of events per task."""

    async def note(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        """Add entries to the logs of tasks, each once, and bring the rest of these logs up to date."""
        ...

    async def settle(self, session: Session, task_id: str) -> None:
        """Have the log of a task on the disk for good, made again if it is lost. Unavailable: it cannot be written."""
        ...

    async def read(self, session_id: str) -> tuple[TaskLog, ...]:
        """All logs of a session, in the order in which they were begun."""
        ...

    async def unsettled(self) -> tuple[str, ...]:
        """Ids of sessions with a log that does not tell of its task's end."""
        ...

    async def tidy(self) -> None:
        """Let go of what is too old, and of the oldest where there is no room left."""
        ...


class IndexedSession(Protocol):
    """A line of the index."""

    id: str
    thread: Thread
    title: str
    status: str
    phase: str
    repository: str
    updated_at: datetime


class Bindings(Protocol):
    """Which channel works on which repository, where somebody has said so; and with which command its tests are run."""

    def of(self, place: str) -> str:
        """The name of the repository; empty: nobody has said."""
        ...

    def bind(self, place: str, name: str) -> None:
        """On disk when it returns. Raises Unavailable on a full disk."""
        ...


class Preferences(Protocol):
    """Settings that may be changed while the bot runs."""

    def model(self) -> ModelChoice: ...

    def choose_model(self, base_url: str, model: str) -> None:
        """It counts from the next question on. Refused: it is set where the bot may not write, or makes no sense."""
        ...


class ReplStates(Protocol):
    """repl.json."""

    def load(self) -> ReplState:
        """Raises Refused (E105) where it is broken."""
        ...

    def save(self, state: ReplState) -> None:
        """On disk when it returns. Raises Unavailable on a full disk."""
        ...


class Clock(Protocol):
    def now(self) -> datetime: ...

    def new_id(self) -> str:
        """A fresh UUID v4."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def every(self, seconds: float, name: str) -> AsyncGenerator[datetime, None]:
        """Ticks, also after the wall clock has jumped."""
        ...


# Files in the repository, which people edit, too.


class Registry(Protocol):
    """`repository` is the top of the main checkout. People edit these files, too: nothing of theirs is ever lost."""

    async def shelf(self, repository: str) -> RegistryContents:
        """Every intent and every draft. What cannot be read is told in it, and left as it is."""
        ...

    async def add(self, repository: str, filed: FiledIntent) -> str:
        """Put a new intent there, once. Its id: with a number behind it where another has that name."""
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
        """Change what the edit names, and nothing else. As it is then.

        Refused: there is none, it cannot be read, it is no longer in the status `seen`, or not of that session.
        """
        ...

    async def put_aside(self, repository: str, draft: IntentDraft) -> None:
        """A draft that has become an intent: out of the way, and not lost."""
        ...

    async def noticed(self, repository: str) -> ObservationList:
        """Every observation there is."""
        ...

    async def observe(self, repository: str, new: Iterable[Observation]) -> None:
        """Append observations, each once. Refused: what is there cannot be read."""
        ...

    async def mark(self, repository: str, ids: Collection[str]) -> None:
        """These observations are processed."""
        ...

    async def keep_history(self, repository: str, name: str, history: History) -> None:
        """The history of that name: written, or brought up to date."""
        ...

    async def histories(self, repository: str) -> tuple[str, ...]:
        """The names of all there are."""
        ...

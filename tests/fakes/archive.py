"""Evidence and task logs in memory. They outlive a bot that crashed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bot.core.evidence import Evidence, EvidenceInventory
from bot.core.projections.task_logs import LogEntry, TaskLog
from bot.core.session import Session


class MemoryArchive:
    def __init__(self) -> None:
        self.kept: dict[str, Evidence] = {}

    async def keep(
        self, evidence: Evidence, *, session_id: str, task_id: str, raw: str = "", source: str = ""
    ) -> Evidence:
        self.kept[evidence.evidence_id] = evidence.sealed()
        return self.kept[evidence.evidence_id]

    async def inventory(self, evidence_ids: Iterable[str]) -> EvidenceInventory:
        names = tuple(dict.fromkeys(evidence_ids))
        missing = tuple(name for name in names if name not in self.kept)
        return EvidenceInventory(
            total_evidence_items=len(names) - len(missing), missing_evidence_operations=missing
        )


class MemoryLogs:
    """Keeps what was noted, by task."""

    def __init__(self) -> None:
        self.noted: dict[str, list[LogEntry]] = {}

    async def note(self, session: Session, found: Mapping[str, Sequence[LogEntry]]) -> None:
        for task_id, entries in found.items():
            self.noted.setdefault(task_id, []).extend(entries)

    async def settle(self, session: Session, task_id: str) -> None:
        self.noted.setdefault(task_id, [])

    async def read(self, session_id: str) -> tuple[TaskLog, ...]:
        return ()

    async def unsettled(self) -> tuple[str, ...]:
        return ()

    async def tidy(self) -> None:
        return

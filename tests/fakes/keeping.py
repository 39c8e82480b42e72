"""The audit log, bindings, questions under way and preferences in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.core.errors import Refused, Unavailable
from bot.core.llm import ModelChoice
from bot.core.projections.audit import AuditEntry
from bot.core.projections.records import AskedQuestions


@dataclass
class MemoryAudit:
    """Implements bot.ports.Audit. `full` makes the disk full."""

    entries: list[AuditEntry] = field(default_factory=list[AuditEntry])
    full: bool = False
    broken: tuple[str, ...] = ()

    def note(self, entry: AuditEntry) -> None:
        if self.full:
            raise Unavailable("the disk is full, so nothing can be kept", "Free some space.")
        self.entries.append(entry)


@dataclass
class FakeBindings:
    """Implements bot.ports.Bindings."""

    bound: dict[str, str] = field(default_factory=dict[str, str])

    def of(self, place: str) -> str:
        return self.bound.get(place, "")

    def bind(self, place: str, name: str) -> None:
        self.bound[place] = name


@dataclass
class MemoryQuestions:
    """Implements bot.ports.Questions: what is loaded is what was saved, as on disk."""

    saved: str = AskedQuestions().model_dump_json()

    def load(self) -> AskedQuestions:
        return AskedQuestions.model_validate_json(self.saved)

    def save(self, asked: AskedQuestions) -> None:
        self.saved = asked.model_dump_json()


@dataclass
class FakePreferences:
    """Implements bot.ports.Preferences."""

    chosen: ModelChoice = field(
        default_factory=lambda: ModelChoice(
            provider="custom", base_url="http://127.0.0.1:9/v1", model="played", key_set=True
        )
    )
    refusal: Refused | None = None
    """What it says to the next choice."""

    def model(self) -> ModelChoice:
        return self.chosen

    def choose_model(self, base_url: str, model: str) -> None:
        if self.refusal:
            raise self.refusal
        self.chosen = self.chosen.model_copy(update={"base_url": base_url, "model": model})

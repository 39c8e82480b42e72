"""spec.md, plan.md and tasks.md, as they are at one revision."""

from __future__ import annotations

from enum import StrEnum

from bot.domain.facts import Fact


class DocumentKind(StrEnum):
    SPEC = "spec"
    PLAN = "plan"
    TASKS = "tasks"

    @property
    def file(self) -> str:
        return f"{self}.md"


class Document(Fact):
    """One of spec.md, plan.md, tasks.md at one revision."""

    kind: DocumentKind
    revision: int
    text: str
    sha256: str

"""What is asked for, and the questions it raised."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from bot.domain.facts import Fact
from bot.domain.states import INTENTS, IntentStatus, move


class Risk(StrEnum):
    LOW = "low"
    MED = "med"
    HIGH = "high"


class Source(StrEnum):
    HUMAN = "human"
    REFLECTION = "reflection"


class Question(Fact):
    """One thing to be settled before planning. `answer` None means: still open."""

    number: int
    """Its decision number: D1, D2 …"""
    text: str
    why: str = ""
    options: tuple[str, ...] = ()
    """The recommended one stands first. Empty: a few words of one's own are wanted."""
    default: str = ""
    """Empty: only the person can know."""
    answer: str | None = None
    answered_by: str = ""
    answered_at: AwareDatetime | None = None
    tests: bool = False
    """Its answer is the command that runs the tests, unless it is one of the options."""

    @property
    def decision(self) -> str:
        return f"D{self.number}"


class Vague(StrEnum):
    """A request that nobody could plan: which one fixed question it needs."""

    CREATE = "create"
    """Create, add, update: which file or path?"""
    CHANGE = "change"
    """Fix, change, modify: which feature or place?"""


class Intent(Fact):
    """One wish. It is carried out by one session."""

    id: str = ""
    title: str = ""
    body: str = ""
    type: str = "feature"
    source: Source = Source.HUMAN
    risk: Risk | None = None
    risk_reasons: tuple[str, ...] = ()
    status: IntentStatus = IntentStatus.PROPOSED
    parent: str | None = None
    clarifications: tuple[Question, ...] = ()
    created_at: AwareDatetime | None = None

    def become(self, status: IntentStatus) -> Intent:
        return self.model_copy(update={"status": move(INTENTS, self.status, status)})

    def with_question(self, question: Question) -> Intent:
        """In place of the one of the same number."""
        questions = tuple(
            question if other.number == question.number else other for other in self.clarifications
        )
        return self.model_copy(update={"clarifications": questions})

    @property
    def open_questions(self) -> tuple[Question, ...]:
        return tuple(question for question in self.clarifications if question.answer is None)

"""What people say while a session is under way: words that wait to be judged, and the change they may ask for."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from bot.domain.documents import Document
from bot.domain.facts import Fact
from bot.domain.intent import Question
from bot.domain.people import Person
from bot.domain.planned import Analysis
from bot.domain.spec_kit import TaskDraft


class Words(Fact):
    """Something a person said that only the model can judge."""

    id: str
    by: Person
    at: AwareDatetime
    text: str
    mention: bool = False
    """The bot was named: it is looked at before what others merely wrote."""
    may_stop: bool = True
    """Whether this one may end agents."""


class WordKind(StrEnum):
    TALK = "talk"
    """Nothing is asked of the bot."""
    QUESTION = "question"
    CHANGE = "change"


class Affected(Fact):
    """A task that a change touches."""

    task_id: str
    why: str


class ChangeStage(StrEnum):
    JUDGING = "judging"
    """Which tasks does it touch?"""
    DRAFTING = "drafting"
    ANALYSING = "analysing"
    AWAITING = "awaiting"
    """Its difference is shown; a person has to confirm it."""


class Change(Fact):
    """A change of mind while tasks run. It stands beside the phase: what it does not touch goes on."""

    id: str
    text: str
    by: Person
    at: AwareDatetime
    may_stop: bool = True
    """Whether what it touches is held at once; else only when somebody who may approve confirms it."""
    stage: ChangeStage = ChangeStage.JUDGING
    revision: int
    """The one it leads to."""
    reason: str = ""
    affected: tuple[Affected, ...] = ()
    decision: Question | None = None
    """The decision it takes anew, as it will be. Until the change is confirmed the old one holds."""
    held: tuple[str, ...] = ()
    """Ids of the tasks that were held for it."""
    documents: tuple[Document, ...] = ()
    drafts: tuple[TaskDraft, ...] = ()
    parallelism: int = 2
    score: int | None = None
    """Of its tasks, of 100."""
    analysis: Analysis | None = None
    repairs: int = 0
    """How often it was written anew because of critical findings."""
    shown_at: AwareDatetime | None = None

"""What is saved of a session: its state, what it has heard, what it has still to hear, and what it has still to do."""

from __future__ import annotations

from pydantic import Field

from bot.domain.actions import Action
from bot.domain.events import Event
from bot.domain.facts import Living
from bot.domain.session import Session

REMEMBERED = 500
"""How many ids of people's events are kept, to notice one that comes again."""


class Record(Living):
    session: Session
    inbox: list[Event] = Field(default_factory=list[Event])
    outbox: list[Action] = Field(default_factory=list[Action])
    heard: list[str] = Field(default_factory=list[str])
    """Ids of events that came from outside, the newest last."""

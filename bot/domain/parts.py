"""Work that goes on elsewhere: the parts of a wish that is too large for one plan, a new wish, an earlier session."""

from __future__ import annotations

from enum import StrEnum

from pydantic import AwareDatetime

from bot.domain.facts import Fact
from bot.domain.people import Person, Thread


class Part(Fact):
    """A wish that gets a session, a root message and a thread of its own."""

    session: str
    """The id of that session; it is chosen before it exists."""
    title: str
    body: str
    by: Person
    child: bool = True
    """Part of a larger wish, rather than a new one."""
    thread: Thread | None = None
    """Where it lives; none: it is not opened yet."""


class Earlier(Fact):
    """A finished session that a request seems to go on with."""

    session: str
    title: str
    reason: str


class Going(StrEnum):
    """Where a request is carried out."""

    SPLIT = "split"
    """In sessions of its parts."""
    ELSEWHERE = "elsewhere"
    """In an earlier session."""
    HERE = "here"


class Chosen(Fact):
    """Who said where."""

    where: Going
    by: str
    at: AwareDatetime

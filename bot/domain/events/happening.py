"""What every event has: an id, a time; who did it, or which order it answers."""

from __future__ import annotations

from pydantic import AwareDatetime

from bot.domain.facts import Fact
from bot.domain.people import Person
from bot.domain.world import Usage


class Happening(Fact):
    id: str
    at: AwareDatetime


class FromPerson(Happening):
    by: Person
    may_stop: bool = True
    """Whether this one may end agents: the gate says so, whoever delivers it."""


class Result(Happening):
    """What came of an order."""

    answers: str
    usage: Usage = Usage()

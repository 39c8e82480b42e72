"""What every card has."""

from __future__ import annotations

from pydantic import AwareDatetime

from bot.domain.facts import Fact


class Shown(Fact):
    key: str


class Decided(Fact):
    """What became of a card's buttons."""

    what: str
    by: str
    at: AwareDatetime

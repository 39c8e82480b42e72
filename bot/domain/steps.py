"""A choice between next steps: the bot says which are legal, the model picks one, and the bot holds it to its word."""

from __future__ import annotations

from bot.domain.facts import Fact


class Option(Fact):
    """One legal step."""

    id: str
    says: str
    """What it means, for the model and for people."""


class Step(Fact):
    """What happened, and what may be done now. It stands until one option was chosen."""

    id: str
    happened: str
    options: tuple[Option, ...]
    default: str
    """The option that is taken when the model gives none, or none of these."""

    def option(self, id: str) -> Option | None:
        return next((option for option in self.options if option.id == id), None)

"""What a person sees who comes to look: everything at once, what waits for them first."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from bot.domain.cards.shown import Shown
from bot.domain.choices import Choice
from bot.domain.sheets import Entry


class HomeCard(Shown):
    """The bot's own page, for one person. Only its platform decides where it stands."""

    kind: Literal["home"] = "home"
    health: tuple[tuple[str, str], ...] = ()
    """What works and what does not, each with its remedy."""
    waiting: tuple[Entry, ...] = ()
    """What waits for a person."""
    running: tuple[Entry, ...] = ()
    recent: tuple[Entry, ...] = ()
    branches: tuple[str, ...] = ()
    """That the bot has made and that are still there."""
    settings: tuple[tuple[str, str], ...] = ()
    choices: tuple[Choice, ...] = ()
    at: AwareDatetime

"""Something to be done once, come what may."""

from __future__ import annotations

from typing import Literal

from bot.domain.actions.wish import Wish
from bot.domain.cards import Card
from bot.domain.people import Person


class Show(Wish):
    """Put a card into the thread: posted, or edited where its key already stands."""

    kind: Literal["show"] = "show"
    card: Card

    @property
    def key(self) -> str:
        return f"show:{self.card.key}"


class Whisper(Wish):
    """Tell one person only."""

    kind: Literal["whisper"] = "whisper"
    to: Person
    card: Card

    @property
    def key(self) -> str:
        return f"whisper:{self.to.id}:{self.card.key}"


class ShowLogs(Wish):
    """What happened to the tasks, from their logs, as the answer to a command."""

    kind: Literal["show_logs"] = "show_logs"
    about: str
    """The command's id."""
    task: str = ""
    level: str = ""
    to: Person | None = None
    """Whom it is shown to; none: everybody in the thread."""

    @property
    def key(self) -> str:
        return f"logs:{self.about}"


class StopRun(Wish):
    kind: Literal["stop_run"] = "stop_run"
    run_id: str

    @property
    def key(self) -> str:
        return f"stop:{self.run_id}"


class Relink(Wish):
    """Take the repository for the session's own where somebody says that it lies now."""

    kind: Literal["relink"] = "relink"
    about: str
    """The command's id."""
    path: str
    by: Person

    @property
    def key(self) -> str:
        return f"relink:{self.about}"


Deed = Show | Whisper | ShowLogs | StopRun | Relink
"""Something to be done once, come what may."""

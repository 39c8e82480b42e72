"""What the bot itself notices: refusals, trouble, time, its own return and its own bugs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.domain.events.happening import Happening, Result
from bot.domain.intent import Intent
from bot.domain.people import Person, Thread


class OrderFailed(Result):
    """The world refused an order for good. `what` is the order's kind."""

    kind: Literal["order_failed"] = "order_failed"
    what: str
    task_id: str = ""
    reason: str
    remedy: str = ""
    lost: bool = False
    """Its worktree or branch is gone, or was moved by hand."""
    away: bool = False
    """The repository itself is not where it was."""


class Relinked(Happening):
    """Somebody has said where the repository lies now."""

    kind: Literal["relinked"] = "relinked"
    by: Person
    path: str = ""
    """Where it was found; empty: it is not the session's."""
    problem: str = ""
    """Why not."""


class Begun(Happening):
    """A session that another one opened; this is its first event, in place of somebody's words."""

    kind: Literal["begun"] = "begun"
    by: Person
    text: str
    intent: Intent | None = None
    """As it is kept in the repository, where it is."""
    path: str = ""
    """Of that repository."""
    title: str = ""
    parent: str | None = None
    """The intent it is a part of."""
    origin: Thread | None = None
    """Where it comes from."""
    origin_title: str = ""


class TroubleBegan(Happening):
    """Something outside does not answer; the bot goes on trying by itself."""

    kind: Literal["trouble_began"] = "trouble_began"
    order: str = ""
    """The key of what cannot be done just now."""
    reason: str
    remedy: str = ""


class TroubleEnded(Happening):
    kind: Literal["trouble_ended"] = "trouble_ended"
    order: str = ""


class Ticked(Happening):
    """It is time to say how things stand. The tails are what the panes show, by run id."""

    kind: Literal["ticked"] = "ticked"
    tails: dict[str, str] = Field(default_factory=dict[str, str])
    anew: bool = False
    """The operator wants it said at the end of the thread each time (PROGRESS=post)."""


class Woken(Happening):
    """The bot is back, or looks around: whatever the states demand is ordered again."""

    kind: Literal["woken"] = "woken"
    restarted: bool = False
    hold: bool = False
    """The operator wants to be asked before anything goes on (ON_RESTART=ask)."""


class Broke(Happening):
    """A bug: this session cannot go on. The others live."""

    kind: Literal["broke"] = "broke"
    reason: str

"""What people do, as a chat delivers it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.domain.choices import Command, Verb
from bot.domain.events.happening import FromPerson
from bot.domain.facts import Fact


class Attached(Fact):
    """A file that came with a message, as text; or why it could not be read."""

    name: str
    text: str = ""
    problem: str = ""


class Said(FromPerson):
    kind: Literal["said"] = "said"
    text: str
    mention: bool = True
    files: tuple[Attached, ...] = ()
    repository: str = ""
    """The folder it is about, where whoever runs the bot named one; it counts only where a session begins."""
    copy_of: str = ""
    """What that folder is a temporary copy of."""
    unattended: bool = False
    """A script says it: nobody is there for a question in between."""
    waited: bool = False
    """It was said while its session was paused: it goes on with that session, or goes with it."""
    offered: str | None = None
    """What could be approved when it was heard; none: it was not noted. Times do not tell: the clocks of a platform and
    of this machine differ, and either may be set back."""
    unseen: tuple[str, ...] = ()
    """Keys of cards with buttons that stand after it in its thread, by the platform's own order."""


class Edited(FromPerson):
    """Somebody has edited a message that a session has heard."""

    kind: Literal["edited"] = "edited"
    of: str
    """The id of the event that the message was."""
    text: str
    """What it says now."""


class Pressed(FromPerson):
    kind: Literal["pressed"] = "pressed"
    verb: Verb
    about: str = ""
    text: str = ""
    answers: dict[int, str] = Field(default_factory=dict[int, str])
    """By the number of the question."""


class Commanded(FromPerson):
    kind: Literal["commanded"] = "commanded"
    command: Command
    mention: bool = True


class Opened(FromPerson):
    """Somebody opens the form behind a button. Nothing happens but that they are let, or told why not."""

    kind: Literal["opened"] = "opened"
    verb: Verb


class Visited(FromPerson):
    """Somebody opens the bot's own page, and is shown how everything stands."""

    kind: Literal["visited"] = "visited"


class Configured(FromPerson):
    """Somebody says in a form which model is to be asked."""

    kind: Literal["configured"] = "configured"
    base_url: str = ""
    model: str = ""


class Continued(FromPerson):
    """What somebody asked for in a thread of its own, and then said that it goes on with this finished session."""

    kind: Literal["continued"] = "continued"
    text: str


class Overheard(FromPerson):
    """What somebody who may not ask for anything said to others in the thread: context, and never more."""

    kind: Literal["overheard"] = "overheard"
    text: str


FromPeople = Said | Edited | Pressed | Commanded | Opened | Visited | Configured
"""What a chat delivers."""

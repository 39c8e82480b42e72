"""What something that came from Slack means, as data. Who the person is has not been asked yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, assert_never, cast

from adapters.chat.slack.offered import Offered
from bot.domain.choices import Command, Verb
from bot.domain.events import (
    Commanded,
    Configured,
    Edited,
    FromPeople,
    Opened,
    Pressed,
    Said,
    Visited,
)
from bot.domain.people import Person, Thread

Body = Mapping[str, Any]
"""JSON as Slack sends it: anything may be missing."""


@dataclass(frozen=True)
class Talk:
    text: str
    mention: bool
    ts: str = field(default="", compare=False)
    """Of the message; empty: it stands in none."""
    files: tuple[Offered, ...] = ()
    """What stands beside it, unread."""


@dataclass(frozen=True)
class Edit:
    """A message says something else now."""

    of: str
    """The id under which it was delivered."""
    text: str


@dataclass(frozen=True)
class Order:
    command: Command
    mention: bool = True


@dataclass(frozen=True)
class Press:
    verb: Verb
    about: str = ""
    text: str = ""
    answers: Mapping[int, str] = field(default_factory=dict[int, str])
    trigger: str = ""
    """What opens a window, where its answer is to be read in one."""


@dataclass(frozen=True)
class Visit:
    """Somebody looks at their home."""


@dataclass(frozen=True)
class Settings:
    """Which model is to be asked, as a form says."""

    base_url: str
    model: str


@dataclass(frozen=True)
class Wish:
    """Asked for in a form: its thread is still to be begun, in the channel it is for."""

    form: str
    text: str
    spec: bool = False
    """A spec of it is wanted, and nothing more."""


@dataclass(frozen=True)
class Opening:
    """A button that leads to a form. The form is opened only if the person is let."""

    verb: Verb
    trigger: str
    form: dict[str, Any]


@dataclass(frozen=True)
class Delivery:
    id: str
    at: datetime
    thread: Thread
    user: str
    what: Talk | Edit | Order | Press | Opening | Visit | Settings | Wish
    home: str = ""
    """The workspace they come from, if that was told."""

    @property
    def line(self) -> str:
        """Whose turn it shares: that of its thread; on a page of their own, everybody has one."""
        return f"{self.thread.key}:{self.user}" if self.thread.home else self.thread.key

    def event(self, by: Person) -> FromPeople:
        id, at = self.id, self.at
        match self.what:
            case Talk(text=text, mention=mention):
                return Said(id=id, at=at, by=by, text=text, mention=mention)
            case Edit(of=of, text=text):
                return Edited(id=id, at=at, by=by, of=of, text=text)
            case Order(command=command, mention=mention):
                return Commanded(id=id, at=at, by=by, command=command, mention=mention)
            case Press(verb=verb, about=about, text=text):
                answers = dict(self.what.answers)
                return Pressed(
                    id=id, at=at, by=by, verb=verb, about=about, text=text, answers=answers
                )
            case Opening(verb=verb):
                return Opened(id=id, at=at, by=by, verb=verb)
            case Wish():
                # whether they may is all that is asked before its thread is there; after a no
                # the same form may be sent again for another channel
                return Opened(id=f"{id}:may:{self.thread.channel}", at=at, by=by, verb=Verb.BEGIN)
            case Visit():
                return Visited(id=id, at=at, by=by)
            case Settings(base_url=base_url, model=model):
                return Configured(id=id, at=at, by=by, base_url=base_url, model=model)
            case _:
                assert_never(self.what)


@dataclass(frozen=True)
class Incomplete:
    """A form without what it is for. The one who sent it is told beside the fields."""

    errors: Mapping[str, str]


@dataclass(frozen=True)
class Nothing:
    """It is not for the bot."""

    why: str
    talked: Thread | None = None
    """Where people talked to each other."""


@dataclass(frozen=True)
class Leafed:
    """Another page of a window is wanted."""

    view: str
    page: int


@dataclass(frozen=True)
class Closed:
    view: str


@dataclass(frozen=True)
class Browsed:
    """Somebody looks at their messages with the bot: prompts may be suggested there."""

    user: str
    channel: str


Looking = Leafed | Closed | Browsed
"""What concerns only what one person sees, and nobody else."""
Meaning = Delivery | Incomplete | Looking | Nothing


def part(body: Body, name: str) -> Body:
    """An object inside another; empty where there is none."""
    inner = body.get(name)
    return cast("Body", inner) if isinstance(inner, Mapping) else {}


def word(body: Body, name: str) -> str:
    """A text; empty where there is none."""
    inner = body.get(name)
    return inner if isinstance(inner, str) else ""


def is_direct(channel: str, kind: str = "") -> bool:
    return kind == "im" or channel.startswith("D")


def moment(stamp: str, otherwise: datetime) -> datetime:
    """Slack's times are seconds with a fraction that makes them unique."""
    try:
        return datetime.fromtimestamp(float(stamp), UTC)
    except (ValueError, OverflowError, OSError):
        return otherwise

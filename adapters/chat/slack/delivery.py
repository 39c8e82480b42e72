"""What something that came from Slack means, as data. Who the person is has not been asked yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, assert_never, cast

from bot.domain.choices import Command, Verb
from bot.domain.events import Commanded, FromPeople, Opened, Pressed, Said
from bot.domain.people import Person, Thread

Body = Mapping[str, Any]
"""JSON as Slack sends it: anything may be missing."""


@dataclass(frozen=True)
class Talk:
    text: str
    mention: bool


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
    what: Talk | Order | Press | Opening
    home: str = ""
    """The workspace they come from, if that was told."""

    def event(self, by: Person) -> FromPeople:
        match self.what:
            case Talk(text=text, mention=mention):
                return Said(id=self.id, at=self.at, by=by, text=text, mention=mention)
            case Order(command=command, mention=mention):
                return Commanded(id=self.id, at=self.at, by=by, command=command, mention=mention)
            case Press(verb=verb, about=about, text=text, answers=answers):
                return Pressed(
                    id=self.id,
                    at=self.at,
                    by=by,
                    verb=verb,
                    about=about,
                    text=text,
                    answers=dict(answers),
                )
            case Opening(verb=verb):
                return Opened(id=self.id, at=self.at, by=by, verb=verb)
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


Meaning = Delivery | Incomplete | Nothing


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

"""What goes over the local socket: a JSON object a line, both ways. The first line of each side names the version.

The one who comes says `{"gwt_bot": 4}`, the bot answers with the same and who it is. From then on requests carry a number,
and their answers the same number; what is to be seen comes in between, unasked.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from bot.domain.cards import Card
from bot.domain.events import Commanded, Pressed, Said
from bot.domain.facts import Fact
from bot.domain.people import Thread

VERSION = 4
LONGEST = 4 * 1024 * 1024
"""Bytes of a line that the bot reads: a request is a text somebody typed or pasted."""
LONGEST_SENT = 512 * 1024 * 1024
"""Bytes of a line that the bot sends: all sessions there are, or one as a whole. It is believed."""


class Hello(Fact):
    gwt_bot: int


class Welcome(Fact):
    gwt_bot: int
    version: str
    pid: int
    repository: str
    """The usual one."""


class Deliver(Fact):
    """Something was said, pressed or commanded. Who did it is not believed: it is the owner of the socket."""

    ask: Literal["deliver"] = "deliver"
    id: int
    thread: Thread
    event: Annotated[Said | Pressed | Commanded, Field(discriminator="kind")]


class Look(Fact):
    """From now on everything is shown; with what stands there already, if it is wanted."""

    ask: Literal["look"] = "look"
    id: int
    thread: Thread
    earlier: bool = True


class Rest(Fact):
    """Answered once nothing moves in that thread any more without a person."""

    ask: Literal["rest"] = "rest"
    id: int
    thread: Thread


class Tell(Fact):
    """How things stand, for a program to read."""

    ask: Literal["tell"] = "tell"
    id: int
    about: Literal["status", "sessions", "session", "usage", "inbox"]
    of: str = ""


Request = Annotated[Deliver | Look | Rest | Tell, Field(discriminator="ask")]


class Answer(Fact):
    kind: Literal["answer"] = "answer"
    id: int
    answer: JsonValue = None


class Failure(Fact):
    """`again`: it may work later."""

    kind: Literal["failure"] = "failure"
    id: int
    reason: str
    remedy: str = ""
    again: bool = False


class Shown(Fact):
    kind: Literal["show"] = "show"
    thread: Thread
    card: Card


class Opened(Fact):
    """The card began a thread of its own, beside `thread`."""

    kind: Literal["open"] = "open"
    thread: Thread
    card: Card


class Whispered(Fact):
    kind: Literal["whisper"] = "whisper"
    thread: Thread
    card: Card


class Turned(Fact):
    """From now on that thread is meant."""

    kind: Literal["turn"] = "turn"
    thread: Thread


Sent = Annotated[
    Answer | Failure | Shown | Opened | Whispered | Turned, Field(discriminator="kind")
]

REQUESTS: TypeAdapter[Request] = TypeAdapter(Request)
SENT: TypeAdapter[Sent] = TypeAdapter(Sent)


def line(fact: Fact) -> bytes:
    return fact.model_dump_json().encode() + b"\n"

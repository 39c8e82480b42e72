"""What goes over the local socket, and where the socket is: a JSON object a line, both ways.

The client begins with its version, `{"gwt_bot": …}`; the bot answers with its own and who it is. From then on requests carry a
number, and their answers the same number; what is to be shown comes in between, unasked.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from bot.core.cards import Card
from bot.core.errors import Refused
from bot.core.events import Commanded, Pressed, Said
from bot.core.facts import Fact
from bot.core.people import Thread

VERSION = 4
LONGEST_REQUEST = 4 * 1024 * 1024
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


class DeliverRequest(Fact):
    """Something was said, pressed or commanded. Who did it is not believed: it is the owner of the socket."""

    ask: Literal["deliver"] = "deliver"
    id: int
    thread: Thread
    event: Annotated[Said | Pressed | Commanded, Field(discriminator="kind")]


class LookRequest(Fact):
    """From now on everything is shown; with what stands there already, if it is wanted."""

    ask: Literal["look"] = "look"
    id: int
    thread: Thread
    earlier: bool = True


class RestRequest(Fact):
    """Answered once nothing moves in that thread any more without a person."""

    ask: Literal["rest"] = "rest"
    id: int
    thread: Thread


class TellRequest(Fact):
    """How things stand, for a program to read."""

    ask: Literal["tell"] = "tell"
    id: int
    about: Literal["status", "sessions", "session", "usage", "inbox"]
    of: str = ""


Request = Annotated[
    DeliverRequest | LookRequest | RestRequest | TellRequest, Field(discriminator="ask")
]


class SocketAnswer(Fact):
    kind: Literal["answer"] = "answer"
    id: int
    answer: JsonValue = None


class SocketFailure(Fact):
    """`again`: it may work later."""

    kind: Literal["failure"] = "failure"
    id: int
    reason: str
    remedy: str = ""
    again: bool = False


class CardShown(Fact):
    kind: Literal["show"] = "show"
    thread: Thread
    card: Card


class ThreadOpened(Fact):
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
    SocketAnswer | SocketFailure | CardShown | ThreadOpened | Whispered | Turned,
    Field(discriminator="kind"),
]

REQUESTS: TypeAdapter[Request] = TypeAdapter(Request)
SENT: TypeAdapter[Sent] = TypeAdapter(Sent)


def encode_line(fact: Fact) -> bytes:
    return fact.model_dump_json().encode() + b"\n"


# Where the socket is: in the bot's home, private like everything there. A path may be longer than
# a socket's name can be.

SOCKET_NAME = "socket"
LONGEST_SOCKET_NAME = 100
"""Bytes that a socket's name may have everywhere."""


def socket_path(home: Path) -> Path:
    return home / SOCKET_NAME


@contextmanager
def short_socket_name(home: Path) -> Iterator[str]:
    """A name for the socket that is short enough, for as long as it is needed to bind or connect."""
    path = socket_path(home)
    if len(os.fsencode(path)) <= LONGEST_SOCKET_NAME:
        yield str(path)
        return
    try:
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Refused(f"{home} cannot be opened: {error.strerror}.") from error
    try:
        short = Path(f"/proc/self/fd/{folder}")
        if not short.exists():
            raise Refused(
                f"The path of {path} is too long for a socket.", "Choose a shorter GWT_HOME."
            )
        yield str(short / SOCKET_NAME)
    finally:
        os.close(folder)


def listening_socket(home: Path) -> socket.socket:
    """Listening, for its owner alone. Whoever holds the home's lock may do this: what stands there is a left-over."""
    socket_path(home).unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_socket_name(home) as name:
            # the home is closed to others; a umask would hold for all that the bot makes meanwhile
            listening.bind(name)
            Path(name).chmod(0o600)
        listening.listen(16)
        listening.setblocking(False)
    except BaseException:
        listening.close()
        raise
    return listening


def connected_socket(home: Path) -> socket.socket | None:
    """To the bot that is at work there; None: there is none."""
    calling = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    calling.settimeout(5)
    try:
        with short_socket_name(home) as name:
            calling.connect(name)
    except (OSError, Refused):
        calling.close()
        return None
    calling.setblocking(False)
    return calling

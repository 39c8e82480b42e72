"""What goes over the local socket: a JSON object a line, both ways.

The client begins with its version, `{"gwt_bot": …}`; the bot answers with its own and who it is. From then on requests carry a
number, and their answers the same number; what is to be shown comes in between, unasked.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from adapters.local.handshake import SocketAnswer, SocketFailure, TellRequest
from bot.core.cards import Card
from bot.core.events import Commanded, Pressed, Said
from bot.core.facts import Fact
from bot.core.people import Thread


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


Request = Annotated[
    DeliverRequest | LookRequest | RestRequest | TellRequest, Field(discriminator="ask")
]


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

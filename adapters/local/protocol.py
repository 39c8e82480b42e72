"""The messages on the local socket: one JSON object per line in both directions.

The client sends its version first, `{"gwt_bot": …}`; the bot answers with its own and who it is. Then each request has
a number, repeated in its answer; cards are pushed in between.
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
    """A message, press or command. Its person is not trusted: it is always the owner of the socket."""

    ask: Literal["deliver"] = "deliver"
    id: int
    thread: Thread
    event: Annotated[Said | Pressed | Commanded, Field(discriminator="kind")]


class LookRequest(Fact):
    """Subscribe to all cards, including earlier ones if requested."""

    ask: Literal["look"] = "look"
    id: int
    thread: Thread
    earlier: bool = True


class RestRequest(Fact):
    """Answered once the thread's session cannot continue without a person."""

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
    """The card started a thread of its own, separate from `thread`."""

    kind: Literal["open"] = "open"
    thread: Thread
    card: Card


class Whispered(Fact):
    kind: Literal["whisper"] = "whisper"
    thread: Thread
    card: Card


class Turned(Fact):
    """The current thread has changed."""

    kind: Literal["turn"] = "turn"
    thread: Thread


Sent = Annotated[
    SocketAnswer | SocketFailure | CardShown | ThreadOpened | Whispered | Turned,
    Field(discriminator="kind"),
]

REQUESTS: TypeAdapter[Request] = TypeAdapter(Request)
SENT: TypeAdapter[Sent] = TypeAdapter(Sent)

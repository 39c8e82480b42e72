"""The way to people, and to the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from bot.core.cards import Card
from bot.core.events import FromPeople
from bot.core.llm import Reply
from bot.core.people import Person, Thread

Deliver = Callable[[Thread, FromPeople], Awaitable[bool]]
"""Returns when the event is on disk, or, with False, was refused and the person was told; only then may a platform
acknowledge it."""
MayAsk = Callable[[Thread, Person], bool]
"""Whether somebody may ask for work there. For nobody else is anything fetched: files cost time, and lie elsewhere."""


def nobody_may_ask(thread: Thread, person: Person) -> bool:
    """Where nothing else is said."""
    return False


class Chat(Protocol):
    """A platform people talk on."""

    async def listen(self, deliver: Deliver) -> None:
        """Deliver what people say and press, until cancelled or until nobody can say anything any more."""
        ...

    async def show(self, thread: Thread, card: Card) -> None:
        """Put a card into the thread: posted, or edited where its key already stands."""
        ...

    async def open(self, thread: Thread, card: Card) -> Thread:
        """Put a card into the channel of `thread` as a message of its own: the thread that it begins.

        Safe to do twice: a card is known by its key, wherever it stands.
        """
        ...

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        """Show a card to one person only, as far as the platform can."""
        ...


class Llm(Protocol):
    async def complete(self, system: str, data: str, *, schema: dict[str, object] | None) -> Reply:
        """One answer to `system` about `data`. With a schema: JSON is wanted (the endpoint may ignore it).

        What is sent is masked on the way: it may hold what the model itself has just said.
        """
        ...

"""Access to people, and to the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from bot.core.cards import Card
from bot.core.events import FromPeople
from bot.core.llm import ModelRole, Reply, Tool, Turn
from bot.core.people import Person, Thread

Deliver = Callable[[Thread, FromPeople], Awaitable[bool]]
"""Returns once the event is on disk; `False` if it was refused and the person was told.

Only then may a platform acknowledge the event.
"""
MayAsk = Callable[[Thread, Person], bool]
"""Whether somebody may start work there.

Attachments are fetched for nobody else: they cost time and are on other servers.
"""


def nobody_may_ask(thread: Thread, person: Person) -> bool:
    """The default."""
    return False


class Chat(Protocol):
    """A chat platform."""

    async def listen(self, deliver: Deliver) -> None:
        """Deliver what people write and press until cancelled, or until nobody can write any more."""
        ...

    async def show(self, thread: Thread, card: Card) -> None:
        """Post a card to the thread, or edit the card that has the same key."""
        ...

    async def open(self, thread: Thread, card: Card) -> Thread:
        """Post a card as a root message in the channel of `thread`, and return its new thread.

        Idempotent: a card is recognised by its key.
        """
        ...

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        """Show a card to one person only, as far as the platform can."""
        ...


class Llm(Protocol):
    async def complete(
        self,
        system: str,
        data: str,
        *,
        schema: dict[str, object] | None,
        turns: Sequence[Turn] = (),
        tools: Sequence[Tool] = (),
        role: ModelRole = ModelRole.MAIN,
    ) -> Reply:
        """Return one reply to `system` about `data` and the turns since.

        `role` is for whoever chooses among several models. With a schema JSON is requested (the endpoint may ignore it). With tools the reply may be
        `{"look": [{"tool": name, …arguments}, …]}` instead; what was found is the next turn. What is sent is masked
        here, as it may contain the model's own earlier words.
        """
        ...

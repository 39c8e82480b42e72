"""A thread that the bot begins: its root message is written down for the whole channel, by the card's key; and then as a
card of its thread.

So the same card is the same thread, wherever it was opened from; shown in that thread, it is edited where it stands.
"""

from __future__ import annotations

from adapters.posting.ledger import Ledger
from bot.domain.cards import Card
from bot.domain.people import Thread


def root_of(thread: Thread, card: Card) -> tuple[Thread, Card]:
    """Where, and as what, the root message stands in the ledger before its thread is known."""
    channel = thread.model_copy(update={"root": ""})
    return channel, card.model_copy(update={"key": f"{card.key} root"})


def thread_of(thread: Thread, root: str) -> Thread:
    """The thread of a root message in the same channel."""
    return thread.model_copy(update={"root": root})


def opened(ledger: Ledger, thread: Thread, card: Card) -> Thread | None:
    """The thread that the card has begun. None: it has not, or not everything of it is written down."""
    channel, root = root_of(thread, card)
    placed = ledger.find(channel, root.key)
    if placed is None or not placed.messages:
        return None
    begun = thread_of(thread, placed.messages[0])
    return begun if ledger.find(begun, card.key) else None

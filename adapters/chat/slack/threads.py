"""Threads that the bot begins itself: a root message each, posted once, whatever became of earlier tries."""

from __future__ import annotations

from adapters.chat.slack.messages import Messages
from adapters.chat.slack.sending import Drawing
from adapters.posting import Ledger, root_of, thread_of
from bot.domain.cards import Card
from bot.domain.layout import sheet
from bot.domain.people import Thread


class Threads:
    def __init__(self, messages: Messages, ledger: Ledger) -> None:
        self._messages = messages
        self._ledger = ledger

    async def begin(self, thread: Thread, card: Card, drawing: Drawing) -> Thread:
        """The thread whose root says the first of what is drawn. From then on it is a card of that thread."""
        channel, root = root_of(thread, card)
        tried = self._ledger.find(channel, root.key) is not None
        placed = self._ledger.wanted(channel, root, sheet(card).choices)
        there = placed.messages[0] if placed.messages else ""
        if tried and not there:
            there = await self._messages.find_root(placed)
        ts = there or await self._messages.begin(placed, drawing)
        placed = self._ledger.begun(placed, ts)
        begun = thread_of(thread, ts)
        own = self._ledger.adopted(placed, begun, card)
        if not there and len(drawing) == 1:
            # else it may say what it was to say at an earlier try, or not all of it: it is shown once more
            self._ledger.posted(own, ts)
        return begun

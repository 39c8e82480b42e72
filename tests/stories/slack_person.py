"""Mika at work in Slack: asks, reads what stands in her thread, presses what she is offered."""

from __future__ import annotations

from collections.abc import Callable

from tests.beds.slack import MIKA, PUBLIC, Message, SlackBed, View
from tests.beds.slack.forms import labels
from tests.stories.serving import PATIENCE


class SlackPerson:
    def __init__(self, bed: SlackBed, user: str = MIKA, channel: str = PUBLIC) -> None:
        self.bed, self.user, self.channel = bed, user, channel
        self.root = ""

    async def ask(self, text: str) -> None:
        """In the channel; from now on this is the thread that is read."""
        self.root = (await self.bed.mention(self.user, self.channel, text)).ts

    async def reply(self, text: str) -> None:
        await self.bed.reply(self.user, self.channel, self.root, text)

    @property
    def cards(self) -> list[Message]:
        """What the bot has posted in the thread, as it stands there now."""
        return [m for m in self.bed.thread(self.channel, self.root) if m.by_our_bot]

    def card(self, *words: str) -> Message | None:
        """The newest one on which all of this stands."""
        found = [card for card in self.cards if all(word in card.reads for word in words)]
        return found[-1] if found else None

    async def sees(self, *words: str, seconds: float = PATIENCE) -> Message:
        """Wait until a card says all of this."""
        await self.until(lambda: self.card(*words), f"{words}", seconds)
        card = self.card(*words)
        assert card
        return card

    async def is_told(self, word: str) -> Message:
        """Wait for a word to her alone."""
        await self.until(lambda: self._told(word), f"privately: {word}")
        return self._told(word)[-1]

    async def presses(self, label: str, on: str = "", seconds: float = PATIENCE) -> Message:
        """The button, on the newest card that has it (and says this)."""
        await self.until(lambda: self.offered(label, on), f"a button {label}", seconds)
        card = self.offered(label, on)[-1]
        await self.bed.click(self.user, card.ts, label)
        return card

    async def is_asked(self) -> View:
        """Wait for a form."""
        await self.until(lambda: self.bed.views, "a form")
        return self.bed.views[-1]

    async def until(
        self, seen: Callable[[], object], wanted: str, seconds: float = PATIENCE
    ) -> None:
        try:
            await self.bed.until(seen, seconds)
        except TimeoutError:
            there = "\n---\n".join(f"{m.reads}\n{labels(m.blocks)}" for m in self.cards)
            raise AssertionError(f"{wanted} was never seen; there was:\n{there}") from None

    def _told(self, word: str) -> list[Message]:
        return [m for m in self.bed.ephemerals(self.user) if word in m.reads]

    def offered(self, label: str, on: str = "") -> list[Message]:
        return [card for card in self.cards if label in labels(card.blocks) and on in card.reads]

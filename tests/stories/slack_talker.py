"""Mika in a channel of Slack, as the conversations with the bot know a person: buttons are pressed, threads have links."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.core.session import Session
from tests.beds.slack import MIKA, SlackBed, invariants
from tests.stories.conversation import PATIENCE, Scene
from tests.stories.serving import Hold, in_slack, serving
from tests.stories.slack_person import SlackPerson


class SlackTalker:
    """A `Talker`."""

    def __init__(self, bed: SlackBed) -> None:
        self._mika = SlackPerson(bed)

    async def asks(self, text: str) -> None:
        await self._mika.ask(text)

    async def says(self, text: str) -> None:
        await self._mika.reply(text)

    async def presses(self, label: str, on: str = "") -> None:
        """Slack itself asks whether she is sure."""
        await self._mika.presses(label, on, PATIENCE)

    async def sees(self, *words: str) -> None:
        await self._mika.sees(*words, seconds=PATIENCE)

    async def count(self, *words: str) -> int:
        return sum(all(word in card.reads for word in words) for card in self._mika.cards)

    async def goes_to(self, session: Session) -> None:
        self._mika.channel, self._mika.root = session.thread.channel, session.thread.root

    async def sees_link_to(self, session: Session) -> None:
        """A permalink to the first message of that thread."""
        there = session.thread
        await self.sees(f"/archives/{there.channel}/p{there.root.replace('.', '')}|")


@asynccontextmanager
async def in_a_channel(
    folder: Path, *, late: bool = False, **environ: str
) -> AsyncGenerator[Scene, None]:
    """The bot is at work there. In the end nothing is left that it did not hear, or said where it may not. `late`: it may
    hear it late, as on a machine that is busy for as long as the scene goes on."""
    async with SlackBed() as bed, serving(folder, **in_slack(bed, MIKA), **environ) as bot:
        assert bot.played
        bed.leeway.unacked = late
        bot.start()
        await bed.connected(seconds=PATIENCE)
        yield Scene(SlackTalker(bed), bot, bot.played, Hold(folder))
        await bed.all_acked()
        opened = {
            session.thread.root
            for session in bot.sessions()
            if (root := bed.world.messages.named(session.thread.root)) and root.by_our_bot
        }
        invariants.check(bed, roots=opened)

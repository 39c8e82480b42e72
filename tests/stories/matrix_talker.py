"""Mika in a room on Matrix, as the conversations with the bot know a person: chips are clicked, threads have links."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

from bot.core.session import Session
from tests.beds.synapse import Homeserver, People
from tests.stories.conversation import PATIENCE, Scene
from tests.stories.matrix_person import MatrixPerson
from tests.stories.serving import Hold, in_matrix, serving

SURE = {
    "Merge into main": "into your local",
    "Merge all, in order": "pull requests into main",
    "Do not wait for them": "End this session",
}
"""What the bot asks once more, and before what."""


def bears(key: str, label: str) -> bool:
    """Whether a chip is for this, whatever emoji or number stands before it."""
    return key.partition(" ")[2] == label


class MatrixTalker:
    """A `Talker`."""

    def __init__(self, mika: MatrixPerson) -> None:
        self._mika = mika

    async def asks(self, text: str) -> None:
        await self._mika.ask(text)

    async def says(self, text: str) -> None:
        await self._mika.reply(text)

    async def presses(self, label: str, on: str = "") -> None:
        """A chip is an emoji and the label. Sometimes the bot asks whether she is sure, on a card of its own."""
        key = await self._chip(label, on)
        await self._mika.clicks(key, on, PATIENCE)
        if sure := SURE.get(label):
            await self._mika.clicks(key, sure, PATIENCE)

    async def sees(self, *words: str) -> None:
        await self._mika.sees(*words, seconds=PATIENCE)

    async def count(self, *words: str) -> int:
        await self._mika.person.look(wait=0)
        return sum(all(word in card.text for word in words) for card in self._mika.cards)

    async def goes_to(self, session: Session) -> None:
        self._mika.root = session.thread.root

    async def sees_link_to(self, session: Session) -> None:
        """A permalink to the first message of that thread."""
        room, root = quote(session.thread.channel, safe="!:"), quote(session.thread.root, safe="$")
        await self.sees(f"https://matrix.to/#/{room}/{root}")

    async def _chip(self, label: str, on: str) -> str:
        """Which of the emojis stands before it."""

        def offered() -> list[str]:
            cards = [card for card in self._mika.cards if on in card.text]
            return [key for card in cards for key in card.keys if bears(key, label)]

        await self._mika.until(lambda: bool(offered()), PATIENCE)
        return offered()[-1]


@asynccontextmanager
async def in_a_room(
    folder: Path, homeserver: Homeserver, people: People, **environ: str
) -> AsyncGenerator[Scene, None]:
    """The bot has come into a room of Mika's, who may do everything."""
    mika, account = people("mika"), people("gwt")
    room = await mika.create_room()
    settings = in_matrix(homeserver.url, account.login, room, mika.id)
    async with serving(folder, **settings, **environ) as bot:
        assert bot.played
        person = MatrixPerson(mika, account.id, room)
        bot.start()
        await person.invites_the_bot()
        yield Scene(MatrixTalker(person), bot, bot.played, Hold(folder))

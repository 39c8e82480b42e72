"""Anna at work in a room on Matrix: asks, reads what stands in her thread, clicks on chips and writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.beds.synapse import Person, Post
from tests.stories.serving import PATIENCE


class MatrixPerson:
    def __init__(self, person: Person, bot: str, room: str) -> None:
        self.person, self.bot, self.room = person, bot, room
        self.root = ""

    async def invites_the_bot(self) -> None:
        """And waits for it to come."""
        await self.person.invite(self.room, self.bot)
        async with asyncio.timeout(PATIENCE):
            while (await self.person.members(self.room))[self.bot] != "join":  # noqa: ASYNC110 - another process changes it
                await asyncio.sleep(0.05)

    async def ask(self, text: str) -> None:
        """In the room, with the bot's name in front; from now on this is the thread that is read."""
        self.root = await self.person.say(self.room, text, mention=self.bot)

    async def reply(self, text: str) -> str:
        return await self.person.say(self.room, text, thread=self.root)

    @property
    def cards(self) -> list[Post]:
        """What the bot has posted in the thread, as it stands there now."""
        posts = self.person.thread(self.room, self.root)
        return [post for post in posts if post.sender == self.bot and not post.redacted]

    def card(self, *words: str) -> Post | None:
        """The newest one on which all of this stands."""
        found = [post for post in self.cards if all(word in post.text for word in words)]
        return found[-1] if found else None

    async def sees(self, *words: str, seconds: float = PATIENCE) -> Post:
        """Wait until a card says all of this."""
        await self.person.until(lambda: self.card(*words) is not None, seconds)
        card = self.card(*words)
        assert card
        return card

    async def clicks(self, chip: str, on: str = "", seconds: float = PATIENCE) -> str:
        """The chip, on the newest card that has one that begins so (and says this). The id of the reaction."""
        post, key = await self.is_offered(chip, on, seconds)
        return await self.person.react(self.room, post.event_id, key)

    async def is_offered(
        self, chip: str, on: str = "", seconds: float = PATIENCE
    ) -> tuple[Post, str]:
        """Wait for the bot to set a chip; the newest card with it, and the chip."""

        def offered() -> list[tuple[Post, str]]:
            return [
                (post, key)
                for post in self.cards
                for key, sender in post.reactions
                if sender == self.bot and key.startswith(chip) and on in post.text
            ]

        await self.until(lambda: bool(offered()), seconds)
        return offered()[-1]

    async def until(self, seen: Callable[[], bool], seconds: float = PATIENCE) -> None:
        await self.person.until(seen, seconds)

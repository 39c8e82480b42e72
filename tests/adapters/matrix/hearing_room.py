"""A room on a real homeserver with Anna, Bob and a bot in it whose desk only listens: what people do there, it is given."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import ClientSession

from adapters.matrix.chat import MatrixChat
from adapters.matrix.client import MatrixAccess
from bot.core.cards import Card
from bot.core.choices import Word
from bot.core.events import Commanded, FromPeople
from bot.core.people import Thread
from tests.beds.synapse import Person, Post, Proxy
from tests.fakes import cards

PATIENCE = 120.0


@dataclass
class Room:
    """Anna, the bot, and what the desk was given."""

    anna: Person
    bob: Person
    bot: Person
    id: str
    way: Proxy
    """Between the bot and the homeserver."""
    folder: Path
    heard: list[tuple[Thread, FromPeople]] = field(default_factory=list[tuple[Thread, FromPeople]])
    lets: bool = True
    shunned: set[str] = field(default_factory=set[str])
    """Rooms into which the bot does not come, whoever invites it."""
    _chat: MatrixChat | None = None

    @property
    def chat(self) -> MatrixChat:
        assert self._chat, "the bot is away"
        return self._chat

    def bot_is_there(self) -> MatrixChat:
        """It can say something, and hears nothing."""
        access = MatrixAccess(self.way.url, self.bot.id, self.bot.login.access_token)
        return MatrixChat(
            access, self.folder, self._welcome, may_request=lambda thread, person: self.lets
        )

    @asynccontextmanager
    async def bot_listens(self) -> AsyncGenerator[None, None]:
        """One life of the bot."""
        async with self.bot_is_there() as chat:
            self._chat = chat
            listening = asyncio.create_task(chat.listen(self._deliver))
            async with asyncio.timeout(PATIENCE):
                while not (self.folder / "sync.json").exists():  # noqa: ASYNC110 - another task writes it
                    await asyncio.sleep(0.01)
            yield
            listening.cancel()
            await asyncio.wait({listening})
            self._chat = None

    async def _deliver(self, thread: Thread, event: FromPeople) -> bool:
        if event.id not in [one.id for _, one in self.heard]:
            self.heard.append((thread, event))
        return self.lets

    def _welcome(self, inviter: str, room: str, direct: bool) -> bool:
        return room not in self.shunned

    async def next(self, count: int = 1) -> list[FromPeople]:
        """All that was heard, once it is so much; something that comes later shows that there is no more."""
        await self.anna.say(self.id, "help", mention=self.bot.id)
        async with asyncio.timeout(PATIENCE):
            while not self.heard or word(self.heard[-1][1]) is not Word.HELP:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        self.heard.pop()
        events = [event for _, event in self.heard]
        assert len(events) == count, events
        return events

    async def has_heard(self, count: int) -> list[FromPeople]:
        async with asyncio.timeout(PATIENCE):
            while len(self.heard) < count:  # noqa: ASYNC110 - another task fills it
                await asyncio.sleep(0.01)
        return [event for _, event in self.heard]

    async def shown(self, card: Card = cards.APPROVAL, says: str = "Shall I build") -> Thread:
        """A thread in which something is to be decided."""
        await self.anna.say(self.id, "Add a dark mode", mention=self.bot.id)
        await self.has_heard(1)
        thread, _ = self.heard[0]
        await self.chat.show(thread, card)
        await self.anna.until(lambda: self.post(says) is not None)
        return thread

    async def clicks(self, chip: str, on: str = "Shall I build", by: Person | None = None) -> str:
        """The id of the reaction."""
        await self.anna.until(lambda: self.post(on) is not None)
        card = self.post(on)
        assert card
        return await (by or self.anna).react(self.id, card.event_id, chip)

    async def sends_file(self, data: bytes, **content: object) -> str:
        """Anna's; `content` is what her client says of it."""
        headers = {"Authorization": f"Bearer {self.anna.login.access_token}"}
        place = f"{self.way.url}/_matrix/media/v3/upload?filename=x"
        async with (
            ClientSession(headers=headers) as session,
            session.post(place, data=data) as answer,
        ):
            url = (await answer.json())["content_uri"]
        told: dict[str, object] = {"msgtype": "m.file", "body": "notes.md", "url": url}
        if isinstance(lock := content.get("file"), dict):
            content["file"] = {**lock, "url": url}
        return await self.anna.send(self.id, "m.room.message", {**told, **content})

    def post(self, text: str, room: str = "") -> Post | None:
        """By the bot, as it stands there now."""
        found = [post for post in self.anna.posts(room or self.id) if post.sender == self.bot.id]
        return next((post for post in found if text in post.text), None)

    async def sees(self, text: str, *, chips: int = 0, room: str = "") -> Post:
        """A post of the bot with at least so many different reactions."""

        def there() -> bool:
            post = self.post(text, room)
            return post is not None and len(post.keys) >= chips

        await self.anna.until(there, PATIENCE)
        post = self.post(text, room)
        assert post
        return post


def word(event: FromPeople) -> Word | None:
    return event.command.word if isinstance(event, Commanded) else None

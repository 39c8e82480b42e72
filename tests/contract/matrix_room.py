"""A room on a real homeserver with Anna and Ben in it: what Anna reads is each message as it stands there now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.chat.matrix import MatrixAccess, MatrixChat
from adapters.chat.matrix.state import Bookmark
from bot.domain.people import Person, Thread
from tests.beds import synapse
from tests.contract.rooms import Room

PATIENCE = 30.0


class MatrixRoom(Room):
    says_again = True

    def __init__(
        self,
        anna: synapse.Person,
        bot: str,
        chat: MatrixChat,
        threads: tuple[Thread, Thread],
        has_begun: Callable[[], bool],
    ) -> None:
        self.anna, self.bot, self.chat = anna, bot, chat
        self.person = Person(platform="matrix", id=anna.id)
        self.thread, self.other_thread = threads
        self._has_begun = has_begun
        self._root = ""

    async def is_heard(self) -> None:
        """The first start of all hears nothing of what was said before it."""
        async with asyncio.timeout(PATIENCE):
            while not self._has_begun():  # noqa: ASYNC110 - a file changes
                await asyncio.sleep(0.01)

    async def say(self, text: str) -> None:
        room = self.thread.channel
        if self._root:
            await self.anna.say(room, text, thread=self._root)
        else:
            self._root = await self.anna.say(room, text, mention=self.bot)

    async def press_first(self) -> None:
        def chips() -> list[tuple[str, str]]:
            return [
                (post.event_id, key)
                for post in self.anna.thread(self.thread.channel, self._root)
                for key, sender in post.reactions
                if post.sender == sender == self.bot
            ]

        await self.anna.until(lambda: bool(chips()), PATIENCE)
        await self.anna.react(self.thread.channel, *chips()[0])

    async def count(self, text: str) -> int:
        """Once all has arrived that was said so far."""
        room = self.thread.channel
        last = await self.anna.say(room, "-")
        await self.anna.until(lambda: any(p.event_id == last for p in self.anna.posts(room)))
        said = [p for p in self.anna.posts(room) if p.sender == self.bot and p.type != "m.file"]
        return sum(post.text.count(text) for post in said)


@asynccontextmanager
async def matrix_room(people: synapse.People, folder: Path) -> AsyncGenerator[MatrixRoom, None]:
    """The threads are older than the bot."""
    anna, ben, bot = people("anna"), people("ben"), people("bot")
    room = await people.room(anna, ben, bot)
    threads = (
        Thread(platform="matrix", channel=room, root=await anna.say(room, "Lunch?")),
        Thread(platform="matrix", channel=room, root=await ben.say(room, "Tea?")),
    )
    access = MatrixAccess(people.homeserver.url, bot.id, bot.login.access_token)

    def has_begun() -> bool:
        return Bookmark(folder, bot.id, bot.login.device_id).since is not None

    async with MatrixChat(access, folder, _nowhere) as chat:
        yield MatrixRoom(anna, bot.id, chat, threads, has_begun)


def _nowhere(inviter: str, room: str, direct: bool) -> bool:
    """The bot is where it has to be already."""
    return False

"""A room on a real homeserver with Anna and Ben in it: what Anna reads is each message as it stands there now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from adapters.matrix.chat import MatrixChat
from adapters.matrix.client import MatrixAccess
from adapters.matrix.storage import SyncBookmark
from bot.core.people import Person, Thread
from bot.ports import Chat
from tests.beds import synapse
from tests.contract.rooms import Room

PATIENCE = 120.0
Begin = Callable[[], Awaitable[Chat]]
"""The bot ends, if it was there, and begins."""


class MatrixRoom(Room):
    says_again = True

    def __init__(
        self,
        anna: synapse.Person,
        bot: str,
        begin: Begin,
        chat: Chat,
        threads: tuple[Thread, Thread],
        has_begun: Callable[[], bool],
    ) -> None:
        self.anna, self.bot, self.chat, self._begin = anna, bot, chat, begin
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

    async def say_in(self, thread: Thread, text: str) -> None:
        await self.anna.say(thread.channel, text, thread=thread.root)

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
        return sum(post.text.count(text) for post in await self._said())

    async def count_in(self, thread: Thread, text: str) -> int:
        return sum(one.text.count(text) for one in await self._said() if one.root == thread.root)

    async def restart(self) -> None:
        self.chat = await self._begin()

    async def _said(self) -> list[synapse.Post]:
        """By the bot, once all has arrived that was said so far."""
        room = self.thread.channel
        last = await self.anna.say(room, "-")
        await self.anna.until(lambda: any(p.event_id == last for p in self.anna.posts(room)))
        return [p for p in self.anna.posts(room) if p.sender == self.bot and p.type != "m.file"]


@asynccontextmanager
async def matrix_room(
    people: synapse.People, folder: Path, *, encrypted: bool = False, url: str = ""
) -> AsyncGenerator[MatrixRoom, None]:
    """The threads are older than the bot. `url`: its way to the homeserver, if that is another one."""
    anna = await people.confidant("anna") if encrypted else people("anna")
    ben, bot = people("ben"), people("bot")
    room = await people.room(anna, ben, bot)
    if isinstance(anna, synapse.Confidant):
        await anna.encrypt(room)
    threads = (
        Thread(platform="matrix", channel=room, root=await anna.say(room, "Lunch?")),
        Thread(platform="matrix", channel=room, root=await ben.say(room, "Tea?")),
    )
    access = MatrixAccess(url or people.homeserver.url, bot.id, bot.login.access_token)

    def has_begun() -> bool:
        return SyncBookmark(folder, bot.id, bot.login.device_id).since is not None

    async with AsyncExitStack() as left:

        async def begin() -> Chat:
            await left.aclose()
            return await left.enter_async_context(MatrixChat(access, folder, _nowhere))

        yield MatrixRoom(anna, bot.id, begin, await begin(), threads, has_begun)


def _nowhere(inviter: str, room: str, direct: bool) -> bool:
    """The bot is where it has to be already."""
    return False

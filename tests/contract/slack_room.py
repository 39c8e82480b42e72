"""A channel of the played Slack with Mika in it: what she reads are messages; files and earlier versions do not count."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from adapters.posting import WriteTurns
from adapters.slack.chat import SlackChat
from adapters.slack.client import SlackAccess
from bot.core.cards import Card
from bot.core.people import Person, Thread
from bot.ports import Chat
from tests.beds.slack import APP_TOKEN, BOT_TOKEN, MIKA, PUBLIC, TEAM, Grants, SlackBed, invariants
from tests.beds.slack.forms import labels
from tests.contract.rooms import Room

PATIENCE = 120.0
Begin = Callable[[], Awaitable[Chat]]
"""The bot ends, if it was there, and begins."""


class SlackRoom(Room):
    says_again = True

    def __init__(self, bed: SlackBed, begin: Begin, chat: Chat, roots: tuple[str, str]) -> None:
        self.bed, self.chat, self._begin = bed, chat, begin
        self.person = Person(platform="slack", id=f"{TEAM}:{MIKA}", name="Mika")
        self.thread, self.other_thread = (
            Thread(platform="slack", workspace=TEAM, channel=PUBLIC, root=root) for root in roots
        )
        self._root = ""

    async def is_heard(self) -> None:
        await self.bed.connected(seconds=PATIENCE)

    async def say(self, text: str) -> None:
        if self._root:
            await self.bed.reply(MIKA, PUBLIC, self._root, text)
        else:
            self._root = (await self.bed.mention(MIKA, PUBLIC, text)).ts

    async def say_in(self, thread: Thread, text: str) -> None:
        await self.bed.reply(MIKA, thread.channel, thread.root, text)

    async def press_first(self) -> None:
        card = [one for one in self.bed.thread(PUBLIC, self._root) if one.by_our_bot][-1]
        await self.bed.click(MIKA, card.ts, labels(card.blocks)[0])

    async def count(self, text: str) -> int:
        said = [one for one in self.bed.messages(PUBLIC) if one.by_our_bot and not one.files]
        return sum(one.reads.count(text) for one in (*said, *self.bed.ephemerals(MIKA)))

    async def count_in(self, thread: Thread, text: str) -> int:
        said = self.bed.thread(thread.channel, thread.root)
        return sum(one.reads.count(text) for one in said if one.by_our_bot and not one.files)

    async def restart(self) -> None:
        self.chat = await self._begin()

    async def leave(self, listening: asyncio.Task[None]) -> None:
        """Not before everything that was said has been taken."""
        await self.bed.all_acked(PATIENCE)
        await super().leave(listening)


@asynccontextmanager
async def slack_room(
    folder: Path, *, turns: WriteTurns | None = None
) -> AsyncGenerator[SlackRoom, None]:
    """The threads are older than the bot; what could not be taken comes again after a second."""
    granted = Grants.of_manifest()
    async with SlackBed(grants=replace(granted, events=frozenset()), ack_seconds=1) as bed:
        roots = (await bed.say(MIKA, PUBLIC, "Lunch?"), await bed.say(MIKA, PUBLIC, "Tea?"))
        bed.world.grants = granted
        access = SlackAccess(bot_token=BOT_TOKEN, app_token=APP_TOKEN, api_url=bed.api_url)
        opened: list[str] = []
        async with AsyncExitStack() as left:

            async def begin() -> Chat:
                await left.aclose()
                return await left.enter_async_context(_Noting(access, folder, opened, turns))

            yield SlackRoom(bed, begin, await begin(), (roots[0].ts, roots[1].ts))
        # what the bot said itself was told to nobody, where nobody listened
        deaf = not bed.sockets.opened
        invariants.check(bed, roots=opened, unacked=deaf)


class _Noting(SlackChat):
    """Notes which threads were opened: nowhere else may the bot write outside of threads."""

    def __init__(
        self, access: SlackAccess, folder: Path, opened: list[str], turns: WriteTurns | None
    ) -> None:
        here = [f"{TEAM}:{PUBLIC}"]
        super().__init__(access, folder, here, shared=here, turns=turns)
        self._opened = opened

    async def open(self, thread: Thread, card: Card) -> Thread:
        begun = await super().open(thread, card)
        self._opened.append(begun.root)
        return begun

"""A channel of the played Slack with Mika in it: what she reads are messages; files and earlier versions do not count."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from adapters.chat.slack import SlackAccess, SlackChat
from bot.domain.people import Person, Thread
from tests.beds.slack import APP_TOKEN, BOT_TOKEN, MIKA, PUBLIC, TEAM, Grants, SlackBed, invariants
from tests.beds.slack.forms import labels
from tests.contract.rooms import Room

PATIENCE = 30.0


class SlackRoom(Room):
    says_again = True

    def __init__(self, bed: SlackBed, chat: SlackChat, roots: tuple[str, str]) -> None:
        self.bed, self.chat = bed, chat
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

    async def press_first(self) -> None:
        card = [one for one in self.bed.thread(PUBLIC, self._root) if one.by_our_bot][-1]
        await self.bed.click(MIKA, card.ts, labels(card.blocks)[0])

    async def count(self, text: str) -> int:
        said = [one for one in self.bed.messages(PUBLIC) if one.by_our_bot and not one.files]
        return sum(one.reads.count(text) for one in (*said, *self.bed.ephemerals(MIKA)))

    async def leave(self, listening: asyncio.Task[None]) -> None:
        """Not before everything that was said has been taken."""
        await self.bed.all_acked(PATIENCE)
        await super().leave(listening)


@asynccontextmanager
async def slack_room(folder: Path) -> AsyncGenerator[SlackRoom, None]:
    """The threads are older than the bot; what could not be taken comes again after a second."""
    granted = Grants.of_manifest()
    async with SlackBed(grants=replace(granted, events=frozenset()), ack_seconds=1) as bed:
        roots = (await bed.say(MIKA, PUBLIC, "Lunch?"), await bed.say(MIKA, PUBLIC, "Tea?"))
        bed.world.grants = granted
        access = SlackAccess(bot_token=BOT_TOKEN, app_token=APP_TOKEN, api_url=bed.api_url)
        async with SlackChat(access, folder, [f"{TEAM}:{PUBLIC}"]) as chat:
            yield SlackRoom(bed, chat, (roots[0].ts, roots[1].ts))
        # what the bot said itself was told to nobody, where nobody listened
        deaf = not bed.sockets.opened
        invariants.check(bed, unacked=deaf)

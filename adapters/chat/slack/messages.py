"""Single messages of a card in its thread: posted, edited, deleted. What may have been done already is looked for, never redone."""

from __future__ import annotations

import logging
from collections.abc import Collection

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.calling import Answer, Denied, Lost, asked
from adapters.chat.slack.drawing.limits import Block
from adapters.chat.slack.marks import Found, find_root, found_in, mark, read_thread
from adapters.chat.slack.sending import Drawing, sent
from adapters.posting import Placed
from bot.domain.people import Thread

log = logging.getLogger("bot.slack")

_NOT_TO_BE_EDITED = frozenset({"cant_update_message", "edit_window_closed", "message_not_found"})
_NOT_TO_BE_DELETED = frozenset({"cant_delete_message", "compliance_exports_prevent_deletion"})


class Messages:
    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client

    async def put(
        self,
        placed: Placed,
        part: int,
        drawing: Drawing,
        ts: str = "",
        others: Collection[str] = (),
    ) -> str:
        """Edited where it stands, else posted. `others` are messages of the card that this one is not. Its ts."""
        if ts:
            try:
                await self._edit(placed, part, drawing, ts)
            except Denied as refusal:
                if refusal.code not in _NOT_TO_BE_EDITED:
                    raise
            else:
                return ts
        return await self._post(placed, part, drawing, {*others, ts})

    async def begin(self, placed: Placed, drawing: Drawing) -> str:
        """Posted into the channel itself: a thread hangs from it. Its ts."""
        try:
            return await self._say(placed, 0, drawing)
        except Lost:
            if there := await self.find_root(placed):
                return there
            raise

    async def find_root(self, placed: Placed) -> str:
        """The one that an earlier try has posted into the channel itself; empty: there is none."""
        return await find_root(self._client, placed)

    async def find(self, placed: Placed) -> list[Found]:
        """All messages of the card that stand in the thread, the oldest first."""
        return found_in(await read_thread(self._client, placed.thread), placed)

    async def delete(self, thread: Thread, ts: str) -> None:
        """One that is gone, or must stay, is let be."""
        try:
            await asked(
                "deleting a message",
                lambda: self._client.chat_delete(channel=thread.channel, ts=ts),
            )
        except Denied as refusal:
            if refusal.code in _NOT_TO_BE_DELETED:
                log.warning("a message stays", extra={"data": {"ts": ts, "why": refusal.code}})
            elif refusal.code != "message_not_found":
                raise

    async def whisper(self, thread: Thread, user: str, drawing: Drawing) -> None:
        """For one person's eyes. It cannot be found again: after a lost answer it may be seen twice."""

        async def send(text: str, blocks: list[Block]) -> Answer:
            return await asked(
                "telling one person",
                lambda: self._client.chat_postEphemeral(
                    channel=thread.channel,
                    user=user,
                    thread_ts=thread.root or None,
                    text=text,
                    blocks=blocks,
                ),
            )

        for part in range(len(drawing)):
            await sent(drawing, part, send)

    async def _post(
        self, placed: Placed, part: int, drawing: Drawing, others: Collection[str]
    ) -> str:
        try:
            return await self._say(placed, part, drawing)
        except Lost:
            there = await self._of_this_revision(placed, part)
            mine = [ts for ts in there if ts not in others]
            if not mine:
                raise
            return mine[-1]

    async def _say(self, placed: Placed, part: int, drawing: Drawing) -> str:
        """Into its thread; where that has no root, into the channel itself."""

        async def send(text: str, blocks: list[Block]) -> Answer:
            return await asked(
                "posting a message",
                lambda: self._client.chat_postMessage(
                    channel=placed.thread.channel,
                    thread_ts=placed.thread.root or None,
                    text=text,
                    blocks=blocks,
                    metadata=mark(placed, part),
                    unfurl_links=False,
                    unfurl_media=False,
                ),
            )

        answer = await sent(drawing, part, send)
        return str(answer["ts"])

    async def _edit(self, placed: Placed, part: int, drawing: Drawing, ts: str) -> None:
        async def send(text: str, blocks: list[Block]) -> Answer:
            return await asked(
                "editing a message",
                lambda: self._client.chat_update(
                    channel=placed.thread.channel,
                    ts=ts,
                    text=text,
                    blocks=blocks,
                    metadata=mark(placed, part),
                ),
            )

        try:
            await sent(drawing, part, send)
        except Lost:
            if ts not in await self._of_this_revision(placed, part):
                raise

    async def _of_this_revision(self, placed: Placed, part: int) -> list[str]:
        found = await self.find(placed)
        return [one.ts for one in found if (one.part, one.revision) == (part, placed.revision)]

"""A document's file, for keeping and searching, beside the messages that show it. Without it the document is whole, too."""

from __future__ import annotations

import logging

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.calling import Lost, asked
from adapters.chat.slack.marks import read_thread
from adapters.posting import Ledger, Placed
from bot.domain.cards import DocumentCard
from bot.domain.people import Thread
from bot.errors import PortError, Refused, Unavailable

log = logging.getLogger("bot.slack")


class Documents:
    def __init__(self, client: AsyncWebClient, ledger: Ledger) -> None:
        self._client = client
        self._ledger = ledger

    async def attach(self, thread: Thread, card: DocumentCard) -> str:
        """Put the file into the thread, once. Returns why it never will be there; what fails today is tried again with the card."""
        if not card.text:
            return ""
        try:
            # an entry of its own: the file is no message of the card
            file = card.model_copy(update={"key": f"file:{card.key}"})
            placed = self._ledger.wanted(thread, file)
            if not placed.standing:
                await self._share(placed, card)
        except PortError as problem:
            log.warning("no file", extra={"data": {"card": card.key, "why": problem.reason}})
            return problem.reason if isinstance(problem, Refused) else ""
        return ""

    async def _share(self, placed: Placed, card: DocumentCard) -> None:
        for file in placed.messages:
            if await self._stands(placed.thread, file):
                self._ledger.posted(placed, file)
                return
        file = await self._upload(card.file, card.text.encode())
        # written down before it can be seen: an answer that is lost leaves something to look for
        placed = self._ledger.begun(placed, file)
        title = (
            f"{card.spec_id} {card.file}, revision {card.revision}" if card.document else card.title
        )
        try:
            await self._publish(placed.thread, file, title)
        except Lost:
            if not await self._stands(placed.thread, file):
                raise
        self._ledger.posted(placed, file)

    async def _upload(self, name: str, content: bytes) -> str:
        """Bring it to Slack. Nobody sees it yet. Its id."""
        place = await asked(
            "bringing a file",
            lambda: self._client.files_getUploadURLExternal(filename=name, length=len(content)),
        )
        try:
            async with aiohttp.request(
                "POST",
                place["upload_url"],
                data=content,
                proxy=self._client.proxy,
                ssl=self._client.ssl or True,
                timeout=aiohttp.ClientTimeout(total=self._client.timeout),
            ) as answer:
                answer.raise_for_status()
        except aiohttp.ClientResponseError as error:
            raise Unavailable(f"Slack did not take a file: HTTP {error.status}.") from error
        except (aiohttp.ClientError, OSError) as error:
            raise Unavailable(f"Slack did not take a file: {type(error).__name__}.") from error
        return str(place["file_id"])

    async def _publish(self, thread: Thread, file: str, title: str) -> None:
        await asked(
            "showing a file",
            lambda: self._client.files_completeUploadExternal(
                files=[{"id": file, "title": title}],
                channel_id=thread.channel,
                thread_ts=thread.root,
            ),
        )

    async def _stands(self, thread: Thread, file: str) -> bool:
        messages = await read_thread(self._client, thread)
        return any(file == one.get("id") for said in messages for one in said.get("files") or [])

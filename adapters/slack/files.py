"""Downloads the files attached to messages, and uploads documents into threads."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.posting import PlacedCard, PostingLedger
from adapters.slack.client import AnswerLost, call_slack
from adapters.slack.deliveries import (
    MAX_FILE_BYTES,
    NO_TEXT,
    TOO_LARGE,
    Delivery,
    OfferedFile,
    Talk,
    decoded_text,
)
from adapters.slack.messages import read_thread
from bot.core.cards import DocumentCard
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.events import Attached
from bot.core.people import Person, Thread
from bot.ports import MayAsk, nobody_may_ask

# Text files attached to a message are read only from Slack's own file host, within limits of size and time; otherwise a
# reason is given. The token is sent nowhere else: not to a host that an event names, and not along a redirect.

log = logging.getLogger("bot.slack")

FILE_HOST = "https://files.slack.com"
FILES_TIMEOUT = 2.0
"""Seconds for all files of a message. Slack waits three seconds for an acknowledgement."""
_HOST_OF_URL = re.compile(r"\Ahttps?://[^/?#]+")
_FILE_PATH = re.compile(r"/files-pri/[A-Za-z0-9_-]+/(?:download/)?[^/\\\s]+", re.ASCII)
_DOWNLOAD_FAILED = "Slack did not hand it over."
_NOT_ALLOWED = "Slack does not hand it over: the app needs the scope files:read."


class SlackFiles:
    """Reads attached files. `knows`: whether the bot has posted in a thread."""

    def __init__(
        self,
        client: AsyncWebClient,
        knows: Callable[[Thread], bool],
        *,
        patience: float = FILES_TIMEOUT,
    ) -> None:
        self._client = client
        self._knows = knows
        self._patience = patience
        self._homes = (FILE_HOST, *_HOST_OF_URL.findall(client.base_url))

    async def fetch(self, said: Delivery) -> tuple[Attached, ...]:
        """Return the files of a message addressed to the bot. Files of other conversations are not read."""
        what = said.what
        if not isinstance(what, Talk) or not (what.mention or self._knows(said.thread)):
            return ()
        return await self.read(what.files)

    async def read(self, offered: Sequence[OfferedFile]) -> tuple[Attached, ...]:
        """Return each file with its text, or with the reason why it could not be read.

        It does not raise: the message itself matters more.
        """
        return tuple(await asyncio.gather(*map(self._read, offered)))

    async def _read(self, file: OfferedFile) -> Attached:
        if file.problem:
            return Attached(name=file.name, problem=file.problem)
        try:
            async with asyncio.timeout(self._patience):
                text, problem = await self._text(file)
        except TimeoutError:
            text, problem = "", "Slack did not hand it over in time."
        except (aiohttp.ClientError, OSError) as error:
            # only the type: the full error would show the address
            log.warning("a file was not read", extra={"data": {"why": type(error).__name__}})
            text, problem = "", _DOWNLOAD_FAILED
        return Attached(name=file.name, text=text, problem=problem)

    async def _text(self, file: OfferedFile) -> tuple[str, str]:
        """Return the text of the file and the problem; one of them is empty."""
        session = self._client.session
        if session is None or not self._is_kept_by_slack(file.url):
            return "", "It is not kept by Slack itself."
        async with session.get(
            file.url,
            headers={"Authorization": f"Bearer {self._client.token}"},
            allow_redirects=False,
            proxy=self._client.proxy,
            ssl=self._client.ssl or True,
        ) as answer:
            if problem := _refusal(answer, file):
                return "", problem
            content = await _read_at_most(answer.content, MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            return "", TOO_LARGE
        text = decoded_text(content)
        return ("", NO_TEXT) if text is None else (text, "")

    def _is_kept_by_slack(self, url: str) -> bool:
        # The prefix ends with a slash, so the host is unambiguous however the rest is parsed; and only file paths are
        # requested.
        return any(
            url.startswith(home) and _FILE_PATH.fullmatch(url.removeprefix(home))
            for home in self._homes
        )


def _refusal(answer: aiohttp.ClientResponse, file: OfferedFile) -> str:
    # If the app may not read files, Slack redirects to its login page or shows it.
    if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return _NOT_ALLOWED
    if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
        return _NOT_ALLOWED
    if answer.status != HTTPStatus.OK:
        return _DOWNLOAD_FAILED
    return _NOT_ALLOWED if answer.content_type == "text/html" != file.kind else ""


async def _read_at_most(stream: aiohttp.StreamReader, most: int) -> bytes:
    content = bytearray()
    while len(content) < most and (more := await stream.read(most - len(content))):
        content += more
    return bytes(content)


# Attachments of a message. They are fetched only for people who may request something, because the gate, which refuses
# strangers, runs later.

FetchAttachments = Callable[[Delivery], Awaitable[Sequence[Attached]]]


@dataclass(frozen=True)
class Attachments:
    brings: Sequence[FetchAttachments] = ()
    may_request: MayAsk = nobody_may_ask

    async def fetch_all(self, delivery: Delivery, by: Person) -> tuple[Attached, ...]:
        """Return the attachments of a message; empty if the person may not request anything.

        The gate runs only after this.
        """
        if not self.may_request(delivery.thread, by):
            return ()
        return tuple([file for bring in self.brings for file in await bring(delivery)])


# A document as a file, for keeping and searching, beside the messages that show it. The messages are complete without
# the file.


class DocumentFiles:
    def __init__(self, client: AsyncWebClient, ledger: PostingLedger) -> None:
        self._client = client
        self._ledger = ledger

    async def attach(self, thread: Thread, card: DocumentCard) -> str:
        """Upload the file to the thread, once.

        Return why it can never be there, or an empty string; a temporary failure is retried with the card.
        """
        if not card.text:
            return ""
        try:
            # an entry of its own: the file is not one of the card's messages
            file = card.model_copy(update={"key": f"file:{card.key}"})
            placed = self._ledger.record_wanted(thread, file)
            if not placed.standing:
                await self._share(placed, card)
        except PortError as problem:
            log.warning("no file", extra={"data": {"card": card.key, "why": problem.reason}})
            return problem.reason if isinstance(problem, Refused) else ""
        return ""

    async def _share(self, placed: PlacedCard, card: DocumentCard) -> None:
        for file in placed.messages:
            if await self._is_posted(placed.thread, file):
                self._ledger.record_posted(placed, file)
                return
        file = await self._upload(card.file, card.text.encode())
        # recorded before it becomes visible, so that after a lost answer it can be looked for
        placed = self._ledger.record_partial(placed, file)
        title = (
            f"{card.spec_id} {card.file}, revision {card.revision}" if card.document else card.title
        )
        try:
            await self._publish(placed.thread, file, title)
        except AnswerLost:
            if not await self._is_posted(placed.thread, file):
                raise
        self._ledger.record_posted(placed, file)

    async def _upload(self, name: str, content: bytes) -> str:
        """Upload the file without showing it anywhere, and return its id."""
        place = await call_slack(
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
        await call_slack(
            "showing a file",
            lambda: self._client.files_completeUploadExternal(
                files=[{"id": file, "title": title}],
                channel_id=thread.channel,
                thread_ts=thread.root,
            ),
        )

    async def _is_posted(self, thread: Thread, file: str) -> bool:
        messages = await read_thread(self._client, thread)
        return any(file == one.get("id") for said in messages for one in said.get("files") or [])

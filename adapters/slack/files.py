"""Files that come with messages are downloaded, and documents are uploaded into their threads."""

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
    MOST_BYTES,
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

# Text files that come with a message: read from Slack's own file host alone, within bounds of
# size and time; else a reason why not. The token goes nowhere else: not to a host that an event
# names, and along no redirect.

log = logging.getLogger("bot.slack")

FILE_HOST = "https://files.slack.com"
FILE_PATIENCE = 2.0
"""Seconds for the files of a message: Slack waits three for a word that it was taken."""
_HOST_OF_URL = re.compile(r"\Ahttps?://[^/?#]+")
_FILE_PATH = re.compile(r"/files-pri/[A-Za-z0-9_-]+/(?:download/)?[^/\\\s]+", re.ASCII)
_NOT_HANDED_OVER = "Slack did not hand it over."
_NOT_ALLOWED = "Slack does not hand it over: the app needs the scope files:read."


class SlackFiles:
    """`knows`: whether a thread has anything of the bot's in it."""

    def __init__(
        self,
        client: AsyncWebClient,
        knows: Callable[[Thread], bool],
        *,
        patience: float = FILE_PATIENCE,
    ) -> None:
        self._client = client
        self._knows = knows
        self._patience = patience
        self._homes = (FILE_HOST, *_HOST_OF_URL.findall(client.base_url))

    async def beside(self, said: Delivery) -> tuple[Attached, ...]:
        """Of what is said to the bot. What people show each other elsewhere is not looked into."""
        what = said.what
        if not isinstance(what, Talk) or not (what.mention or self._knows(said.thread)):
            return ()
        return await self.read(what.files)

    async def read(self, offered: Sequence[OfferedFile]) -> tuple[Attached, ...]:
        """Each with its text, or with what kept it from being read. No error: the words beside them count more."""
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
            # by its type only: the whole would show the address
            log.warning("a file was not read", extra={"data": {"why": type(error).__name__}})
            text, problem = "", _NOT_HANDED_OVER
        return Attached(name=file.name, text=text, problem=problem)

    async def _text(self, file: OfferedFile) -> tuple[str, str]:
        """What is in it; or why not."""
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
            content = await _read_at_most(answer.content, MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            return "", TOO_LARGE
        text = decoded_text(content)
        return ("", NO_TEXT) if text is None else (text, "")

    def _is_kept_by_slack(self, url: str) -> bool:
        """With the slash behind it the host is told beyond doubt, however the rest is read; and only a file is asked for."""
        return any(
            url.startswith(home) and _FILE_PATH.fullmatch(url.removeprefix(home))
            for home in self._homes
        )


def _refusal(answer: aiohttp.ClientResponse, file: OfferedFile) -> str:
    """Where the app may not read files, Slack leads to its login page, or shows it."""
    if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return _NOT_ALLOWED
    if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
        return _NOT_ALLOWED
    if answer.status != HTTPStatus.OK:
        return _NOT_HANDED_OVER
    return _NOT_ALLOWED if answer.content_type == "text/html" != file.kind else ""


async def _read_at_most(stream: aiohttp.StreamReader, most: int) -> bytes:
    content = bytearray()
    while len(content) < most and (more := await stream.read(most - len(content))):
        content += more
    return bytes(content)


# What comes with somebody's words. It is fetched only for those who may ask for something: the
# gate, which refuses strangers, comes later.

FetchAttachments = Callable[[Delivery], Awaitable[Sequence[Attached]]]


@dataclass(frozen=True)
class Attachments:
    brings: Sequence[FetchAttachments] = ()
    may_ask: MayAsk = nobody_may_ask

    async def beside(self, delivery: Delivery, by: Person) -> tuple[Attached, ...]:
        """The gate, which says no to a stranger, comes after this."""
        if not self.may_ask(delivery.thread, by):
            return ()
        return tuple([file for bring in self.brings for file in await bring(delivery)])


# A document as a file, for keeping and searching, beside the messages that show it. Without it
# the document is whole, too.


class DocumentFiles:
    def __init__(self, client: AsyncWebClient, ledger: PostingLedger) -> None:
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

    async def _share(self, placed: PlacedCard, card: DocumentCard) -> None:
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
        except AnswerLost:
            if not await self._stands(placed.thread, file):
                raise
        self._ledger.posted(placed, file)

    async def _upload(self, name: str, content: bytes) -> str:
        """Bring it to Slack. Nobody sees it yet. Its id."""
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

    async def _stands(self, thread: Thread, file: str) -> bool:
        messages = await read_thread(self._client, thread)
        return any(file == one.get("id") for said in messages for one in said.get("files") or [])

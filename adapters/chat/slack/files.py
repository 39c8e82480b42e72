"""Text files that come with a message: read from Slack's own file host alone, within bounds of size and time; else a word why not.

The token goes nowhere else: not to a host an event may name, and along no redirect.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from http import HTTPStatus

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.delivery import Delivery, Talk
from adapters.chat.slack.offered import MOST_BYTES, NO_TEXT, TOO_LARGE, Offered, as_text
from bot.domain.events import Attached
from bot.domain.people import Thread

log = logging.getLogger("bot.slack")

FILE_HOST = "https://files.slack.com"
PATIENCE = 2.0
"""Seconds for the files of a message: Slack waits three for a word that it was taken."""
_HOST = re.compile(r"\Ahttps?://[^/?#]+")
_PLACE = re.compile(r"/files-pri/[A-Za-z0-9_-]+/(?:download/)?[^/\\\s]+", re.ASCII)
_NOT_HANDED_OVER = "Slack did not hand it over."
_NOT_ALLOWED = "Slack does not hand it over: the app needs the scope files:read."


class Files:
    """`knows`: whether a thread has anything of the bot's in it."""

    def __init__(
        self,
        client: AsyncWebClient,
        knows: Callable[[Thread], bool],
        *,
        patience: float = PATIENCE,
    ) -> None:
        self._client = client
        self._knows = knows
        self._patience = patience
        self._homes = (FILE_HOST, *_HOST.findall(client.base_url))

    async def beside(self, said: Delivery) -> tuple[Attached, ...]:
        """Of what is said to the bot. What people show each other elsewhere is not looked into."""
        what = said.what
        if not isinstance(what, Talk) or not (what.mention or self._knows(said.thread)):
            return ()
        return await self.read(what.files)

    async def read(self, offered: Sequence[Offered]) -> tuple[Attached, ...]:
        """Each with its text, or with what kept it from being read. No error: the words beside them count more."""
        return tuple(await asyncio.gather(*map(self._read, offered)))

    async def _read(self, file: Offered) -> Attached:
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

    async def _text(self, file: Offered) -> tuple[str, str]:
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
            content = await _at_most(answer.content, MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            return "", TOO_LARGE
        text = as_text(content)
        return ("", NO_TEXT) if text is None else (text, "")

    def _is_kept_by_slack(self, url: str) -> bool:
        """With the slash behind it the host is told beyond doubt, however the rest is read; and only a file is asked for."""
        return any(
            url.startswith(home) and _PLACE.fullmatch(url.removeprefix(home))
            for home in self._homes
        )


def _refusal(answer: aiohttp.ClientResponse, file: Offered) -> str:
    """Where the app may not read files, Slack leads to its login page, or shows it."""
    if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return _NOT_ALLOWED
    if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
        return _NOT_ALLOWED
    if answer.status != HTTPStatus.OK:
        return _NOT_HANDED_OVER
    return _NOT_ALLOWED if answer.content_type == "text/html" != file.kind else ""


async def _at_most(stream: aiohttp.StreamReader, most: int) -> bytes:
    content = bytearray()
    while len(content) < most and (more := await stream.read(most - len(content))):
        content += more
    return bytes(content)

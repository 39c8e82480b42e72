"""What was said while nobody listened: read from the history and heard like everything else, under the same ids."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from time import time
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.chat.slack.calling import asked
from adapters.chat.slack.delivery import Body, is_direct, part, word
from adapters.chat.slack.heard import message_body
from adapters.chat.slack.preflight import Identity
from adapters.chat.slack.seen import Seen
from bot.domain.people import Thread
from bot.errors import PortError, Refused, Unavailable

log = logging.getLogger("bot.slack")
DAY = 24 * 3600.0
"""Nothing older is read: whoever waited that long has asked again."""
PAGES = 5
THREADS = 40
"""So many of a channel's threads with cards are looked into."""
Page = Callable[[str], Awaitable[AsyncSlackResponse]]


class Missed:
    """`take` hears a message as if it came now; `threads` are those with cards, the one that changed last at the end.
    `direct`: whether people may talk to the bot alone, too."""

    def __init__(
        self,
        client: AsyncWebClient,
        us: Identity,
        seen: Seen,
        take: Callable[[Body], Awaitable[object]],
        *,
        channels: Iterable[str],
        direct: bool = True,
        threads: Callable[[], Sequence[Thread]],
        wall: Callable[[], float] = time,
        every: float = 10.0,
        page: int = 200,
    ) -> None:
        self._client = client
        self._us = us
        self._seen = seen
        self._take = take
        self._channels = tuple(channels)
        self._direct = direct
        self._threads = threads
        self._wall = wall
        self._every = every
        self._page = page
        self._woken = asyncio.Event()

    def since(self, when: float) -> None:
        """From then on something may have been missed."""
        self._seen.rewind(when)
        self._woken.set()

    async def run(self) -> None:
        """Catch up now, after every gap, and after every word that could not be taken; until cancelled."""
        theirs = [one.channel for one in self._threads() if one.workspace == self._us.team]
        self._seen.begin((*self._channels, *theirs), self._wall())
        try:
            while True:
                self._woken.clear()
                await self.catch_up()
                self._save()
                await self._pause()
        finally:
            self._save()

    async def catch_up(self) -> None:
        """What cannot be read or taken now is tried again the next time."""
        for channel in self._seen.behind:
            try:
                if self._counts(channel):
                    await self._hear_again(channel)
            except Refused as refused:
                log.warning("a channel cannot be read", extra=_data(channel, refused.reason))
            except Unavailable as problem:
                log.warning("not caught up yet", extra=_data(channel, problem.reason))
                return
            self._seen.caught_up(channel)

    def _counts(self, channel: str) -> bool:
        """Anybody can bring the bot into a channel: where nobody may ask for anything, reading again would tell nothing."""
        return channel in self._channels or (self._direct and is_direct(channel))

    async def _hear_again(self, channel: str) -> None:
        after = max(self._seen.mark(channel) or 0.0, self._wall() - DAY)
        found: dict[str, Body] = {}
        roots = {one.root: None for one in self._in(channel)}
        for message in await self._history(channel, after):
            found[word(message, "ts")] = message
            if _time(word(message, "latest_reply")) > after:
                roots[word(message, "ts")] = None
        for root in roots:
            for reply in await self._replies(channel, root, after):
                found.setdefault(word(reply, "ts"), reply)
        for ts in sorted((ts for ts in found if _time(ts) > after), key=_time):
            await self._take_one(message_body(found[ts], channel, self._us), channel, ts)

    async def _take_one(self, body: Body, channel: str, ts: str) -> None:
        try:
            await self._take(body)
        except PortError:
            raise
        except Exception:
            # whatever is wrong with it, it would be so at every start
            log.exception("a word was let go", extra={"data": {"channel": channel, "ts": ts}})

    def _in(self, channel: str) -> list[Thread]:
        theirs = [
            one
            for one in self._threads()
            if one.root and (one.workspace, one.channel) == (self._us.team, channel)
        ]
        return theirs[-THREADS:]

    async def _history(self, channel: str, after: float) -> list[Body]:
        """The newest first, and at least a page: threads begun earlier tell there that they go on."""
        oldest = _stamp(self._wall() - DAY)

        def page(cursor: str) -> Awaitable[AsyncSlackResponse]:
            return self._client.conversations_history(
                channel=channel, oldest=oldest, limit=self._page, cursor=cursor or None
            )

        return await _read(f"reading {channel}", page, until=after)

    async def _replies(self, channel: str, root: str, after: float) -> list[Body]:
        def page(cursor: str) -> Awaitable[AsyncSlackResponse]:
            return self._client.conversations_replies(
                channel=channel,
                ts=root,
                oldest=_stamp(after),
                limit=self._page,
                cursor=cursor or None,
            )

        try:
            return await _read(f"reading {channel} {root}", page)
        except Refused as refused:
            # its first message may have been deleted
            log.warning("a thread cannot be read", extra=_data(channel, refused.reason))
            return []

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self._every):
                await self._woken.wait()
        except TimeoutError:
            return

    def _save(self) -> None:
        try:
            self._seen.save()
        except Unavailable as problem:
            log.warning("marks not saved", extra={"data": {"reason": problem.reason}})


async def _read(what: str, page: Page, until: float = 0.0) -> list[Body]:
    """Page after page, until one reaches back far enough; not more than some."""
    found: list[Body] = []
    cursor = ""
    for _ in range(PAGES):
        answer = await asked(what, partial(page, cursor))
        found += answer.get("messages") or []
        cursor = word(part(answer, "response_metadata"), "next_cursor")
        if not cursor or (found and _time(word(found[-1], "ts")) <= until):
            return found
    log.warning("more was said than is read again", extra={"data": {"what": what}})
    return found


def _time(ts: str) -> float:
    return float(ts or 0)


def _stamp(when: float) -> str:
    return f"{when:.6f}"


def _data(channel: str, reason: str) -> dict[str, Any]:
    return {"data": {"channel": channel, "reason": reason}}

"""Reads conversations again: what was said while the bot was away, and what people said in a thread before they
mentioned the bot.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from time import time
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.access import Identity, WorkspaceMembers
from adapters.slack.blocks.text import plain_message
from adapters.slack.client import call_slack
from adapters.slack.connection import ChannelMarks
from adapters.slack.deliveries import (
    Delivery,
    Payload,
    Talk,
    get_object,
    get_text,
    is_direct_message,
)
from adapters.slack.incoming import as_message_event
from adapters.slack.payloads import home_workspace, is_from_person
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.events import Attached
from bot.core.people import Thread
from bot.core.text import cut

# Messages sent while the bot was not listening: read from the history and processed like live ones, under the same ids.

log = logging.getLogger("bot.slack")
MAX_AGE_SECONDS = 24 * 3600.0
"""Older messages are not read: whoever waited that long has asked again."""
MOST_PAGES = 5
MAX_THREADS = 40
"""The most threads with cards that are read per channel."""
FetchPage = Callable[[str], Awaitable[AsyncSlackResponse]]


class MissedMessages:
    """Reads missed messages.

    `take` processes a message like a live one; `threads`: those with cards, the last changed one at the end; `direct`:
    whether direct messages are allowed, too.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        us: Identity,
        seen: ChannelMarks,
        take: Callable[[Payload], Awaitable[object]],
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
        self._wakeup = asyncio.Event()

    def note_gap(self, when: float) -> None:
        """Record that messages after `when` may have been missed, and start catching up."""
        self._seen.rewind(when)
        self._wakeup.set()

    async def run(self) -> None:
        """Catch up at the start, after every gap and after every message that could not be accepted, until cancelled."""
        theirs = [one.channel for one in self._threads() if one.workspace == self._us.team]
        self._seen.begin((*self._channels, *theirs), self._wall())
        try:
            while True:
                self._wakeup.clear()
                await self.catch_up()
                self._save()
                await self._pause()
        finally:
            self._save()

    async def catch_up(self) -> None:
        """Read and process missed messages. What fails now is retried the next time."""
        for channel in self._seen.channels_behind:
            try:
                if self._is_relevant(channel):
                    await self._reread(channel)
            except Refused as refused:
                log.warning("a channel cannot be read", extra=_about(channel, refused.reason))
            except Unavailable as problem:
                log.warning("not caught up yet", extra=_about(channel, problem.reason))
                return
            self._seen.caught_up(channel)

    def _is_relevant(self, channel: str) -> bool:
        # Anybody can invite the bot into a channel; where nobody may request anything there is nothing to read again.
        return channel in self._channels or (self._direct and is_direct_message(channel))

    async def _reread(self, channel: str) -> None:
        after = max(self._seen.mark(channel) or 0.0, self._wall() - MAX_AGE_SECONDS)
        found: dict[str, Payload] = {}
        roots = {one.root: None for one in self._threads_in(channel)}
        for message in await self._history(channel, after):
            found[get_text(message, "ts")] = message
            if _seconds_of(get_text(message, "latest_reply")) > after:
                roots[get_text(message, "ts")] = None
        for root in roots:
            for reply in await self._replies(channel, root, after):
                found.setdefault(get_text(reply, "ts"), reply)
        for ts in sorted((ts for ts in found if _seconds_of(ts) > after), key=_seconds_of):
            await self._take_one(as_message_event(found[ts], channel, self._us), channel, ts)

    async def _take_one(self, body: Payload, channel: str, ts: str) -> None:
        try:
            await self._take(body)
        except PortError:
            raise
        except Exception:
            # whatever is wrong with the message would fail again at every start
            log.exception("a word was let go", extra={"data": {"channel": channel, "ts": ts}})

    def _threads_in(self, channel: str) -> list[Thread]:
        theirs = [
            one
            for one in self._threads()
            if one.root and (one.workspace, one.channel) == (self._us.team, channel)
        ]
        return theirs[-MAX_THREADS:]

    async def _history(self, channel: str, after: float) -> list[Payload]:
        # Newest first, and at least one page: only the first messages of older threads show that those threads have new
        # replies.
        oldest = _stamp(self._wall() - MAX_AGE_SECONDS)

        def page(cursor: str) -> Awaitable[AsyncSlackResponse]:
            return self._client.conversations_history(
                channel=channel, oldest=oldest, limit=self._page, cursor=cursor or None
            )

        return await _read_pages(f"reading {channel}", page, until=after)

    async def _replies(self, channel: str, root: str, after: float) -> list[Payload]:
        def page(cursor: str) -> Awaitable[AsyncSlackResponse]:
            return self._client.conversations_replies(
                channel=channel,
                ts=root,
                oldest=_stamp(after),
                limit=self._page,
                cursor=cursor or None,
            )

        try:
            return await _read_pages(f"reading {channel} {root}", page)
        except Refused as refused:
            # its first message may have been deleted
            log.warning("a thread cannot be read", extra=_about(channel, refused.reason))
            return []

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self._every):
                await self._wakeup.wait()
        except TimeoutError:
            return

    def _save(self) -> None:
        try:
            self._seen.save()
        except Unavailable as problem:
            log.warning("marks not saved", extra={"data": {"reason": problem.reason}})


async def _read_pages(what: str, page: FetchPage, until: float = 0.0) -> list[Payload]:
    """Read pages until one reaches back to `until`, at most MOST_PAGES."""
    found: list[Payload] = []
    cursor = ""
    for _ in range(MOST_PAGES):
        answer = await call_slack(what, partial(page, cursor))
        found += answer.get("messages") or []
        cursor = get_text(get_object(answer, "response_metadata"), "next_cursor")
        if not cursor or (found and _seconds_of(get_text(found[-1], "ts")) <= until):
            return found
    log.warning("more was said than is read again", extra={"data": {"what": what}})
    return found


def _seconds_of(ts: str) -> float:
    return float(ts or 0)


def _stamp(when: float) -> str:
    return f"{when:.6f}"


def _about(channel: str, reason: str) -> dict[str, Any]:
    return {"data": {"channel": channel, "reason": reason}}


# What people said in a thread before they mentioned the bot: read once, only messages of members of the workspace, and
# passed on as a file.

EARLIER_NAME = "earlier in this thread"
MAX_EARLIER_MESSAGES = 20
"""The most earlier messages; the newest are kept."""
EARLIER_TIMEOUT = 2.0
"""Seconds. A request is not delayed longer for the sake of earlier messages."""
_EARLIER_PAGES, _EARLIER_PAGE = 5, 200
_LONGEST_MESSAGE, _LONGEST_TOGETHER = 2_000, 16_000
_REMEMBERED = 100
_NOT_READ = "Slack did not let me read what was said here before. Please repeat what matters."


class EarlierConversation:
    """Reads the earlier messages of a thread.

    `knows`: whether the bot already takes part in a thread and hears everything there.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        us: Identity,
        people: WorkspaceMembers,
        knows: Callable[[Thread], bool],
        *,
        patience: float = EARLIER_TIMEOUT,
    ) -> None:
        self._client = client
        self._us = us
        self._people = people
        self._knows = knows
        self._patience = patience
        self._read: dict[str, Attached | None] = {}
        """By delivery id: Slack delivers a mention twice."""

    async def fetch(self, delivery: Delivery) -> tuple[Attached, ...]:
        """Return the earlier messages as a file; empty if there are none or the bot already takes part in the thread."""
        talk, thread = delivery.what, delivery.thread
        if not (isinstance(talk, Talk) and talk.mention and talk.ts):
            return ()
        if talk.ts == thread.root or (delivery.id not in self._read and self._knows(thread)):
            return ()
        if delivery.id not in self._read:
            self._read[delivery.id] = await self._attached(thread, talk.ts)
            while len(self._read) > _REMEMBERED:
                del self._read[next(iter(self._read))]
        found = self._read[delivery.id]
        return (found,) if found else ()

    async def _attached(self, thread: Thread, ts: str) -> Attached | None:
        try:
            async with asyncio.timeout(self._patience):
                lines = await self._lines(thread, ts)
        except (PortError, TimeoutError) as problem:
            why = problem.reason if isinstance(problem, PortError) else "it took too long"
            log.warning("an earlier conversation was not read", extra={"data": {"why": why}})
            return Attached(name=EARLIER_NAME, problem=_NOT_READ)
        return Attached(name=EARLIER_NAME, text="\n".join(lines)) if lines else None

    async def _lines(self, thread: Thread, ts: str) -> list[str]:
        # Collected from the newest backwards, so that the oldest are dropped if there is no room for all.
        lines: list[str] = []
        room = _LONGEST_TOGETHER
        for message in reversed(await self._messages(thread, ts)):
            line = await self._line(message)
            room -= len(line) + 1
            if room < 0 or len(lines) == MAX_EARLIER_MESSAGES:
                break
            lines += [line] if line else []
        return lines[::-1]

    async def _line(self, message: Payload) -> str:
        """Return the message as a line; empty if it is not from a person who belongs to the workspace."""
        text = cut(plain_message(get_text(message, "text"), self._us.user).text, _LONGEST_MESSAGE)
        if not (is_from_person(message, self._us) and text):
            return ""
        person = await self._people.person(get_text(message, "user"), home_workspace(message))
        return "" if person.outsider else f"{person}: {text}"

    async def _messages(self, thread: Thread, ts: str) -> list[Payload]:
        # Slack returns the oldest message first.
        found: list[Payload] = []
        cursor = ""
        for _ in range(_EARLIER_PAGES):
            call = partial(
                self._client.conversations_replies,
                channel=thread.channel,
                ts=thread.root,
                latest=ts,
                limit=_EARLIER_PAGE,
                cursor=cursor or None,
            )
            answer = await call_slack("reading what was said before", call)
            found += answer.get("messages") or []
            cursor = get_text(get_object(answer, "response_metadata"), "next_cursor")
            if not cursor:
                break
        return [one for one in found if get_text(one, "ts") != ts]

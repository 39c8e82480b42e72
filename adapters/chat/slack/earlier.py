"""What people said in a thread before they called the bot: read once, of those who belong here, and given along as a file."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.calling import asked
from adapters.chat.slack.delivery import Body, Delivery, Talk, part, word
from adapters.chat.slack.drawing.limits import cut
from adapters.chat.slack.people import People
from adapters.chat.slack.preflight import Identity
from adapters.chat.slack.said import home_of, is_said
from adapters.chat.slack.words import plain
from bot.domain.events import Attached
from bot.domain.people import Thread
from bot.errors import PortError

log = logging.getLogger("bot.slack")

NAME = "earlier in this thread"
MOST = 20
"""Messages; of more, the last ones."""
PATIENCE = 2.0
"""Seconds. Who asked for something is not kept waiting for what others have said."""
_PAGES, _PAGE = 5, 200
_MESSAGE, _ALL = 2_000, 16_000
_REMEMBERED = 100
_UNREAD = "Slack did not let me read what was said here before. Please repeat what matters."


class Earlier:
    """`knows`: whether a thread is one of the bot's, which hears what is said there anyway."""

    def __init__(
        self,
        client: AsyncWebClient,
        us: Identity,
        people: People,
        knows: Callable[[Thread], bool],
        *,
        patience: float = PATIENCE,
    ) -> None:
        self._client = client
        self._us = us
        self._people = people
        self._knows = knows
        self._patience = patience
        self._read: dict[str, Attached | None] = {}
        """By event: a mention comes twice."""

    async def before(self, delivery: Delivery) -> tuple[Attached, ...]:
        """Nothing where nobody said anything, or where it is a thread of the bot's."""
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
            return Attached(name=NAME, problem=_UNREAD)
        return Attached(name=NAME, text="\n".join(lines)) if lines else None

    async def _lines(self, thread: Thread, ts: str) -> list[str]:
        """The newest is kept first, where there is no room for all."""
        lines: list[str] = []
        room = _ALL
        for message in reversed(await self._messages(thread, ts)):
            line = await self._line(message)
            room -= len(line) + 1
            if room < 0 or len(lines) == MOST:
                break
            lines += [line] if line else []
        return lines[::-1]

    async def _line(self, message: Body) -> str:
        """Empty: it was no person, or none who belongs here."""
        text = cut(plain(word(message, "text"), self._us.user).text, _MESSAGE)
        if not (is_said(message, self._us) and text):
            return ""
        person = await self._people.person(word(message, "user"), home_of(message))
        return "" if person.outsider else f"{person}: {text}"

    async def _messages(self, thread: Thread, ts: str) -> list[Body]:
        """Slack tells the oldest first."""
        found: list[Body] = []
        cursor = ""
        for _ in range(_PAGES):
            call = partial(
                self._client.conversations_replies,
                channel=thread.channel,
                ts=thread.root,
                latest=ts,
                limit=_PAGE,
                cursor=cursor or None,
            )
            answer = await asked("reading what was said before", call)
            found += answer.get("messages") or []
            cursor = word(part(answer, "response_metadata"), "next_cursor")
            if not cursor:
                break
        return [one for one in found if word(one, "ts") != ts]

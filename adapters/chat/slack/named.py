"""The title of a session in Slack's own list of sessions: set once for each title, and never against what a person set since."""

from __future__ import annotations

import hashlib
import logging

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.asides import Asides
from adapters.chat.slack.calling import Denied, asked
from adapters.chat.slack.drawing.limits import cut
from adapters.chat.slack.words import on_one_line
from adapters.posting import Ledger, Placed
from bot.domain.cards import Card, StatusCard
from bot.domain.people import Thread
from bot.errors import Unavailable

log = logging.getLogger("bot.slack")

LONGEST = 200
KEY = "session title"
_NOT_HERE = frozenset({"session_not_found", "channel_not_found", "not_in_channel"})


class Named:
    """What was set is noted: after a restart it is not set again."""

    def __init__(self, client: AsyncWebClient, ledger: Ledger) -> None:
        self._client = client
        self._ledger = ledger
        self._asides = Asides()
        self._there = True
        self._under_way: set[str] = set()

    def tell(self, thread: Thread, card: Card) -> None:
        """Returns at once. Only the card that is edited all the time knows the title."""
        title = cut(on_one_line(card.title), LONGEST) if isinstance(card, StatusCard) else ""
        if not title or not self._there or thread.key in self._under_way:
            return
        digest = hashlib.sha256(title.encode()).hexdigest()
        placed = self._ledger.find(thread, KEY)
        if placed is None or placed.digest != digest:
            self._under_way.add(thread.key)
            self._asides.begin("a title", lambda: self._name(thread, title, digest))

    async def close(self) -> None:
        await self._asides.close()

    async def _name(self, thread: Thread, title: str, digest: str) -> None:
        try:
            await asked(
                "naming a session",
                lambda: self._client.agents_sessions_rename(
                    channel_id=thread.channel, thread_ts=thread.root, title=title
                ),
            )
        except Denied as refusal:
            # where a session is not known to Slack yet, the next card tries again
            self._there = refusal.code in _NOT_HERE
            log.info("a session has no title here", extra={"data": {"why": refusal.code}})
        else:
            self._note(thread, digest)
        finally:
            self._under_way.discard(thread.key)

    def _note(self, thread: Thread, digest: str) -> None:
        try:
            self._ledger.posted(Placed(thread=thread, key=KEY, revision=1, digest=digest))
        except Unavailable as full:
            log.warning("not noted", extra={"data": {"why": full.reason}})

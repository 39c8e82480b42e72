"""All output to Slack: a card is posted in its thread once and edited there, whatever became of earlier tries.

It is recorded before and after the call; if the result of an earlier try is unknown, the thread is read first.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from slack_sdk.web.async_client import AsyncWebClient

from adapters.posting import (
    PlacedCard,
    PostingLedger,
    Urgency,
    WriteTurns,
    digest_of,
    opened_thread,
    root_ledger_key,
    thread_from_root,
    urgency_of,
)
from adapters.slack.assistant import AgentStatus, AgentStatuses, agent_status_of
from adapters.slack.blocks.cards import draw_card
from adapters.slack.blocks.kit import BlockKind, Site, SlackMessage
from adapters.slack.client import BackgroundTasks, SlackDenied, call_slack
from adapters.slack.files import DocumentFiles
from adapters.slack.messages import CardDrawing, Messages, SupportedBlocks
from adapters.slack.views import PersonalViews
from bot.core.cards import AnswerCard, Card, DocumentCard, ProblemCard, ReceivedCard, StatusCard
from bot.core.errors import Refused, Unavailable
from bot.core.layout import lay_out
from bot.core.people import Person, Thread
from bot.core.sheets import Element, Entries, Pointer, Text
from bot.core.text import sentences

log = logging.getLogger("bot.slack")

HEARD_REACTION = "eyes"
REPOST_INTERVAL = 110.0
"""Seconds: slightly less than the interval between status updates."""
BETWEEN_EDITS = 3.0
Draw = Callable[[Card, Site | None, frozenset[BlockKind]], Sequence[SlackMessage]]


class SlackGateway:
    """Shows cards. The caller makes sure that cards of one thread are shown one at a time."""

    def __init__(
        self,
        client: AsyncWebClient,
        ledger: PostingLedger,
        turns: WriteTurns,
        *,
        draw: Draw = draw_card,
        supported_blocks: SupportedBlocks | None = None,
        screens: PersonalViews | None = None,
        repost_interval: float = REPOST_INTERVAL,
        edit_interval: float = BETWEEN_EDITS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._turns = turns
        self._draw = draw
        self._supported_blocks = supported_blocks or SupportedBlocks()
        self._screens = screens
        self._links = WorkspaceLinks(client)
        self._messages = Messages(client)
        self._threads = ThreadStarter(self._messages, ledger)
        self._documents = DocumentFiles(client, ledger)
        self._background = BackgroundTasks()
        self._agent_statuses = AgentStatuses(client, self._background)
        self._reposts = StatusReposts(repost_interval, now)
        self._throttle = StatusThrottle(self._background, edit_interval, now)

    async def close(self) -> None:
        """Cancel the background work."""
        await self._background.close()

    def note_talk(self, thread: Thread) -> None:
        """Record that somebody wrote in the thread. Threads without a card of the bot are ignored."""
        if self._ledger.has_cards(thread):
            self._reposts.note_talk(thread)

    async def show(self, thread: Thread, card: Card) -> None:
        """Show the card; return when it is posted, or scheduled to be in a moment.

        Makes no call if it is known to be shown already.
        """
        if not thread.root:
            raise Refused("A card belongs into a thread.", "Mention the bot in a message.")
        if isinstance(card, ReceivedCard) and self._ledger.find(thread, card.key) is None:
            self._background.start("reaction", lambda: self.react(thread))
            self._agent_statuses.show_for_card(thread, card)
        if self._throttle.delay(thread, card, lambda: self._show_delayed(thread, card.key)):
            self._agent_statuses.show_for_card(thread, card)
            return
        if self._is_known_shown(thread, card) and not isinstance(card, DocumentCard):
            if isinstance(card, StatusCard):
                # Slack removes the status if it is not repeated for an hour
                self._agent_statuses.show_for_card(thread, card)
            return
        problem = ""
        async with self._turns.turn(thread.place, urgency_of(card)):
            changed = await self._ensure_shown(thread, card)
            if isinstance(card, DocumentCard):
                problem = await self._documents.attach(thread, card)
        if changed:
            self._agent_statuses.show_for_card(thread, card)
        if problem:
            await self.show(thread, _files_refused_card(problem))

    async def open(self, thread: Thread, card: Card) -> Thread:
        """Post the card into the channel itself, once, and return the thread below it.

        If the card is already there it is edited.
        """
        async with self._turns.turn(thread.place, urgency_of(card)):
            begun = opened_thread(self._ledger, thread, card)
            if begun is None:
                begun = await self._threads.start(thread, card, await self._drawing(thread, card))
        await self.show(begun, card)
        return begun

    async def _show_delayed(self, thread: Thread, key: str) -> None:
        # The card is fetched only when it is its turn, so that it overwrites nothing newer.
        async with self._turns.turn(thread.place, Urgency.STATUS):
            card = self._throttle.pop_waiting(thread, key)
            if card is not None:
                await self._ensure_shown(thread, card)

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        """Show a card to one person at once, without waiting in a queue.

        What is known to have been shown is not repeated.
        """
        user = person.id.rpartition(":")[2]
        if self._screens and await self._show_in_view(thread, user, card):
            return
        own = card.model_copy(update={"key": f"{card.key} for {user}"})
        if self._is_known_shown(thread, own):
            return
        try:
            await self._messages.post_ephemeral(thread, user, await self._drawing(thread, card))
        except SlackDenied as refusal:
            about = {"card": card.key, "why": refusal.code}
            log.warning("a word in private reached nobody", extra={"data": about})
            raise
        self._record_whisper(thread, own)

    async def _show_in_view(self, thread: Thread, user: str, card: Card) -> bool:
        """Whether the card was shown outside of threads: on the person's home tab or in a window."""
        site = await self._links.site_for(card)
        return self._screens is not None and await self._screens.show(thread, user, card, site)

    async def _drawing(self, thread: Thread, card: Card) -> CardDrawing:
        site = await self._links.site_for(card)
        return CardDrawing(
            partial(self._draw, card, site), self._supported_blocks, thread.workspace
        )

    def _record_whisper(self, thread: Thread, card: Card) -> None:
        # A private message cannot be looked for in Slack. With a full disk it may be posted twice, after a restart.
        try:
            self._ledger.record_posted(
                PlacedCard(thread=thread, key=card.key, revision=1, digest=digest_of(card))
            )
        except Unavailable as full:
            log.warning("not noted", extra={"data": {"card": card.key, "why": full.reason}})

    async def react(self, thread: Thread) -> None:
        """Add a reaction to the root message as a sign that it was received, unless that message is the bot's own."""
        if self._ledger.by_message(thread.place, thread.root):
            return
        try:
            await call_slack(
                "a reaction",
                lambda: self._client.reactions_add(
                    channel=thread.channel, name=HEARD_REACTION, timestamp=thread.root
                ),
            )
        except SlackDenied as refusal:
            if refusal.code != "already_reacted":
                log.warning("no reaction", extra={"data": {"why": refusal.code}})

    def _is_known_shown(self, thread: Thread, card: Card) -> bool:
        placed = self._ledger.find(thread, card.key)
        return placed is not None and placed.standing and placed.digest == digest_of(card)

    async def _ensure_shown(self, thread: Thread, card: Card) -> bool:
        """Make sure the card is shown; return False if it already was."""
        old = self._ledger.find(thread, card.key)
        placed, written = self._ledger_entry(thread, card)
        if placed.standing:
            return False
        there, spare = dict(enumerate(placed.messages)), list[str]()
        if not written or (old and not old.standing):
            there, spare = await self._find_messages(placed)
        if there and there.get(0) not in placed.messages:
            # an earlier try posted it, but its answer was lost
            self._reposts.note_posted(thread, card)
        elif self._reposts.needs_repost(thread, card):
            spare += there.values()
            there = {}
        await self._post(placed, card, there, spare, written=written)
        self._throttle.note_shown(thread, card)
        return True

    def _ledger_entry(self, thread: Thread, card: Card) -> tuple[PlacedCard, bool]:
        """Return the ledger entry for the card, and whether it is on disk."""
        try:
            return self._ledger.record_wanted(thread, card, lay_out(card).choices), True
        except Unavailable:
            if not isinstance(card, ProblemCard):
                raise
            # a full disk must not prevent the message that the disk is full
            return PlacedCard(
                thread=thread, key=card.key, revision=1, digest=digest_of(card)
            ), False

    async def _find_messages(self, placed: PlacedCard) -> tuple[dict[int, str], list[str]]:
        """Return the card's message for each part, and surplus messages of the card."""
        found = await self._messages.find(placed)
        newest = {one.part: one.ts for one in found}
        known = dict(enumerate(placed.messages))
        there = known | newest
        others = {*known.values(), *(one.ts for one in found)} - set(there.values())
        return there, sorted(others)

    async def _post(
        self,
        placed: PlacedCard,
        card: Card,
        there: dict[int, str],
        spare: list[str],
        *,
        written: bool,
    ) -> None:
        """Post or edit every part in order, then delete surplus messages, so that at no time is there less to read than
        before.
        """
        anew = not there
        stand: list[str] = []
        drawing = await self._drawing(placed.thread, card)
        for part in range(len(drawing)):
            old = there.pop(part, "")
            stand.append(await self._messages.post_or_edit(placed, part, drawing, old, spare))
            if old not in ("", stand[-1]):
                spare.append(old)
            if written and len(stand) < len(drawing):
                placed = self._ledger.record_partial(placed, *stand)
        if anew:
            self._reposts.note_posted(placed.thread, card)
        for ts in (*spare, *there.values()):
            await self._messages.delete(placed.thread, ts)
        if written:
            self._ledger.record_posted(placed, *stand)


def _files_refused_card(problem: str) -> Card:
    # The fixed key makes this appear once per thread, however many files are refused.
    return AnswerCard(
        key="no-files",
        title="Documents are not attached as files here",
        body=(Text(text=sentences(problem, "Their whole text is in the messages above")),),
    )


# Threads that the bot starts itself: one root message each, posted once, whatever became of earlier tries.


class ThreadStarter:
    def __init__(self, messages: Messages, ledger: PostingLedger) -> None:
        self._messages = messages
        self._ledger = ledger

    async def start(self, thread: Thread, card: Card, drawing: CardDrawing) -> Thread:
        """Post the first part of the drawing as the root of a new thread, and return the thread.

        From then on the message is a card of that thread.
        """
        channel, root = root_ledger_key(thread, card)
        tried = self._ledger.find(channel, root.key) is not None
        placed = self._ledger.record_wanted(channel, root, lay_out(card).choices)
        there = placed.messages[0] if placed.messages else ""
        if tried and not there:
            there = await self._messages.find_root(placed)
        ts = there or await self._messages.post_root(placed, drawing)
        placed = self._ledger.record_partial(placed, ts)
        begun = thread_from_root(thread, ts)
        own = self._ledger.record_adopted(placed, begun, card)
        if not there and len(drawing) == 1:
            # otherwise the message may still show what an earlier try posted, or only part of the card, so it is shown
            # once more
            self._ledger.record_posted(own, ts)
        return begun


# Link targets: Slack is asked for the address of the workspace, once, and only when a card has a link.


class WorkspaceLinks:
    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._site: Site | None = None

    async def site_for(self, card: Card) -> Site | None:
        """Return the workspace's site, or None if the card needs no links."""
        if not any(map(_has_link, lay_out(card).body)):
            return None
        if self._site is None:
            told = await call_slack("where the workspace is", self._client.auth_test)
            self._site = Site(str(told.get("team_id", "")), str(told.get("url", "")))
        return self._site


def _has_link(element: Element) -> bool:
    match element:
        case Pointer():
            return True
        case Entries(items=items):
            return any(entry.thread for entry in items)
        case _:
            return False


# A status card that changes faster than it may be edited is delayed, and only the last version is shown. Only cards
# that report work in progress may be delayed: if the bot ends meanwhile, the next status says more anyway.

CardKey = tuple[str, str]


class StatusThrottle:
    """Delays edits of status cards. `every`: seconds between two edits of a card; `now`: a monotonic clock."""

    def __init__(self, asides: BackgroundTasks, every: float, now: Callable[[], float]) -> None:
        self._asides = asides
        self._every = every
        self._now = now
        self._shown: dict[CardKey, float] = {}
        self._waiting: dict[CardKey, Card] = {}

    def note_shown(self, thread: Thread, card: Card) -> None:
        """Record that the card was posted or edited just now."""
        if not isinstance(card, StatusCard):
            return
        since = self._now() - self._every
        self._shown = {key: at for key, at in self._shown.items() if at > since}
        self._shown[thread.key, card.key] = self._now()

    def delay(self, thread: Thread, card: Card, show: Callable[[], Awaitable[None]]) -> bool:
        """Whether the card is delayed:

        `show` is called later, once, for the last version. If not, an older version that waited is dropped.
        """
        key = (thread.key, card.key)
        waits = key in self._waiting
        wait = self._wait(key) if _may_wait(card) else 0.0
        if wait <= 0:
            self._waiting.pop(key, None)
            return False
        self._waiting[key] = card
        if not waits:
            self._asides.start("a status that had to wait", lambda: self._after(wait, show))
        return True

    def pop_waiting(self, thread: Thread, key: str) -> Card | None:
        """Remove and return the card that waits to be shown, or None."""
        return self._waiting.pop((thread.key, key), None)

    def _wait(self, key: CardKey) -> float:
        return self._shown.get(key, float("-inf")) + self._every - self._now()

    async def _after(self, wait: float, show: Callable[[], Awaitable[None]]) -> None:
        await asyncio.sleep(wait)
        await show()


def _may_wait(card: Card) -> bool:
    return isinstance(card, StatusCard) and agent_status_of(card) is AgentStatus.PROCESSING


# When a status card is posted again at the end of its thread: if people have talked below it and it was not moved
# recently, or if the card asks for it.


class StatusReposts:
    """Decides when a status card is posted again. `every`: seconds between two moves; `now`: a monotonic clock."""

    def __init__(self, every: float, now: Callable[[], float]) -> None:
        self._every = every
        self._now = now
        self._talk_counts: Counter[str] = Counter()
        self._posted: dict[tuple[str, str], tuple[int, float]] = {}

    def note_talk(self, thread: Thread) -> None:
        """Record that somebody wrote in the thread."""
        self._talk_counts[thread.key] += 1

    def note_posted(self, thread: Thread, card: Card) -> None:
        """Record that the card is now at the end of its thread."""
        if isinstance(card, StatusCard):
            self._posted[thread.key, card.key] = (self._talk_counts[thread.key], self._now())

    def needs_repost(self, thread: Thread, card: Card) -> bool:
        if not isinstance(card, StatusCard):
            return False
        if card.anew:
            return True
        talks, at = self._posted.get((thread.key, card.key), (0, float("-inf")))
        return self._talk_counts[thread.key] > talks and self._now() - at >= self._every

"""The one way out to Slack: a card stands in its thread once, and is edited there, whatever became of earlier tries.

It is written down before Slack is asked and after; where an earlier try's end is not known, the thread is read first.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial

from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.slack.asides import Asides
from adapters.chat.slack.calling import Denied, asked
from adapters.chat.slack.documents import Documents
from adapters.chat.slack.drawing import Kind, Message, Site, drawn
from adapters.chat.slack.later import Later
from adapters.chat.slack.left_behind import LeftBehind
from adapters.chat.slack.links import Links
from adapters.chat.slack.messages import Messages
from adapters.chat.slack.native import Native
from adapters.chat.slack.screens import Screens
from adapters.chat.slack.sending import Drawing
from adapters.chat.slack.takes import Takes
from adapters.chat.slack.threads import Threads
from adapters.posting import Ledger, Placed, Turns, Urgency, opened, urgency
from adapters.posting.ledger import digest_of
from bot.domain.cards import (
    AnswerCard,
    Card,
    DocumentCard,
    ProblemCard,
    ReceivedCard,
    StatusCard,
)
from bot.domain.layout import sheet
from bot.domain.people import Person, Thread
from bot.domain.sentences import sentences
from bot.domain.sheets import Text
from bot.errors import Refused, Unavailable

log = logging.getLogger("bot.slack")

HEARD = "eyes"
BETWEEN_MOVES = 110.0
"""Seconds: a little less than from one tick to the next."""
BETWEEN_EDITS = 3.0
Draw = Callable[[Card, Site | None, frozenset[Kind]], Sequence[Message]]


class Gateway:
    """Cards of one thread are shown one after the other: that is the caller's part."""

    def __init__(
        self,
        client: AsyncWebClient,
        ledger: Ledger,
        turns: Turns,
        *,
        draw: Draw = drawn,
        takes: Takes | None = None,
        screens: Screens | None = None,
        between_moves: float = BETWEEN_MOVES,
        between_edits: float = BETWEEN_EDITS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._turns = turns
        self._draw = draw
        self._takes = takes or Takes()
        self._screens = screens
        self._links = Links(client)
        self._messages = Messages(client)
        self._threads = Threads(self._messages, ledger)
        self._documents = Documents(client, ledger)
        self._asides = Asides()
        self._native = Native(client, self._asides)
        self._behind = LeftBehind(between_moves, now)
        self._later = Later(self._asides, between_edits, now)

    async def close(self) -> None:
        """Whatever goes on beside the cards is let go."""
        await self._asides.close()

    def talked(self, thread: Thread) -> None:
        """Somebody has said something in the thread. People talk in many that are none of the bot's."""
        if self._ledger.knows(thread):
            self._behind.talked(thread)

    async def show(self, thread: Thread, card: Card) -> None:
        """Returns when it stands there, or is to stand there in a moment. No call at all if it is known to."""
        if not thread.root:
            raise Refused("A card belongs into a thread.", "Mention the bot in a message.")
        if isinstance(card, ReceivedCard) and self._ledger.find(thread, card.key) is None:
            self._asides.begin("reaction", lambda: self.react(thread))
            self._native.tell(thread, card)
        if self._later.puts_off(thread, card, lambda: self._show_last(thread, card.key)):
            self._native.tell(thread, card)
            return
        if self._is_known_to_stand(thread, card) and not isinstance(card, DocumentCard):
            if isinstance(card, StatusCard):
                # Slack takes its sign away when it was not told again for an hour
                self._native.tell(thread, card)
            return
        problem = ""
        async with self._turns.turn(thread.place, urgency(card)):
            changed = await self._stand(thread, card)
            if isinstance(card, DocumentCard):
                problem = await self._documents.attach(thread, card)
        if changed:
            self._native.tell(thread, card)
        if problem:
            await self.show(thread, _without_file(problem))

    async def open(self, thread: Thread, card: Card) -> Thread:
        """Post it into the channel itself, once: the thread that hangs from it. Shown there, it is edited."""
        async with self._turns.turn(thread.place, urgency(card)):
            begun = opened(self._ledger, thread, card)
            if begun is None:
                begun = await self._threads.begin(thread, card, await self._drawn(thread, card))
        await self.show(begun, card)
        return begun

    async def _show_last(self, thread: Thread, key: str) -> None:
        """What has waited: looked for only when it is its turn, so that it overwrites nothing newer."""
        async with self._turns.turn(thread.place, Urgency.STATUS):
            card = self._later.take(thread, key)
            if card is not None:
                await self._stand(thread, card)

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        """For one person's eyes, at once: it waits for no turn. What is known to have been said is not said again."""
        user = person.id.rpartition(":")[2]
        if self._screens and await self._on_screen(thread, user, card):
            return
        own = card.model_copy(update={"key": f"{card.key} for {user}"})
        if self._is_known_to_stand(thread, own):
            return
        try:
            await self._messages.whisper(thread, user, await self._drawn(thread, card))
        except Denied as refusal:
            about = {"card": card.key, "why": refusal.code}
            log.warning("a word in private reached nobody", extra={"data": about})
            raise
        self._note(thread, own)

    async def _on_screen(self, thread: Thread, user: str, card: Card) -> bool:
        """Whether it was shown beside the threads: on a page or in a window of that person's own."""
        site = await self._links.site_for(card)
        return self._screens is not None and await self._screens.tell(thread, user, card, site)

    async def _drawn(self, thread: Thread, card: Card) -> Drawing:
        site = await self._links.site_for(card)
        return Drawing(partial(self._draw, card, site), self._takes, thread.workspace)

    def _note(self, thread: Thread, card: Card) -> None:
        """A word in private cannot be looked for in Slack. With a full disk it may be said twice, after a restart."""
        try:
            self._ledger.posted(
                Placed(thread=thread, key=card.key, revision=1, digest=digest_of(card))
            )
        except Unavailable as full:
            log.warning("not noted", extra={"data": {"card": card.key, "why": full.reason}})

    async def react(self, thread: Thread) -> None:
        """A sign on the message a thread hangs from: it was heard. The bot does not hear itself."""
        if self._ledger.by_message(thread.place, thread.root):
            return
        try:
            await asked(
                "a reaction",
                lambda: self._client.reactions_add(
                    channel=thread.channel, name=HEARD, timestamp=thread.root
                ),
            )
        except Denied as refusal:
            if refusal.code != "already_reacted":
                log.warning("no reaction", extra={"data": {"why": refusal.code}})

    def _is_known_to_stand(self, thread: Thread, card: Card) -> bool:
        placed = self._ledger.find(thread, card.key)
        return placed is not None and placed.standing and placed.digest == digest_of(card)

    async def _stand(self, thread: Thread, card: Card) -> bool:
        """Make it stand there. False: it did."""
        old = self._ledger.find(thread, card.key)
        placed, written = self._wanted(thread, card)
        if placed.standing:
            return False
        there, spare = dict(enumerate(placed.messages)), list[str]()
        if not written or (old and not old.standing):
            there, spare = await self._look(placed)
        if there and there.get(0) not in placed.messages:
            # an earlier try has posted it, and was not told
            self._behind.posted(thread, card)
        elif self._behind.is_behind(thread, card):
            spare += there.values()
            there = {}
        await self._post(placed, card, there, spare, written=written)
        self._later.shown(thread, card)
        return True

    def _wanted(self, thread: Thread, card: Card) -> tuple[Placed, bool]:
        """What is to stand there, and whether that is written down."""
        try:
            return self._ledger.wanted(thread, card, sheet(card).choices), True
        except Unavailable:
            if not isinstance(card, ProblemCard):
                raise
            # a full disk must not keep people from hearing that the disk is full
            return Placed(thread=thread, key=card.key, revision=1, digest=digest_of(card)), False

    async def _look(self, placed: Placed) -> tuple[dict[int, str], list[str]]:
        """The message of each part that stands there, and what stands there besides."""
        found = await self._messages.find(placed)
        newest = {one.part: one.ts for one in found}
        known = dict(enumerate(placed.messages))
        there = known | newest
        others = {*known.values(), *(one.ts for one in found)} - set(there.values())
        return there, sorted(others)

    async def _post(
        self, placed: Placed, card: Card, there: dict[int, str], spare: list[str], *, written: bool
    ) -> None:
        """Every part in order; then what is spare goes: at no time is there less to read than before."""
        anew = not there
        stand: list[str] = []
        drawing = await self._drawn(placed.thread, card)
        for part in range(len(drawing)):
            old = there.pop(part, "")
            stand.append(await self._messages.put(placed, part, drawing, old, spare))
            if old not in ("", stand[-1]):
                spare.append(old)
            if written and len(stand) < len(drawing):
                placed = self._ledger.begun(placed, *stand)
        if anew:
            self._behind.posted(placed.thread, card)
        for ts in (*spare, *there.values()):
            await self._messages.delete(placed.thread, ts)
        if written:
            self._ledger.posted(placed, *stand)


def _without_file(problem: str) -> Card:
    """Said once in a thread, however many of its files are refused."""
    return AnswerCard(
        key="no-files",
        title="Documents are not attached as files here",
        body=(Text(text=sentences(problem, "Their whole text is in the messages above")),),
    )

"""What the bot shows on Matrix: cards in threads, words to one person, signs that it heard.

One card at a time in a room, the urgent first. Whatever is done twice stands there once.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from urllib.parse import quote

from nio import AsyncClient

from adapters.chat.matrix import shapes
from adapters.chat.matrix.answers import SignedOut, ask
from adapters.chat.matrix.busy import Busy
from adapters.chat.matrix.crypto.seal import OPEN, Seal
from adapters.chat.matrix.drawing import pings
from adapters.chat.matrix.forms import key_for
from adapters.chat.matrix.line import Line
from adapters.chat.matrix.placing import Placing
from adapters.chat.matrix.roots import Roots
from adapters.chat.matrix.sending import Sender
from adapters.chat.matrix.statuses import Statuses
from adapters.posting import Ledger, Turns, Urgency, opened, root_of, thread_of, urgency
from bot.domain.cards import AnswerCard, Card, ReceivedCard, StatusCard
from bot.domain.choices import Verb
from bot.domain.layout import sheet
from bot.domain.people import Person, Thread
from bot.domain.sentences import sentences
from bot.domain.sheets import Text
from bot.errors import PortError, Refused

log = logging.getLogger(__name__)

HEARD = "👀"
_PUT_OUT = "The bot was put out of that room."
_COME_BACK = "Invite the bot into the room again; then everything that waits is shown."
_QUICK = 5.0
"""Seconds that a sign may take which nobody misses."""


class Gateway:
    def __init__(
        self,
        client: AsyncClient,
        ledger: Ledger,
        turns: Turns,
        roots: Roots,
        *,
        seal: Seal = OPEN,
        by_words: frozenset[Verb] = frozenset(),
    ) -> None:
        """`by_words`: what a reaction does not do in encrypted rooms."""
        self._client, self._by_words = client, by_words
        line = Line()
        self._sender = Sender(client, seal=seal, line=line)
        self._impatient = Sender(client, seal=seal, longest_wait=0)
        self._signs = Sender(client, _QUICK, longest_wait=0)
        self._ledger, self._turns, self._roots = ledger, turns, roots
        self._busy = Busy(self._type)
        self._statuses = Statuses(turns, line, self._bring_status)
        self._talk: set[str] = set()
        self._shut: set[str] = set()
        """Rooms the bot was put out of."""
        self._gone: set[str] = set()
        """Messages of cards that somebody has taken away: nobody would see them edited."""

    async def close(self) -> None:
        """From now on no sign is given any more."""
        await self._statuses.close()
        await self._busy.close()

    async def show(self, thread: Thread, card: Card, owner: str = "") -> None:
        """Post it, or edit it where it stands. `owner` is told if it needs somebody; else who began the thread."""
        self._look_whether_open(thread)
        if isinstance(card, StatusCard):
            await self._statuses.show(thread, card)
            return
        first = isinstance(card, ReceivedCard) and self._ledger.find(thread, card.key) is None
        sender = self._sender.at(urgency(card))
        by_words = await self.by_words(thread.channel)
        placing = Placing(sender, self._ledger, thread, card, by_words=by_words)
        if pings(card):
            placing.mention = self._told(owner or self._roots.owner(thread))
        async with self._turns.turn(thread.channel, urgency(card)):
            if first:
                await self.react(thread)
            placing.anew = self._is_gone(thread, card)
            await self._write(placing)
        await self._finish(placing)
        self._busy.shown(thread, card)
        if placing.without_file:
            await self.show(thread, _without_file(placing.without_file))

    async def open(self, thread: Thread, card: Card) -> Thread:
        """Post it into the room itself, once: the thread that hangs from it. Shown there, it is edited."""
        self._look_whether_open(thread)
        async with self._turns.turn(thread.channel, urgency(card)):
            begun = opened(self._ledger, thread, card) or await self._begin(thread, card)
        if owner := self._roots.owner(thread):
            self._roots.remember(begun, owner)
        await self.show(begun, card)
        return begun

    async def _begin(self, thread: Thread, card: Card) -> Thread:
        room, root = root_of(thread, card)
        by_words = await self.by_words(room.channel)
        await Placing(
            self._sender, self._ledger, room, root, begins=True, by_words=by_words
        ).bring()
        placed = self._ledger.wanted(room, root, sheet(card).choices)
        begun = thread_of(thread, placed.messages[0])
        self._ledger.adopted(placed, begun, card)
        return begun

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        """Rooms have no secrets: it is a notice with the name of the one it is for."""
        self._look_whether_open(thread)
        own = card.model_copy(update={"key": key_for(card.key, person.id)})
        urgent = min(urgency(card), Urgency.ANSWER)
        by_words = await self.by_words(thread.channel)
        placing = Placing(
            self._sender.at(urgent), self._ledger, thread, own, to=person, by_words=by_words
        )
        placing.mention = self._told(person.id)
        async with self._turns.turn(thread.channel, urgent):
            await self._write(placing)
        await self._finish(placing)

    async def by_words(self, room: str) -> frozenset[Verb]:
        """What no reaction does there. Unavailable: nobody can tell now."""
        if self._by_words and await self._sender.is_encrypted(room):
            return self._by_words
        return frozenset()

    def shut(self, room: str) -> None:
        """The bot was put out of it: nothing is tried there until it is back."""
        self._shut.add(room)

    def back_in(self, room: str) -> None:
        self._shut.discard(room)

    def _look_whether_open(self, thread: Thread) -> None:
        if thread.channel in self._shut:
            raise Refused(_PUT_OUT, _COME_BACK)

    async def _write(self, placing: Placing) -> None:
        """And all that belongs to it, where nobody waits for that."""
        await placing.write()
        if not placing.has_buttons:
            await placing.finish()

    async def _finish(self, placing: Placing) -> None:
        """Buttons have a turn of their own: what others wait to read goes first."""
        if placing.has_buttons:
            async with self._turns.turn(placing.thread.channel, Urgency.BUTTONS):
                await placing.finish()

    async def react(self, thread: Thread) -> None:
        """A sign on the message that began the thread: it was heard. The bot does not hear itself."""
        if thread.root and not self._ledger.by_message(thread.channel, thread.root):
            name = shapes.transaction("heard", thread.key)
            await self._try(self._sender.react(thread.channel, thread.root, HEARD, name))

    async def seen(self, thread: Thread, event_id: str) -> None:
        """A receipt: it was read."""
        await self._try(self._signs.read(thread.channel, event_id, thread.root or "main"))

    async def stands(self, room: str, event_id: str) -> bool:
        """Whether an event is still there, and was not taken back. Unavailable: nobody can tell now."""
        path = f"/_matrix/client/v3/rooms/{quote(room, safe='')}/event/{quote(event_id, safe='')}"
        headers = {"Authorization": f"Bearer {self._client.access_token}"}
        try:
            told = await ask(
                "Looking at a reaction", self._client.send("GET", path, headers=headers)
            )
        except SignedOut:
            raise
        except Refused:
            return False
        return bool(told.get("content"))

    def talked(self, thread: Thread) -> None:
        """Somebody said something: the next status stands below it. People talk in many threads that are none of ours."""
        if self._ledger.knows(thread):
            self._talk.add(thread.key)

    def taken_away(self, room: str, event_id: str) -> None:
        """Somebody has redacted a message."""
        if self._ledger.by_message(room, event_id):
            self._gone.add(event_id)

    def _is_gone(self, thread: Thread, card: Card) -> bool:
        placed = self._ledger.find(thread, card.key)
        return placed is not None and not self._gone.isdisjoint(placed.messages)

    def remember_root(self, thread: Thread, sender: str) -> None:
        """Who began the thread, and is named when a person is needed."""
        self._roots.remember(thread, sender)

    def began(self, thread: Thread) -> str:
        """Who did; empty: nobody whom the bot knows."""
        return self._roots.owner(thread)

    async def _bring_status(self, thread: Thread, card: StatusCard) -> None:
        talk = thread.key in self._talk and self._ledger.find(thread, card.key) is not None
        anew = talk or card.anew or self._is_gone(thread, card)
        self._talk.discard(thread.key)
        await Placing(self._impatient, self._ledger, thread, card, anew=anew).bring()
        self._busy.shown(thread, card)

    def _told(self, person: str) -> str:
        return "" if person == self._sender.me else person

    async def _type(self, room: str, on: bool) -> None:
        await self._signs.typing(room, on=on)

    async def _try(self, sign: Awaitable[None]) -> None:
        """What nobody misses holds nothing up."""
        try:
            await sign
        except PortError as error:
            log.info("no sign", extra={"data": {"why": error.reason}})


def _without_file(problem: str) -> Card:
    """Said once in a thread, however many of its files are refused."""
    return AnswerCard(
        key="no-files",
        title="Documents are not attached as files here",
        body=(Text(text=sentences(problem, "Their whole text is in the messages above")),),
    )

"""Posts and edits the messages of a card, wherever an earlier try ended.

The transaction id is made from card and part, never from the content, so that the homeserver answers a second try with
the first message; only if that try may have had other content is the message edited.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

from adapters.matrix import sending
from adapters.matrix.cards import MESSAGE_BYTES, Attachment, DrawnMessage, draw_card, mention_person
from adapters.matrix.client import SignedOut
from adapters.matrix.reactions import seeded_keys
from adapters.matrix.sending import EventSender, TooLarge
from adapters.posting import PlacedCard, PostingLedger, Urgency
from bot.core.cards import AnswerCard, Card, DocumentCard
from bot.core.choices import Verb
from bot.core.errors import PortError, Refused
from bot.core.layout import lay_out
from bot.core.people import Person, Thread

# The bot's own reactions on a message, and redacting them. None of it delays the text of a card.

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ButtonSeeding:
    sender: EventSender
    room: str
    revision: int
    """The revision of the card: a button that was removed may be needed again later."""

    async def seed(self, event_id: str, keys: tuple[str, ...]) -> None:
        try:
            for key in keys:
                name = sending.transaction_id("chip", event_id, key, self.revision)
                await self.sender.react(self.room, event_id, key, name)
        except SignedOut:
            raise
        except Refused as error:
            # people may still be allowed to react, and typed commands work as well
            log.warning("no chips", extra={"data": {"event": event_id, "why": error.reason}})

    async def correct(self, event_id: str, wanted: tuple[str, ...]) -> None:
        there = await self.sender.reactions(self.room, event_id)
        for key, button in there.items():
            if key not in wanted:
                await self.redact(button)
        await self.seed(event_id, tuple(key for key in wanted if key not in there))

    async def redact(self, event_id: str) -> None:
        try:
            await self.sender.redact(self.room, event_id)
        except SignedOut:
            raise
        except Refused as error:
            log.warning("not redacted", extra={"data": {"event": event_id, "why": error.reason}})


_MESSAGE_SIZES = (MESSAGE_BYTES, MESSAGE_BYTES // 2, MESSAGE_BYTES // 4)
"""Message sizes to try, for a homeserver that accepts less than others."""


@dataclass
class CardPlacement:
    """One card on its way into its thread."""

    sender: EventSender
    ledger: PostingLedger
    thread: Thread
    card: Card
    to: Person | None = None
    """The person the card is addressed to by name, if any."""
    mention: str = ""
    """The user id to mention when the card is posted."""
    anew: bool = False
    """Posted at the end of the thread instead of being edited in place."""
    by_words: frozenset[Verb] = frozenset()
    """Verbs that must be typed in this room."""
    begins: bool = False
    """The first message is posted into the room itself, as the root of a new thread."""
    without_file: str = field(default="", init=False)
    """Why the room refuses files; empty if it does not, or the card has none."""
    _former: PlacedCard | None = field(init=False)
    _placed: PlacedCard = field(init=False)
    _withdrawn: PlacedCard | None = field(init=False)
    _ids: list[str] = field(init=False)
    _posted_now: bool = field(default=False, init=False)
    _file: Attachment | None = field(default=None, init=False)
    _done: bool = field(default=False, init=False)

    async def place(self) -> None:
        await self.write()
        await self.finish()

    @property
    def has_buttons(self) -> bool:
        """Whether the card has or had buttons; setting them waits until other messages are sent."""
        before = self._former.choices if self._former else ()
        return not self._done and bool(self._placed.choices or before)

    async def write(self) -> None:
        """Post or edit the messages."""
        self._former = self.ledger.find(self.thread, self.card.key)
        self._placed = self.ledger.record_wanted(self.thread, self.card, lay_out(self.card).choices)
        if self._placed.standing:
            self._done = True
            return
        self._withdrawn = self.ledger.find(self.thread, self._withdrawn_key)
        gone = self._withdrawn.messages if self._withdrawn else ()
        self._ids = [one for one in self._placed.messages if one not in gone]
        self.anew = self.anew and bool(self._ids)
        if self.anew:
            self._withdraw(self._ids)
            self._ids = []
        self._file = await self._write()

    async def finish(self) -> None:
        """Set the buttons, attach the file and redact old messages.

        If a newer revision was written meanwhile, its own call does that.
        """
        placed = self.ledger.find(self.thread, self.card.key)
        if self._done or placed is None or placed.revision != self._placed.revision:
            return
        await self._set_buttons()
        if self._file:
            await self._attach(self._file)
        await self._redact_withdrawn()
        self.ledger.record_posted(self._placed, *self._ids)
        self._done = True

    # ── messages ──

    async def _write(self) -> Attachment | None:
        """Write the messages and return the file to attach after them."""
        for room in _MESSAGE_SIZES:
            messages = await self._drawn(room)
            try:
                await self._write_messages(messages, room)
            except TooLarge:
                if room == _MESSAGE_SIZES[-1]:
                    raise
            else:
                return messages[-1].file
        raise AssertionError("the smallest is the last")

    async def _drawn(self, room: int) -> tuple[DrawnMessage, ...]:
        if isinstance(self.card, DocumentCard):
            # drawing a long document would block everything else
            messages = await asyncio.to_thread(draw_card, self.card, room)
        else:
            messages = draw_card(self.card, room, typed_verbs=self.by_words)
        if self.to is None:
            return messages
        return (mention_person(messages[0], self.to), *messages[1:])

    async def _write_messages(self, messages: tuple[DrawnMessage, ...], room: int) -> None:
        for message in messages:
            if message.part < len(self._ids):
                if self._placed.revision > 1 or room != MESSAGE_BYTES:
                    await self._edit(message, room)
                continue
            await self._post(message, room)
            if self._placed.revision > 1 and not self.anew:
                await self._edit(message, room)
        extra = self._ids[len(messages) :]
        if extra:
            self._withdraw(extra)
            del self._ids[len(messages) :]

    async def _post(self, message: DrawnMessage, room: int) -> None:
        name = self._transaction_id("post", message.part, room if room != MESSAGE_BYTES else "")
        mention = "" if message.part else self.mention
        content = sending.message_content(message, self._root, mention)
        self._ids.append(
            await self.sender.send(self.thread.channel, "m.room.message", content, name)
        )
        self._posted_now = True
        self._placed = self.ledger.record_partial(self._placed, *self._ids)

    async def _edit(self, message: DrawnMessage, room: int) -> None:
        placed = self._placed
        name = self._transaction_id("edit", message.part, room, placed.revision, placed.digest)
        content = sending.edit_content(message, self._ids[message.part])
        await self.sender.send(self.thread.channel, "m.room.message", content, name)

    @property
    def _root(self) -> str:
        """Return the root of the thread to post into; empty if there is none."""
        return self._ids[0] if self.begins and self._ids else self.thread.root

    def _transaction_id(self, *what: str | int) -> str:
        # The generation keeps new messages from reusing the transaction ids of withdrawn ones.
        generation = self._withdrawn.revision if self._withdrawn else 0
        return sending.transaction_id(self.thread.key, self.card.key, generation, *what)

    # ── withdrawn messages ──

    @property
    def _withdrawn_key(self) -> str:
        return f"{self.card.key} withdrawn"

    def _withdraw(self, ids: list[str]) -> None:
        # Recorded before the redaction, so that a crash loses none; recorded messages no longer count as part of the
        # card.
        if not ids:
            return
        old = self._withdrawn
        pending = list(old.messages) if old and not old.standing else []
        card = AnswerCard(key=self._withdrawn_key, title=" ".join([*pending, *ids]))
        entry = self.ledger.record_wanted(self.thread, card)
        self._withdrawn = self.ledger.record_partial(entry, *pending, *ids)

    async def _redact_withdrawn(self) -> None:
        entry = self._withdrawn
        if entry is None or entry.standing:
            return
        for event_id in entry.messages:
            await self._seeding.redact(event_id)
        self._withdrawn = self.ledger.record_posted(entry, *entry.messages)

    # ── reaction buttons ──

    async def _set_buttons(self) -> None:
        """Put a button for every available choice on the last message and remove all others."""
        wanted, bearer, before = self._seeds(self._placed), self._ids[-1], self._former
        if before is None or (before.standing and not before.choices) or self._is_fresh:
            await self._seeding.seed(bearer, wanted)
            return
        if before.standing and before.messages[-1:] == (bearer,):
            if self._seeds(before) == wanted:
                return
        elif before.standing:
            for event_id in before.messages:
                if event_id in self._ids and event_id != bearer:
                    await self._seeding.correct(event_id, ())
        begun = bool(before.messages and before.choices)
        if before.standing or wanted or begun or before.revision > 1:
            await self._seeding.correct(bearer, wanted)

    def _seeds(self, placed: PlacedCard) -> tuple[str, ...]:
        return seeded_keys(placed.choices, self.by_words)

    @property
    def _is_fresh(self) -> bool:
        """Whether the message with the buttons was just posted, so that it cannot have any yet."""
        return self._posted_now and (self.anew or self._placed.revision == 1)

    @property
    def _seeding(self) -> ButtonSeeding:
        return ButtonSeeding(
            self.sender.with_urgency(Urgency.BUTTONS), self.thread.channel, self._placed.revision
        )

    # ── the file ──

    async def _attach(self, file: Attachment) -> None:
        """Attach the document as a file, once.

        Errors are only logged, because the messages already contain the whole document.
        """
        card = AnswerCard(key=f"{self.card.key} file", title=self._placed.digest)
        entry = self.ledger.record_wanted(self.thread, card)
        if entry.standing:
            return
        try:
            place = await self.sender.upload(
                self.thread.channel, file.name, file.data, file.mimetype
            )
            name = sending.transaction_id(self.thread.key, entry.key, entry.revision)
            content = sending.file_content(file, place, self._root)
            event_id = await self.sender.send(self.thread.channel, "m.room.message", content, name)
        except SignedOut:
            raise
        except PortError as error:
            log.warning("no file", extra={"data": {"card": self.card.key, "why": error.reason}})
            if isinstance(error, Refused):
                self.without_file = error.reason
        else:
            self.ledger.record_posted(entry, event_id)

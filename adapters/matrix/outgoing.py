"""All output to Matrix: cards in threads, messages to one person, reactions and typing notices.

One card at a time per room, urgent ones first. Repeated calls post nothing twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from nio import AsyncClient

from adapters.matrix import sending
from adapters.matrix.cards import causes_notification
from adapters.matrix.client import SignedOut, json_answer
from adapters.matrix.crypto.encrypted_rooms import NO_ENCRYPTOR, Encryptor
from adapters.matrix.placement import CardPlacement
from adapters.matrix.reactions import key_for_person
from adapters.matrix.sending import EventSender, SendQueue, WaitBounds
from adapters.matrix.storage import ThreadOwners
from adapters.posting import (
    PostingLedger,
    Urgency,
    WriteTurns,
    opened_thread,
    root_ledger_key,
    thread_from_root,
    urgency_of,
)
from bot.core.cards import AnswerCard, Card, ReceivedCard, StatusCard, StoppedCard, SummaryCard
from bot.core.choices import Verb
from bot.core.errors import PortError, Refused, Unavailable
from bot.core.layout import lay_out
from bot.core.people import Person, Thread
from bot.core.sheets import Text, Tone
from bot.core.states import Phase, Status
from bot.core.text import sentences

log = logging.getLogger(__name__)

HEARD_REACTION = "👀"
_PUT_OUT = "The bot was put out of that room."
_COME_BACK = "Invite the bot into the room again; then everything that waits is shown."
_SIGN_SECONDS = 5.0
"""Time-out for receipts and typing notices, which are not essential."""


class MatrixGateway:
    def __init__(
        self,
        client: AsyncClient,
        ledger: PostingLedger,
        turns: WriteTurns,
        roots: ThreadOwners,
        *,
        encryptor: Encryptor = NO_ENCRYPTOR,
        typed_verbs: frozenset[Verb] = frozenset(),
    ) -> None:
        """`typed_verbs`: verbs that a reaction does not trigger in encrypted rooms."""
        self._client, self._typed_verbs = client, typed_verbs
        line = SendQueue()
        self._sender = EventSender(client, encryptor=encryptor, queue=line)
        self._immediate_sender = EventSender(client, encryptor=encryptor, longest_wait=0)
        self._reaction_sender = EventSender(client, _SIGN_SECONDS, longest_wait=0)
        self._ledger, self._turns, self._roots = ledger, turns, roots
        self._typing = TypingNotices(self._type)
        self._statuses = StatusCards(turns, line, self._place_status)
        self._rooms_with_talk: set[str] = set()
        self._closed_rooms: set[str] = set()
        """Rooms the bot was removed from."""
        self._deleted: set[str] = set()
        """Messages of cards that somebody redacted; an edit of them would not be visible."""

    async def close(self) -> None:
        """Cancel background work."""
        await self._statuses.close()
        await self._typing.close()

    async def show(self, thread: Thread, card: Card, owner: str = "") -> None:
        """Post or edit the card. If it needs a person, `owner` is notified, or else whoever started the thread."""
        self._require_open(thread)
        if isinstance(card, StatusCard):
            await self._statuses.show(thread, card)
            return
        first = isinstance(card, ReceivedCard) and self._ledger.find(thread, card.key) is None
        sender = self._sender.with_urgency(urgency_of(card))
        by_words = await self.typed_verbs(thread.channel)
        placing = CardPlacement(sender, self._ledger, thread, card, by_words=by_words)
        if causes_notification(card):
            placing.mention = self._mention_for(owner or self._roots.owner(thread))
        async with self._turns.turn(thread.channel, urgency_of(card)):
            if first:
                await self.react(thread)
            placing.anew = self._is_gone(thread, card)
            await self._write(placing)
        await self._finish(placing)
        self._typing.note_card(thread, card)
        if placing.without_file:
            await self.show(thread, _files_refused_card(placing.without_file))

    async def open(self, thread: Thread, card: Card) -> Thread:
        """Post the card into the room itself, once, and return the thread below it.

        If the card is already there it is edited.
        """
        self._require_open(thread)
        async with self._turns.turn(thread.channel, urgency_of(card)):
            begun = opened_thread(self._ledger, thread, card) or await self._begin(thread, card)
        if owner := self._roots.owner(thread):
            self._roots.remember(begun, owner)
        await self.show(begun, card)
        return begun

    async def _begin(self, thread: Thread, card: Card) -> Thread:
        room, root = root_ledger_key(thread, card)
        by_words = await self.typed_verbs(room.channel)
        await CardPlacement(
            self._sender, self._ledger, room, root, begins=True, by_words=by_words
        ).place()
        placed = self._ledger.record_wanted(room, root, lay_out(card).choices)
        begun = thread_from_root(thread, placed.messages[0])
        self._ledger.record_adopted(placed, begun, card)
        return begun

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        # Matrix rooms have no private messages, so this is a notice with the person's name.
        self._require_open(thread)
        own = card.model_copy(update={"key": key_for_person(card.key, person.id)})
        urgent = min(urgency_of(card), Urgency.ANSWER)
        by_words = await self.typed_verbs(thread.channel)
        placing = CardPlacement(
            self._sender.with_urgency(urgent),
            self._ledger,
            thread,
            own,
            to=person,
            by_words=by_words,
        )
        placing.mention = self._mention_for(person.id)
        async with self._turns.turn(thread.channel, urgent):
            await self._write(placing)
        await self._finish(placing)

    async def typed_verbs(self, room: str) -> frozenset[Verb]:
        """Return the verbs that must be typed in this room; raise Unavailable if that cannot be found out now."""
        if self._typed_verbs and await self._sender.is_encrypted(room):
            return self._typed_verbs
        return frozenset()

    def block_room(self, room: str) -> None:
        """Record that the bot was removed from the room: nothing is sent there until it is back."""
        self._closed_rooms.add(room)

    def unblock_room(self, room: str) -> None:
        self._closed_rooms.discard(room)

    def _require_open(self, thread: Thread) -> None:
        if thread.channel in self._closed_rooms:
            raise Refused(_PUT_OUT, _COME_BACK)

    async def _write(self, placing: CardPlacement) -> None:
        """Write the messages, and finish at once if there are no buttons."""
        await placing.write()
        if not placing.has_buttons:
            await placing.finish()

    async def _finish(self, placing: CardPlacement) -> None:
        """Set the buttons in a turn of their own, so that messages of others go first."""
        if placing.has_buttons:
            async with self._turns.turn(placing.thread.channel, Urgency.BUTTONS):
                await placing.finish()

    async def react(self, thread: Thread) -> None:
        """Add a reaction to the message that started the thread as a sign that it was received, unless it is the bot's
        own.
        """
        if thread.root and not self._ledger.by_message(thread.channel, thread.root):
            name = sending.transaction_id("heard", thread.key)
            await self._send_optional(
                self._sender.react(thread.channel, thread.root, HEARD_REACTION, name)
            )

    async def mark_read(self, thread: Thread, event_id: str) -> None:
        """Send a read receipt."""
        await self._send_optional(
            self._reaction_sender.send_receipt(thread.channel, event_id, thread.root or "main")
        )

    async def event_exists(self, room: str, event_id: str) -> bool:
        """Whether an event exists and was not redacted; raises Unavailable if that cannot be found out now."""
        path = f"/_matrix/client/v3/rooms/{quote(room, safe='')}/event/{quote(event_id, safe='')}"
        headers = {"Authorization": f"Bearer {self._client.access_token}"}
        try:
            told = await json_answer(
                "Looking at a reaction", self._client.send("GET", path, headers=headers)
            )
        except SignedOut:
            raise
        except Refused:
            return False
        return bool(told.get("content"))

    def note_talk(self, thread: Thread) -> None:
        """Record that somebody wrote in the thread, so that the next status is posted below it.

        Threads without a card of the bot are ignored.
        """
        if self._ledger.has_cards(thread):
            self._rooms_with_talk.add(thread.key)

    def note_redaction(self, room: str, event_id: str) -> None:
        """Record that a message was redacted."""
        if self._ledger.by_message(room, event_id):
            self._deleted.add(event_id)

    def _is_gone(self, thread: Thread, card: Card) -> bool:
        placed = self._ledger.find(thread, card.key)
        return placed is not None and not self._deleted.isdisjoint(placed.messages)

    def remember_owner(self, thread: Thread, sender: str) -> None:
        """Record who started the thread; they are mentioned when a person is needed."""
        self._roots.remember(thread, sender)

    def thread_owner(self, thread: Thread) -> str:
        """Return who started the thread; empty if unknown."""
        return self._roots.owner(thread)

    async def _place_status(self, thread: Thread, card: StatusCard) -> None:
        talk = (
            thread.key in self._rooms_with_talk and self._ledger.find(thread, card.key) is not None
        )
        anew = talk or card.anew or self._is_gone(thread, card)
        self._rooms_with_talk.discard(thread.key)
        await CardPlacement(self._immediate_sender, self._ledger, thread, card, anew=anew).place()
        self._typing.note_card(thread, card)

    def _mention_for(self, person: str) -> str:
        return "" if person == self._sender.me else person

    async def _type(self, room: str, on: bool) -> None:
        await self._reaction_sender.typing(room, on=on)

    async def _send_optional(self, sign: Awaitable[None]) -> None:
        """Send something inessential; an error is only logged."""
        try:
            await sign
        except PortError as error:
            log.info("no sign", extra={"data": {"why": error.reason}})


def _files_refused_card(problem: str) -> Card:
    # The fixed key makes this appear once per thread, however many files are refused.
    return AnswerCard(
        key="no-files",
        title="Documents are not attached as files here",
        body=(Text(text=sentences(problem, "Their whole text is in the messages above")),),
    )


# Status cards: of those that wait only the last is shown. While the homeserver limits the bot, a status comes after
# everything else.

PlaceStatus = Callable[[Thread, StatusCard], Awaitable[None]]
"""Posts or edits the card; raises Unavailable with a retry time if the homeserver limits the bot."""
_Place = tuple[str, str]


class StatusCards:
    """Shows status cards; the owner must call `close`."""

    def __init__(self, turns: WriteTurns, queue: SendQueue, place_card: PlaceStatus) -> None:
        self._turns, self._queue, self._place_card = turns, queue, place_card
        self._newest: dict[_Place, StatusCard] = {}
        self._delayed: dict[_Place, asyncio.Task[None]] = {}

    async def show(self, thread: Thread, card: StatusCard) -> None:
        place = (thread.key, card.key)
        self._newest[place] = card
        if place in self._delayed:
            return
        if not await self._try_show(thread, place, card):
            self._delayed[place] = asyncio.create_task(self._show_later(thread, place))

    async def close(self) -> None:
        """Cancel waiting cards; they are shown after the restart."""
        later = list(self._delayed.values())
        for task in later:
            task.cancel()
        await asyncio.gather(*later, return_exceptions=True)

    async def _show_later(self, thread: Thread, place: _Place) -> None:
        try:
            while card := self._newest.get(place):
                await self._queue.wait_until_calm()
                await self._try_show(thread, place, card)
        except PortError as error:
            log.warning("no status", extra={"data": {"why": error.reason}})
        finally:
            del self._delayed[place]

    async def _try_show(self, thread: Thread, place: _Place, card: StatusCard) -> bool:
        """Whether the card is shown, or replaced by a newer one."""
        if not self._queue.is_calm:
            return False
        try:
            async with self._turns.turn(thread.channel, Urgency.STATUS):
                if self._newest.get(place) is not card:
                    return True
                await self._place_card(thread, card)
        except Unavailable as error:
            wait = error.retry_after
            if wait is None or wait > WaitBounds().once:
                self._forget(place, card)
                raise
            self._queue.hold(wait)
            return False
        except BaseException:
            self._forget(place, card)
            raise
        self._forget(place, card)
        return True

    def _forget(self, place: _Place, card: StatusCard) -> None:
        if self._newest.get(place) is card:
            del self._newest[place]


# Shows a typing notice while the bot works, until it waits for a person or is done, renewed before it expires. It is
# sent only when that changes and at intervals, not for every card, and errors are only logged.

RENEWAL_SECONDS = 20.0
"""Seconds. The notice is sent for thirty."""
WORK_TIMEOUT = 300.0
"""Seconds without a card after which the bot no longer counts as working: a status would have come meanwhile."""
_WAITING_PHASES = frozenset({Phase.CLARIFYING, Phase.APPROVING, Phase.DONE})

Typing = Callable[[str, bool], Awaitable[None]]


def is_at_work(card: Card) -> bool | None:
    """Whether the bot works once this card is shown; None if the card does not tell."""
    match card:
        case ReceivedCard():
            return True
        case StatusCard(status=status, phase=phase):
            return status == Status.ACTIVE and phase not in _WAITING_PHASES
        case SummaryCard() | StoppedCard():
            return False
        case _:
            pass
    if getattr(card, "decided", None):
        return True
    laid = lay_out(card)
    return False if laid.choices and laid.tone in (Tone.NEEDS_YOU, Tone.FAILURE) else None


class TypingNotices:
    """Sends typing notices; the owner must call `close`."""

    def __init__(self, typing: Typing, *, renewed: float = RENEWAL_SECONDS) -> None:
        self._typing, self._renewed = typing, renewed
        self._active: dict[str, dict[str, float]] = {}
        """By room: the threads in which the bot works, and when that was last seen."""
        self._shown: set[str] = set()
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def note_card(self, thread: Thread, card: Card) -> None:
        """Record that a card was shown in a thread."""
        state = is_at_work(card)
        threads = self._active.setdefault(thread.channel, {})
        if state or (state is None and thread.key in threads):
            threads[thread.key] = asyncio.get_running_loop().time()
        elif state is False:
            threads.pop(thread.key, None)
        if bool(threads) is not (thread.channel in self._shown):
            self._changed.set()
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._send_notices())

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _send_notices(self) -> None:
        """Send changes and renewals as long as the bot works anywhere."""
        due = set[str]()
        while self._active:
            self._changed.clear()
            for room in list(self._active):
                await self._send_notice(room, due)
            if not self._active:
                return
            try:
                async with asyncio.timeout(self._renewed):
                    await self._changed.wait()
                due = set()
            except TimeoutError:
                due = set(self._shown)

    async def _send_notice(self, room: str, due: set[str]) -> None:
        oldest = asyncio.get_running_loop().time() - WORK_TIMEOUT
        threads = {key: seen for key, seen in self._active[room].items() if seen > oldest}
        self._active[room] = threads
        on = bool(threads)
        if on is not (room in self._shown) or (on and room in due):
            (self._shown.add if on else self._shown.discard)(room)
            try:
                await self._typing(room, on)
            except PortError as error:
                log.info("no sign", extra={"data": {"why": error.reason}})
        if not self._active[room]:
            del self._active[room]
            self._shown.discard(room)

"""What the bot shows on Matrix: cards in threads, words to one person, signs that it heard and that it works.

One card at a time in a room, the urgent first. Whatever is done twice stands there once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from nio import AsyncClient

from adapters.matrix import sending
from adapters.matrix.cards import notifies
from adapters.matrix.client import SignedOut, ask
from adapters.matrix.crypto.encrypted_rooms import NO_ENCRYPTOR, Encryptor
from adapters.matrix.placement import CardPlacement
from adapters.matrix.reactions import key_for_person
from adapters.matrix.sending import EventSender, SendQueue, WaitBounds
from adapters.matrix.storage import ThreadOwners
from adapters.posting import (
    PostingLedger,
    Turns,
    Urgency,
    opened_thread,
    root_entry,
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
"""Seconds that a sign may take which nobody misses."""


class MatrixGateway:
    def __init__(
        self,
        client: AsyncClient,
        ledger: PostingLedger,
        turns: Turns,
        roots: ThreadOwners,
        *,
        encryptor: Encryptor = NO_ENCRYPTOR,
        by_words: frozenset[Verb] = frozenset(),
    ) -> None:
        """`by_words`: what a reaction does not do in encrypted rooms."""
        self._client, self._by_words = client, by_words
        line = SendQueue()
        self._sender = EventSender(client, encryptor=encryptor, line=line)
        self._impatient = EventSender(client, encryptor=encryptor, longest_wait=0)
        self._signs = EventSender(client, _SIGN_SECONDS, longest_wait=0)
        self._ledger, self._turns, self._roots = ledger, turns, roots
        self._busy = TypingSign(self._type)
        self._statuses = StatusCards(turns, line, self._bring_status)
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
        sender = self._sender.at(urgency_of(card))
        by_words = await self.by_words(thread.channel)
        placing = CardPlacement(sender, self._ledger, thread, card, by_words=by_words)
        if notifies(card):
            placing.mention = self._told(owner or self._roots.owner(thread))
        async with self._turns.turn(thread.channel, urgency_of(card)):
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
        async with self._turns.turn(thread.channel, urgency_of(card)):
            begun = opened_thread(self._ledger, thread, card) or await self._begin(thread, card)
        if owner := self._roots.owner(thread):
            self._roots.remember(begun, owner)
        await self.show(begun, card)
        return begun

    async def _begin(self, thread: Thread, card: Card) -> Thread:
        room, root = root_entry(thread, card)
        by_words = await self.by_words(room.channel)
        await CardPlacement(
            self._sender, self._ledger, room, root, begins=True, by_words=by_words
        ).bring()
        placed = self._ledger.wanted(room, root, lay_out(card).choices)
        begun = thread_from_root(thread, placed.messages[0])
        self._ledger.adopted(placed, begun, card)
        return begun

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        """Rooms have no secrets: it is a notice with the name of the one it is for."""
        self._look_whether_open(thread)
        own = card.model_copy(update={"key": key_for_person(card.key, person.id)})
        urgent = min(urgency_of(card), Urgency.ANSWER)
        by_words = await self.by_words(thread.channel)
        placing = CardPlacement(
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

    async def _write(self, placing: CardPlacement) -> None:
        """And all that belongs to it, where nobody waits for that."""
        await placing.write()
        if not placing.has_buttons:
            await placing.finish()

    async def _finish(self, placing: CardPlacement) -> None:
        """Buttons have a turn of their own: what others wait to read goes first."""
        if placing.has_buttons:
            async with self._turns.turn(placing.thread.channel, Urgency.BUTTONS):
                await placing.finish()

    async def react(self, thread: Thread) -> None:
        """A sign on the message that began the thread: it was heard. The bot does not hear itself."""
        if thread.root and not self._ledger.by_message(thread.channel, thread.root):
            name = sending.transaction_id("heard", thread.key)
            await self._try(self._sender.react(thread.channel, thread.root, HEARD_REACTION, name))

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
        await CardPlacement(self._impatient, self._ledger, thread, card, anew=anew).bring()
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


# Live messages: of those that wait only the last is shown. Where the homeserver limits the bot, a
# status comes after everything else that it has to say.

BringStatus = Callable[[Thread, StatusCard], Awaitable[None]]
"""Puts it where it is to stand. Unavailable with a time: the homeserver limits the bot."""
_Place = tuple[str, str]


class StatusCards:
    """Whoever has one closes it."""

    def __init__(self, turns: Turns, line: SendQueue, bring: BringStatus) -> None:
        self._turns, self._line, self._bring = turns, line, bring
        self._newest: dict[_Place, StatusCard] = {}
        self._later: dict[_Place, asyncio.Task[None]] = {}

    async def show(self, thread: Thread, card: StatusCard) -> None:
        place = (thread.key, card.key)
        self._newest[place] = card
        if place in self._later:
            return
        if not await self._tried(thread, place, card):
            self._later[place] = asyncio.create_task(self._show_later(thread, place))

    async def close(self) -> None:
        """The next life shows them."""
        later = list(self._later.values())
        for task in later:
            task.cancel()
        await asyncio.gather(*later, return_exceptions=True)

    async def _show_later(self, thread: Thread, place: _Place) -> None:
        try:
            while card := self._newest.get(place):
                await self._line.quiet()
                await self._tried(thread, place, card)
        except PortError as error:
            log.warning("no status", extra={"data": {"why": error.reason}})
        finally:
            del self._later[place]

    async def _tried(self, thread: Thread, place: _Place, card: StatusCard) -> bool:
        """Whether it stands there, or another will that says more."""
        if not self._line.is_calm:
            return False
        try:
            async with self._turns.turn(thread.channel, Urgency.STATUS):
                if self._newest.get(place) is not card:
                    return True
                await self._bring(thread, card)
        except Unavailable as error:
            wait = error.retry_after
            if wait is None or wait > WaitBounds().once:
                self._forget(place, card)
                raise
            self._line.hold(wait)
            return False
        except BaseException:
            self._forget(place, card)
            raise
        self._forget(place, card)
        return True

    def _forget(self, place: _Place, card: StatusCard) -> None:
        if self._newest.get(place) is card:
            del self._newest[place]


# Shows where the bot is at work that it types: until it waits for a person or is over, renewed
# before it expires. A room is told when that changes and every so often, never once a card:
# nobody waits for it, and nobody misses it.

RENEWED_EVERY = 20.0
"""Seconds. A homeserver lets it go out after thirty."""
LONGEST_WITHOUT_SIGN = 300.0
"""Seconds without any sign of work: a status would have come meanwhile."""
_WAITING_PHASES = frozenset({Phase.CLARIFYING, Phase.APPROVING, Phase.DONE})

Typing = Callable[[str, bool], Awaitable[None]]


def is_at_work(card: Card) -> bool | None:
    """Whether the bot is at work once this is shown. None: that does not tell."""
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


class TypingSign:
    """Whoever has one closes it."""

    def __init__(self, typing: Typing, *, renewed: float = RENEWED_EVERY) -> None:
        self._typing, self._renewed = typing, renewed
        self._at_work: dict[str, dict[str, float]] = {}
        """By room: its threads in which the bot is at work, and when that was last seen."""
        self._shown: set[str] = set()
        self._changed = asyncio.Event()
        self._telling: asyncio.Task[None] | None = None

    def shown(self, thread: Thread, card: Card) -> None:
        """A card stands in a thread."""
        state = is_at_work(card)
        threads = self._at_work.setdefault(thread.channel, {})
        if state or (state is None and thread.key in threads):
            threads[thread.key] = asyncio.get_running_loop().time()
        elif state is False:
            threads.pop(thread.key, None)
        if bool(threads) is not (thread.channel in self._shown):
            self._changed.set()
            if self._telling is None or self._telling.done():
                self._telling = asyncio.create_task(self._tell())

    async def close(self) -> None:
        if self._telling:
            self._telling.cancel()
            await asyncio.wait({self._telling})

    async def _tell(self) -> None:
        """As long as there is anything to renew."""
        due = set[str]()
        while self._at_work:
            self._changed.clear()
            for room in list(self._at_work):
                await self._tell_room(room, due)
            if not self._at_work:
                return
            try:
                async with asyncio.timeout(self._renewed):
                    await self._changed.wait()
                due = set()
            except TimeoutError:
                due = set(self._shown)

    async def _tell_room(self, room: str, due: set[str]) -> None:
        oldest = asyncio.get_running_loop().time() - LONGEST_WITHOUT_SIGN
        threads = {key: seen for key, seen in self._at_work[room].items() if seen > oldest}
        self._at_work[room] = threads
        on = bool(threads)
        if on is not (room in self._shown) or (on and room in due):
            (self._shown.add if on else self._shown.discard)(room)
            try:
                await self._typing(room, on)
            except PortError as error:
                log.info("no sign", extra={"data": {"why": error.reason}})
        if not self._at_work[room]:
            del self._at_work[room]
            self._shown.discard(room)

"""From what was said in a room to what is wanted of the bot: in which thread, by whom, which choice on which card."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine

from adapters.chat.matrix.batch import Event
from adapters.chat.matrix.chips import choice_for, keys
from adapters.chat.matrix.forms import confirmed, wanted_next
from adapters.chat.matrix.gateway import Gateway
from adapters.chat.matrix.heard import Me, Message, Reaction, Redaction, meaning
from adapters.posting import Ledger, Placed
from bot.domain.cards import AnswerCard
from bot.domain.choices import Choice, Command, Word, command_in
from bot.domain.events import Commanded, Opened, Pressed, Said
from bot.domain.people import Person, Thread
from bot.errors import Refused
from bot.ports import Deliver

log = logging.getLogger(__name__)

PLATFORM = "matrix"
ENCRYPTED = "m.room.encrypted"
A_MOMENT = 1.0
"""Seconds that a room waits for something to be said there, which may take minutes: the next one may want to stop."""
MOST_SIGNS = 20
CANNOT_READ = "This room is encrypted, and I cannot read that yet. Use a room without encryption."


class Hearing:
    """Whoever has one closes it: then no sign is given any more."""

    def __init__(self, me: Me, ledger: Ledger, gateway: Gateway, deliver: Deliver) -> None:
        self._me = me
        self._ledger = ledger
        self._gateway = gateway
        self._deliver = deliver
        self._signs: set[asyncio.Task[None]] = set()

    async def hear(self, room: str, event: Event, *, direct: bool) -> None:
        """Returns when it was taken, or is nothing. Unavailable: it was not, and shall come again.

        `direct`: whether the room is a conversation of somebody with the bot alone.
        """
        try:
            if event.get("type") == ENCRYPTED and event.get("sender") != self._me.user_id:
                await self._tell_of_encryption(room)
            match meaning(room, event, self._me):
                case Message() as message:
                    await self._message(message, direct=direct)
                case Reaction() as reaction:
                    await self._reaction(reaction)
                case Redaction(room=place, target=target):
                    self._gateway.taken_away(place, target)
                case _:
                    pass
        except Refused as refused:
            # somebody could not be answered: hearing it again would not change that
            log.warning("could not be answered", extra={"data": {"reason": refused.reason}})

    async def close(self) -> None:
        for sign in self._signs:
            sign.cancel()
        await asyncio.gather(*self._signs, return_exceptions=True)

    async def _tell_of_encryption(self, room: str) -> None:
        """Once in a room: else people would talk to somebody who cannot hear them."""
        thread = Thread(platform=PLATFORM, channel=room, root="")
        card = AnswerCard(key="encrypted", title=CANNOT_READ)
        await self._say(self._gateway.show(thread, card))

    async def _say(self, saying: Coroutine[None, None, None]) -> None:
        """Returns when it was said, or is late. What goes wrong at once is the caller's, later the log's."""
        task = asyncio.create_task(saying)
        try:
            await asyncio.wait({task}, timeout=A_MOMENT if len(self._signs) < MOST_SIGNS else None)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            task.result()
            return
        self._signs.add(task)
        task.add_done_callback(self._said_late)

    def _said_late(self, task: asyncio.Task[None]) -> None:
        self._signs.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("not said", exc_info=error)

    def _show_read(self, thread: Thread, event_id: str) -> None:
        """Nobody waits for it, least of all somebody who wants to stop; and nobody misses it in a flood of words."""
        if len(self._signs) >= MOST_SIGNS:
            return
        sign = asyncio.create_task(self._gateway.seen(thread, event_id))
        self._signs.add(sign)
        sign.add_done_callback(self._signs.discard)

    async def _message(self, message: Message, *, direct: bool) -> None:
        thread, within = self._thread_of(message, direct=direct)
        command = command_in(message.text)
        called = message.text.startswith("!") and command is not None
        mention = message.mention or called or (direct and not within)
        if within:
            self._gateway.talked(thread)
        if not mention and (not within or message.to_others or not message.text):
            return
        by = Person(platform=PLATFORM, id=message.sender)
        id, at = message.event_id, message.at
        if not message.text:
            command = Command(word=Word.HELP)
        if command:
            event = Commanded(id=id, at=at, by=by, command=command, mention=mention)
            await self._deliver(thread, event)
            self._show_read(thread, id)
            return
        said = Said(id=id, at=at, by=by, text=message.text, mention=mention)
        if await self._deliver(thread, said) and mention:
            # only of those who were let: strangers must not fill what is remembered
            self._gateway.remember_root(thread, message.sender)
        self._show_read(thread, id)

    def _thread_of(self, message: Message, *, direct: bool) -> tuple[Thread, bool]:
        """And whether it is an answer in it. Who quotes a card of the bot answers in the card's thread."""
        quoted = self._ledger.by_message(message.room, message.replies_to)
        if quoted:
            return quoted.thread, True
        thread = Thread(platform=PLATFORM, channel=message.room, root=message.root, direct=direct)
        return thread, message.root != message.event_id

    async def _reaction(self, reaction: Reaction) -> None:
        placed = self._ledger.by_message(reaction.room, reaction.target)
        if placed is None:
            return
        choice = choice_for(placed, reaction.key)
        late = _former(placed, reaction.key) if choice is None else None
        if choice is None and late is None:
            return
        by = Person(platform=PLATFORM, id=reaction.sender)
        if choice and (card := wanted_next(choice, reaction.event_id)):
            opened = Opened(id=reaction.event_id, at=reaction.at, by=by, verb=choice.verb)
            if await self._deliver(placed.thread, opened):
                await self._say(self._gateway.whisper(placed.thread, by, card))
            return
        await self._press(reaction, placed, choice or late, by)

    async def _press(
        self, reaction: Reaction, placed: Placed, choice: Choice | None, by: Person
    ) -> None:
        if choice is None:
            return
        pressed = Pressed(
            id=reaction.event_id, at=reaction.at, by=by, verb=choice.verb, about=choice.about
        )
        if await self._deliver(placed.thread, pressed) and (done := confirmed(placed, choice)):
            await self._say(self._gateway.whisper(placed.thread, by, done))


def _former(placed: Placed, key: str) -> Choice | None:
    """A chip that was there until the card was decided. What would count without having been asked twice does not."""
    pairs = zip(keys(placed.former), placed.former, strict=True)
    return next((one for chip, one in pairs if chip == key and not one.confirm), None)

"""From what was said in a room to what is wanted of the bot: in which thread, by whom, which choice on which card."""

from __future__ import annotations

import logging

from adapters.chat.matrix.batch import Event, Order
from adapters.chat.matrix.clicking import Clicking
from adapters.chat.matrix.clicks import Clicks
from adapters.chat.matrix.files import Files
from adapters.chat.matrix.gateway import Gateway
from adapters.chat.matrix.heard import Edit, Me, Message, Reaction, Redaction, meaning
from adapters.chat.matrix.saying import Saying
from adapters.posting import Ledger
from bot.domain.choices import Command, Word, command_in
from bot.domain.events import Commanded, Edited, Said
from bot.domain.people import Person, Thread
from bot.errors import Refused
from bot.ports import Deliver, MayAsk, nobody

log = logging.getLogger(__name__)

PLATFORM = "matrix"


class Hearing:
    """Whoever has one closes it: then no sign is given any more."""

    def __init__(
        self,
        me: Me,
        ledger: Ledger,
        clicks: Clicks,
        gateway: Gateway,
        files: Files,
        deliver: Deliver,
        *,
        may_ask: MayAsk = nobody,
        order: Order | None = None,
    ) -> None:
        self._order = order or Order()
        self._may_ask = may_ask
        self._me = me
        self._ledger = ledger
        self._gateway = gateway
        self._files = files
        self._deliver = deliver
        self._saying = Saying()
        self._clicking = Clicking(ledger, clicks, gateway, deliver, self._saying)

    async def hear(self, room: str, event: Event, *, direct: bool) -> None:
        """Returns when it was taken, or is nothing. Unavailable: it was not, and shall come again.

        `direct`: whether the room is a conversation of somebody with the bot alone.
        """
        try:
            match meaning(room, event, self._me):
                case Message() as message:
                    await self._message(message, direct=direct)
                case Edit() as edit:
                    await self._edited(edit)
                case Reaction() as reaction:
                    await self._clicking.clicked(reaction, _person(reaction.sender))
                case Redaction() as redaction:
                    self._gateway.taken_away(redaction.room, redaction.target)
                    await self._clicking.taken_back(redaction)
                case _:
                    pass
        except Refused as refused:
            # somebody could not be answered: hearing it again would not change that
            log.warning("could not be answered", extra={"data": {"reason": refused.reason}})

    async def close(self) -> None:
        await self._saying.close()

    async def _message(self, message: Message, *, direct: bool) -> None:
        thread, within = self._thread_of(message, direct=direct)
        command = command_in(message.text)
        called = message.text.startswith("!") and command is not None
        mention = message.mention or called or (direct and not within)
        if within:
            self._gateway.talked(thread)
        elif not mention:
            await self._clicking.misplaced(message, _person(message.sender))
        if not mention and (not within or message.to_others or not self._says(message, thread)):
            return
        await self._take(thread, message, command, mention=mention, within=within)
        self._saying.sign(self._gateway.seen(thread, message.event_id))

    def _says(self, message: Message, thread: Thread) -> bool:
        """A file without words says something where the bot is at work; people show each other many."""
        return bool(message.text) or (message.file is not None and self._ledger.knows(thread))

    async def _take(
        self,
        thread: Thread,
        message: Message,
        command: Command | None,
        *,
        mention: bool,
        within: bool,
    ) -> None:
        by, id, at = _person(message.sender), message.event_id, message.at
        if not message.text and not message.file:
            command = Command(word=Word.HELP)
        if command:
            event = Commanded(id=id, at=at, by=by, command=command, mention=mention)
            await self._deliver(thread, event)
            return
        unseen = self._ledger.unseen(thread, lambda card: self._order.is_after(card, id))
        if within and message.text and await self._chooses(thread, message, by, unseen):
            return
        # nothing is fetched for a stranger: the gate, which says no, comes after that
        fetched = message.file if self._may_ask(thread, by) else None
        files = (await self._files.read(fetched),) if fetched else ()
        said = Said(
            id=id,
            at=at,
            by=by,
            text=message.text,
            mention=mention,
            files=files,
            unseen=unseen,
        )
        if await self._deliver(thread, said) and mention:
            # only of those who were let: strangers must not fill what is remembered
            self._gateway.remember_root(thread, message.sender)

    async def _chooses(
        self, thread: Thread, message: Message, by: Person, unseen: tuple[str, ...]
    ) -> bool:
        answers = await self._clicking.answers(thread, message, by)
        return answers or await self._clicking.chosen_in_words(thread, message, by, unseen)

    async def _edited(self, edit: Edit) -> None:
        """Of the request itself, by whoever wrote it: an edit does not say in which thread its message stands."""
        thread = Thread(platform=PLATFORM, channel=edit.room, root=edit.target)
        if self._gateway.began(thread) == edit.sender:
            by = _person(edit.sender)
            event = Edited(id=edit.event_id, at=edit.at, by=by, of=edit.target, text=edit.text)
            await self._deliver(thread, event)

    def _thread_of(self, message: Message, *, direct: bool) -> tuple[Thread, bool]:
        """And whether it is an answer in it. Who quotes a card of the bot answers in the card's thread."""
        quoted = self._ledger.by_message(message.room, message.replies_to)
        if quoted:
            return quoted.thread, True
        thread = Thread(platform=PLATFORM, channel=message.room, root=message.root, direct=direct)
        return thread, message.root != message.event_id


def _person(user_id: str) -> Person:
    return Person(platform=PLATFORM, id=user_id)

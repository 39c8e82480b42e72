"""Turns room events into events for the bot: in which thread, by whom, and which choice on which card."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine
from pathlib import PurePosixPath
from urllib.parse import quote

from aiohttp import ClientError, ClientResponse
from nio import AsyncClient

from adapters.matrix.crypto import encrypted_rooms
from adapters.matrix.events import (
    BotIdentity,
    EventOrder,
    HeardEdit,
    HeardMessage,
    MatrixEvent,
    Reaction,
    Redaction,
    SentFile,
    interpret_event,
)
from adapters.matrix.outgoing import MatrixGateway
from adapters.matrix.reactions import (
    already_counted_card,
    answered_card,
    choice_for,
    confirmed_card,
    find_offered_choice,
    find_typed_choice,
    follow_up_card,
    is_confirmation,
    late_choice,
    must_type_card,
    reaction_of,
    taken_back_card,
    wrong_thread_card,
)
from adapters.matrix.storage import Click, Clicks, ClickState
from adapters.posting import PlacedCard, PostingLedger
from bot.core.cards import AnswerCard
from bot.core.choices import Choice, Command, Verb, Word, parse_command
from bot.core.errors import Refused, Unavailable
from bot.core.events import Attached, Commanded, Edited, Opened, Pressed, Said
from bot.core.people import Person, Thread
from bot.core.text import clean
from bot.ports import Deliver, MayAsk, nobody_may_ask

log = logging.getLogger(__name__)

PLATFORM = "matrix"


class IncomingEvents:
    """Handles room events. The owner must call `close`, which ends background replies."""

    def __init__(
        self,
        me: BotIdentity,
        ledger: PostingLedger,
        clicks: Clicks,
        gateway: MatrixGateway,
        files: MatrixFiles,
        deliver: Deliver,
        *,
        may_request: MayAsk = nobody_may_ask,
        order: EventOrder | None = None,
    ) -> None:
        self._order = order or EventOrder()
        self._may_request = may_request
        self._me = me
        self._ledger = ledger
        self._gateway = gateway
        self._files = files
        self._deliver = deliver
        self._replies = BackgroundReplies()
        self._reactions = ReactionHandler(ledger, clicks, gateway, deliver, self._replies)

    async def handle_event(self, room: str, event: MatrixEvent, *, direct: bool) -> None:
        """Handle an event; irrelevant ones are ignored.

        Raises Unavailable if it must be handled again. `direct`: whether the room has only the user and the bot.
        """
        try:
            match interpret_event(room, event, self._me):
                case HeardMessage() as message:
                    await self._handle_message(message, direct=direct)
                case HeardEdit() as edit:
                    await self._handle_edit(edit)
                case Reaction() as reaction:
                    await self._reactions.handle_reaction(reaction, _person_of(reaction.sender))
                case Redaction() as redaction:
                    self._gateway.note_redaction(redaction.room, redaction.target)
                    await self._reactions.handle_redaction(redaction)
                case _:
                    pass
        except Refused as refused:
            # the person could not be answered, and delivering the event again would not change that
            log.warning("could not be answered", extra={"data": {"reason": refused.reason}})

    async def close(self) -> None:
        await self._replies.close()

    async def _handle_message(self, message: HeardMessage, *, direct: bool) -> None:
        thread, within = self._thread_of(message, direct=direct)
        command = parse_command(message.text)
        called = message.text.startswith("!") and command is not None
        mention = message.mention or called or (direct and not within)
        if within:
            self._gateway.note_talk(thread)
        elif not mention:
            await self._reactions.redirect_to_thread(message, _person_of(message.sender))
        if not mention and (
            not within or message.to_others or not self._has_content(message, thread)
        ):
            return
        await self._deliver_message(thread, message, command, mention=mention, within=within)
        self._replies.send_receipt(self._gateway.mark_read(thread, message.event_id))

    def _has_content(self, message: HeardMessage, thread: Thread) -> bool:
        # A file without text counts only where the bot takes part; people exchange many files.
        return bool(message.text) or (message.file is not None and self._ledger.has_cards(thread))

    async def _deliver_message(
        self,
        thread: Thread,
        message: HeardMessage,
        command: Command | None,
        *,
        mention: bool,
        within: bool,
    ) -> None:
        by, id, at = _person_of(message.sender), message.event_id, message.at
        if not message.text and not message.file:
            command = Command(word=Word.HELP)
        if command:
            event = Commanded(id=id, at=at, by=by, command=command, mention=mention)
            await self._deliver(thread, event)
            return
        unseen = self._ledger.unseen(thread, lambda card: self._order.is_after(card, id))
        if within and message.text and await self._is_choice(thread, message, by, unseen):
            return
        # no file is fetched for a stranger: the gate, which refuses, comes after that
        fetched = message.file if self._may_request(thread, by) else None
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
            # only for people with permission: strangers must not fill the memory
            self._gateway.remember_owner(thread, message.sender)

    async def _is_choice(
        self, thread: Thread, message: HeardMessage, by: Person, unseen: tuple[str, ...]
    ) -> bool:
        answers = await self._reactions.take_answer(thread, message, by)
        return answers or await self._reactions.take_typed_choice(thread, message, by, unseen)

    async def _handle_edit(self, edit: HeardEdit) -> None:
        # Only the request itself can be edited, by its author: an edit does not say in which thread its message is.
        thread = Thread(platform=PLATFORM, channel=edit.room, root=edit.target)
        if self._gateway.thread_owner(thread) == edit.sender:
            by = _person_of(edit.sender)
            event = Edited(id=edit.event_id, at=edit.at, by=by, of=edit.target, text=edit.text)
            await self._deliver(thread, event)

    def _thread_of(self, message: HeardMessage, *, direct: bool) -> tuple[Thread, bool]:
        """Return the thread of a message and whether it is a reply in it.

        A message that quotes a card belongs to the card's thread.
        """
        quoted = self._ledger.by_message(message.room, message.replies_to)
        if quoted:
            return quoted.thread, True
        thread = Thread(platform=PLATFORM, channel=message.room, root=message.root, direct=direct)
        return thread, message.root != message.event_id


def _person_of(user_id: str) -> Person:
    return Person(platform=PLATFORM, id=user_id)


# What a reaction causes: a press, a follow-up question, or nothing. One removed before it counted has no effect. Before
# a reaction takes effect it is looked up once more, because a sync may report old events.

_SILENT_VERBS = frozenset({Verb.LOG, Verb.HELPFUL, Verb.UNHELPFUL})
"""Removing such a reaction needs no reply, because nothing was decided by it."""


class ReactionHandler:
    def __init__(
        self,
        ledger: PostingLedger,
        clicks: Clicks,
        gateway: MatrixGateway,
        deliver: Deliver,
        replies: BackgroundReplies,
    ) -> None:
        self._ledger, self._clicks, self._gateway = ledger, clicks, gateway
        self._deliver, self._replies = deliver, replies

    async def handle_reaction(self, reaction: Reaction, by: Person) -> None:
        placed = self._ledger.by_message(reaction.room, reaction.target)
        if placed is None:
            return
        choice = choice_for(placed, reaction.key)
        late = None if choice or is_confirmation(placed) else late_choice(placed, reaction.key)
        meant = choice or late
        if meant is None or not await self._still_exists(reaction, meant):
            return
        click = _click_of(reaction, placed, by, meant)
        if meant.verb in await self._gateway.typed_verbs(reaction.room):
            if choice:
                await self._require_typing(click, placed)
        elif choice:
            await self._choose(click, placed)
        else:
            await self._press(click, placed)

    async def take_typed_choice(
        self, thread: Thread, message: HeardMessage, by: Person, unseen: tuple[str, ...] = ()
    ) -> bool:
        """Whether a message chose an offered choice by its text, in a room where reactions do not count.

        `unseen`: cards that came after the message.
        """
        by_words = await self._gateway.typed_verbs(message.room)
        worded = find_typed_choice(self._ledger.cards(thread), message.text, by_words)
        if worded is None or worded.placed.key in unseen:
            return False
        await self._choose(_click_of(message, worded.placed, by, worded.choice), worded.placed)
        return True

    async def redirect_to_thread(self, message: HeardMessage, by: Person) -> None:
        """Point out the right thread to a person who wrote a card's command in the room itself, so that they do not
        wait in vain.
        """
        offer = find_offered_choice(self._ledger, message.room, message.text)
        if offer is None:
            return
        choice, thread = offer.choice, offer.placed.thread
        opened = Opened(id=message.event_id, at=message.at, by=by, verb=choice.verb)
        if await self._deliver(thread, opened):
            room = thread.model_copy(update={"root": ""})
            await self._replies.send(
                self._gateway.whisper(room, by, wrong_thread_card(choice, thread))
            )

    async def take_answer(self, thread: Thread, message: HeardMessage, by: Person) -> bool:
        """Whether the message is the text this person was asked for; if so, deliver it."""
        click = self._clicks.awaiting_answer(thread, by.id, message.at)
        if click is None:
            return False
        pressed = Pressed(
            id=message.event_id,
            at=message.at,
            by=by,
            verb=click.choice.verb,
            about=click.choice.about,
            text=message.text,
        )
        if not await self._deliver(thread, pressed):
            self._clicks.set_state(click, ClickState.WITHDRAWN)
            return True
        self._clicks.set_state(click, ClickState.COUNTED)
        await self._whisper(click, answered_card(click.choice, click.reaction))
        return True

    async def handle_redaction(self, redaction: Redaction) -> None:
        click = self._clicks.find(redaction.target)
        if click is None or click.thread.channel != redaction.room:
            return
        if click.state is ClickState.ASKED:
            self._clicks.set_state(click, ClickState.WITHDRAWN)
            await self._whisper(click, taken_back_card(click.choice, click.reaction))
        elif click.state is ClickState.COUNTED and redaction.sender == click.by.id:
            await self._whisper(click, already_counted_card(click.choice))

    async def _still_exists(self, reaction: Reaction, choice: Choice) -> bool:
        """Whether the reaction still exists. A stop counts even if the homeserver does not answer."""
        known = self._clicks.find(reaction.event_id)
        if known and known.state is ClickState.WITHDRAWN:
            return False
        try:
            return await self._gateway.event_exists(reaction.room, reaction.event_id)
        except Unavailable:
            if choice.verb is Verb.STOP:
                return True
            raise

    async def _choose(self, click: Click, placed: PlacedCard) -> None:
        if card := follow_up_card(click.choice, click.reaction):
            await self._ask(click, card)
        else:
            await self._press(click, placed)

    async def _require_typing(self, click: Click, placed: PlacedCard) -> None:
        opened = Opened(id=click.reaction, at=click.at, by=click.by, verb=click.choice.verb)
        if await self._deliver(click.thread, opened):
            await self._whisper(click, must_type_card(placed, click.choice))

    async def _ask(self, click: Click, card: AnswerCard) -> None:
        known = self._clicks.find(click.reaction)
        if known and known.state is not ClickState.ASKED:
            return
        opened = Opened(id=click.reaction, at=click.at, by=click.by, verb=click.choice.verb)
        if await self._deliver(click.thread, opened):
            self._clicks.record(known or click)
            await self._whisper(click, card)

    async def _press(self, click: Click, placed: PlacedCard) -> None:
        choice = click.choice
        pressed = Pressed(
            id=click.reaction, at=click.at, by=click.by, verb=choice.verb, about=choice.about
        )
        if not await self._deliver(placed.thread, pressed):
            return
        if choice.verb not in _SILENT_VERBS:
            self._clicks.set_state(click, ClickState.COUNTED)
        if first := self._clicks.find(reaction_of(placed)):
            self._clicks.set_state(first, ClickState.COUNTED)
        if done := confirmed_card(placed, choice):
            await self._whisper(click, done)

    async def _whisper(self, click: Click, card: AnswerCard) -> None:
        await self._replies.send(self._gateway.whisper(click.thread, click.by, card))


def _click_of(
    heard: Reaction | HeardMessage, placed: PlacedCard, by: Person, choice: Choice
) -> Click:
    return Click(
        reaction=heard.event_id,
        thread=placed.thread,
        by=by,
        at=heard.at,
        choice=choice,
        state=ClickState.ASKED,
    )


# Replies sent while events are handled: the room waits for them only briefly, then goes on.

REPLY_WAIT_SECONDS = 1.0
"""Seconds that a room waits for a reply, which may take minutes: its next event may be a stop."""
MAX_REPLIES = 20


class BackgroundReplies:
    """Sends replies in the background; `close` cancels them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, reply: Coroutine[None, None, None]) -> None:
        """Send a reply; return once it is sent or late. An early error is raised, a late one logged."""
        task = asyncio.create_task(reply)
        full = len(self._tasks) >= MAX_REPLIES
        try:
            await asyncio.wait({task}, timeout=None if full else REPLY_WAIT_SECONDS)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            task.result()
            return
        self._tasks.add(task)
        task.add_done_callback(self._log_late_error)

    def send_receipt(self, receipt: Coroutine[None, None, None]) -> None:
        """Send a receipt or similar without waiting. It is skipped if too many replies are under way."""
        if len(self._tasks) >= MAX_REPLIES:
            receipt.close()
            return
        task = asyncio.create_task(receipt)
        self._tasks.add(task)
        task.add_done_callback(self._log_late_error)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _log_late_error(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("not said", exc_info=error)


# Text files attached to a message: their size is checked first, and a file that cannot be read never prevents the
# message from being handled.

MAX_FILE_BYTES = 100_000
FILE_SECONDS = 15.0
_LONGEST_NAME = 100
_MEDIA = re.compile(r"mxc://([A-Za-z0-9.:\[\]-]{1,255})/([A-Za-z0-9_=-]{1,255})")
_TOO_LARGE = f"it is larger than {MAX_FILE_BYTES // 1000} kB, and I read no more than that"
_NO_TEXT = "I read text only, and this is none"
_FILE_MISSING = "the homeserver did not give it to me; please send it again"


class MatrixFiles:
    def __init__(self, client: AsyncClient, *, seconds: float = FILE_SECONDS) -> None:
        self._client, self._seconds = client, seconds

    async def read(self, file: SentFile) -> Attached:
        """Return the text of the file, or the problem."""
        name = shown_name(file)
        media = _MEDIA.fullmatch(file.url)
        if problem := file_problem(file):
            return Attached(name=name, problem=problem)
        if media is None:
            return Attached(name=name, problem=_FILE_MISSING)
        try:
            async with asyncio.timeout(self._seconds):
                data = await self._fetch(*media.groups())
            if file.lock:
                data = encrypted_rooms.decrypt_file(data, file.lock)
        except (ClientError, OSError, TimeoutError):
            return Attached(name=name, problem=_FILE_MISSING)
        except Refused as refused:
            return Attached(name=name, problem=refused.reason)
        return as_text(name, data)

    async def _fetch(self, server: str, media: str) -> bytes:
        path = f"/_matrix/client/v1/media/download/{quote(server, safe=':[]')}/{quote(media)}"
        headers = {"Authorization": f"Bearer {self._client.access_token}"}
        async with await self._client.send("GET", path, headers=headers) as answer:
            answer.raise_for_status()
            return await _read_bounded(answer)


def file_problem(file: SentFile) -> str:
    """Return why the file is not fetched; empty if it is. The size is what the sender claims."""
    if file.kind != "m.file":
        return _NO_TEXT
    return _TOO_LARGE if file.size > MAX_FILE_BYTES else ""


def shown_name(file: SentFile) -> str:
    name = PurePosixPath(" ".join(clean(file.name).split())).name
    return name[:_LONGEST_NAME] or "a file"


def as_text(name: str, data: bytes) -> Attached:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Attached(name=name, problem=_NO_TEXT)
    if "\0" in text:
        return Attached(name=name, problem=_NO_TEXT)
    return (
        Attached(name=name, text=text)
        if text.strip()
        else Attached(name=name, problem="it is empty")
    )


async def _read_bounded(answer: ClientResponse) -> bytes:
    held = bytearray()
    async for chunk in answer.content.iter_chunked(2**14):
        held += chunk
        if len(held) > MAX_FILE_BYTES:
            raise Refused(_TOO_LARGE)
    return bytes(held)

"""MatrixChat implements the chat port: one account with its own sync loop, which posts through the gateway."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from nio import AsyncClient

from adapters.matrix.client import Backoff, MatrixAccess, json_answer
from adapters.matrix.crypto.encrypted_rooms import (
    NO_ENCRYPTOR,
    NO_KEYS,
    Encryptor,
    KeysLost,
    NotifySender,
    reason_text,
)
from adapters.matrix.crypto.setup import (
    LoggedIn,
    RoomEncryption,
    discard_device_keys,
    log_in,
    log_out,
    room_encryption,
)
from adapters.matrix.events import BotIdentity, EventOrder, MatrixEvent, related_event
from adapters.matrix.incoming import IncomingEvents, MatrixFiles
from adapters.matrix.outgoing import MatrixGateway
from adapters.matrix.rooms import MayJoin, MovedRooms, RoomMembership
from adapters.matrix.storage import Clicks, RoomMoves, SyncBookmark, ThreadOwners
from adapters.matrix.sync import SyncLoop
from adapters.posting import PostingLedger, WriteTurns
from bot.core.cards import AnswerCard, Card
from bot.core.choices import Verb
from bot.core.errors import PortError, Unavailable
from bot.core.people import Person, Thread
from bot.ports import Deliver, MayAsk, nobody_may_ask

log = logging.getLogger(__name__)

TWO = 2


@dataclass(frozen=True)
class _Connected:
    """Incoming and outgoing side of a logged-in account."""

    entered: LoggedIn
    ways: RoomEncryption
    gateway: MatrixGateway
    moving: MovedRooms
    tell: NotifySender
    left: AsyncExitStack
    """Resources to close at the end."""


class MatrixChat:
    """Use with `async with`: entering checks that the homeserver accepts the account; one that does not answer does not
    prevent the start.

    `welcome` decides which room invitations the bot accepts, and from whom.
    """

    def __init__(
        self,
        access: MatrixAccess,
        folder: Path,
        may_join: MayJoin,
        *,
        backoff: Backoff | None = None,
        poll: float = 30.0,
        typed_verbs: frozenset[Verb] = frozenset(),
        may_request: MayAsk = nobody_may_ask,
    ) -> None:
        """`typed_verbs`: verbs that a reaction does not trigger in encrypted rooms.

        If there are any, unencrypted messages in such rooms are ignored.
        """
        self._typed_verbs = typed_verbs
        self._may_request = may_request
        self._access = access
        self._folder = folder
        self._may_join = may_join
        self._backoff = backoff or Backoff()
        self._poll = poll
        self._transport: _Connected | None = None
        self._connecting = asyncio.Lock()
        self._turns = WriteTurns()
        self._exit_stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._ledger = await asyncio.to_thread(PostingLedger, self._folder / "cards.jsonl")
        self._roots = await asyncio.to_thread(ThreadOwners, self._folder / "roots.jsonl")
        self._clicks = await asyncio.to_thread(Clicks, self._folder / "clicks.jsonl")
        self._moves = await asyncio.to_thread(RoomMoves, self._folder / "moves.jsonl")
        try:
            await self._connection()
        except Unavailable as trouble:
            log.warning("Matrix is not there yet, I keep trying: %s", trouble.reason)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._exit_stack.aclose()

    async def listen(self, deliver: Deliver) -> None:
        """Deliver messages until cancelled. Raises Refused if the homeserver no longer accepts the account."""
        while True:
            way = await self._backoff.retry("logging in", self._connection)
            try:
                await self._listen(way, deliver)
            except KeysLost as lost:
                log.warning("begun anew", extra={"data": {"why": lost.reason}})
                # the old connection stays open, because calls on it may still be under way
                await asyncio.to_thread(discard_device_keys, way.entered, self._folder)
                self._transport = None

    async def _listen(self, connection: _Connected, deliver: Deliver) -> None:
        client = connection.entered.client
        me = BotIdentity(client.user_id, await _display_name(client))
        home = connection.moving.deliver_to_origin(deliver)
        order = EventOrder(client.user_id, self._ledger.messages_with_choices())
        hearing = IncomingEvents(
            me,
            self._ledger,
            self._clicks,
            connection.gateway,
            MatrixFiles(client),
            home,
            may_request=lambda thread, by: self._may_request(
                connection.moving.original_thread(thread), by
            ),
            order=order,
        )

        async def hear(room: str, event: MatrixEvent) -> None:
            await hearing.handle_event(room, event, direct=_is_direct(client, room))

        bookmark = await asyncio.to_thread(
            SyncBookmark, self._folder, client.user_id, client.device_id or ""
        )
        rooms = RoomMembership(client, self._may_join, connection.moving.watching(deliver))
        sync = SyncLoop(
            client,
            rooms,
            bookmark,
            hear,
            poll=self._poll,
            backoff=self._backoff,
            decryptor=connection.ways.decryptor(connection.tell),
            order=order,
        )
        try:
            await sync.run()
        finally:
            await hearing.close()

    async def show(self, thread: Thread, card: Card) -> None:
        way = await self._connection()
        await way.gateway.show(await way.moving.current_thread(thread), card)

    async def open(self, thread: Thread, card: Card) -> Thread:
        way = await self._connection()
        return await way.gateway.open(await way.moving.current_thread(thread), card)

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        way = await self._connection()
        await way.gateway.whisper(await way.moving.current_thread(thread), person, card)

    async def _connection(self) -> _Connected:
        async with self._connecting:
            if self._transport is None:
                self._transport = await self._connect()
                self._exit_stack.push_async_callback(self._transport.left.aclose)
            return self._transport

    async def _connect(self) -> _Connected:
        async with AsyncExitStack() as left:
            entered = await log_in(self._access, self._folder)
            left.push_async_callback(log_out, entered)
            found = room_encryption(entered, self._folder, only_encrypted=bool(self._typed_verbs))
            left.callback(found.left.close)
            gateway = plain = self._gateway(entered, found.encryptor, left)
            if entered.problem:
                # without keys the bot says so in clear text, and sends nothing else in clear
                plain = self._gateway(entered, NO_ENCRYPTOR, left)
            tell = UnreadableNotices(plain, self._ledger).notify
            moving = MovedRooms(entered.client, gateway, self._ledger, self._moves, self._may_join)
            return _Connected(entered, found, gateway, moving, tell, left.pop_all())

    def _gateway(
        self, entered: LoggedIn, encryptor: Encryptor, left: AsyncExitStack
    ) -> MatrixGateway:
        gateway = MatrixGateway(
            entered.client,
            self._ledger,
            self._turns,
            self._roots,
            encryptor=encryptor,
            typed_verbs=self._typed_verbs,
        )
        left.push_async_callback(gateway.close)
        return gateway


async def _display_name(client: AsyncClient) -> str:
    """Return the bot's display name, which people type before a request; empty if it is unknown, which the bot
    tolerates.
    """
    try:
        told = await json_answer("Asking for my name", client.get_displayname())
    except PortError:
        return ""
    name = told.get("displayname")
    return name if isinstance(name, str) else ""


def _is_direct(client: AsyncClient, room: str) -> bool:
    """Whether the room has exactly two members, the user and the bot.

    A named room never counts as direct, however few members it has.
    """
    known = client.rooms.get(room)
    if known is None or known.name or known.canonical_alias:
        return False
    return known.joined_count + known.invited_count == TWO


# Tells people that the bot could not read a message of theirs, and why: once per reason, in its thread or room.

PLATFORM = "matrix"


class UnreadableNotices:
    def __init__(self, gateway: MatrixGateway, ledger: PostingLedger) -> None:
        self._gateway, self._ledger = gateway, ledger

    async def notify(self, room: str, event: MatrixEvent, code: str) -> None:
        """Report an unreadable message. An empty `code` means that nothing can be read in the room at all."""
        if not code:
            thread = Thread(platform=PLATFORM, channel=room, root="")
            await self._gateway.show(thread, AnswerCard(key="encrypted", title=NO_KEYS))
            return
        person = Person(platform=PLATFORM, id=str(event.get("sender")))
        card = AnswerCard(key=f"unreadable:{code}", title=reason_text(code))
        await self._gateway.whisper(self._thread_of(room, event), person, card)

    def _thread_of(self, room: str, event: MatrixEvent) -> Thread:
        """Return the thread if the bot works in it, otherwise the room itself: strangers may create any number of
        threads.
        """
        thread = Thread(platform=PLATFORM, channel=room, root=related_event(event))
        return thread if self._ledger.has_cards(thread) else thread.model_copy(update={"root": ""})

"""The chat port on Matrix: one account, listened to by a loop of its own, speaking through the gateway."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from nio import AsyncClient

from adapters.chat.matrix.account import MatrixAccess
from adapters.chat.matrix.answers import ask
from adapters.chat.matrix.batch import Event, Order
from adapters.chat.matrix.clicks import Clicks
from adapters.chat.matrix.crypto import Entered, Ways, enter, forget, leave, ways
from adapters.chat.matrix.crypto.seal import OPEN, Seal
from adapters.chat.matrix.crypto.unseal import KeysLost, Tell
from adapters.chat.matrix.excuses import Excuses
from adapters.chat.matrix.files import Files
from adapters.chat.matrix.gateway import Gateway
from adapters.chat.matrix.heard import Me
from adapters.chat.matrix.hearing import Hearing
from adapters.chat.matrix.moves import Moves
from adapters.chat.matrix.moving import Moving
from adapters.chat.matrix.patience import Patience
from adapters.chat.matrix.rooms import Rooms, Welcome
from adapters.chat.matrix.roots import Roots
from adapters.chat.matrix.state import Bookmark
from adapters.chat.matrix.sync import Sync
from adapters.posting import Ledger, Turns
from bot.domain.cards import Card
from bot.domain.choices import Verb
from bot.domain.people import Person, Thread
from bot.errors import PortError, Unavailable
from bot.ports import Deliver, MayAsk, nobody

log = logging.getLogger(__name__)

TWO = 2


@dataclass(frozen=True)
class _Way:
    """Both ways, once the homeserver has let the bot in."""

    entered: Entered
    ways: Ways
    gateway: Gateway
    moving: Moving
    tell: Tell
    left: AsyncExitStack
    """What is closed at the end."""


class MatrixChat:
    """Used as `async with`: it looks whether the homeserver lets the bot in before anything begins. One that does not
    answer is no reason not to begin. `welcome` says into which rooms the bot comes, and on whose invitation."""

    def __init__(
        self,
        access: MatrixAccess,
        folder: Path,
        welcome: Welcome,
        *,
        patience: Patience | None = None,
        poll: float = 30.0,
        by_words: frozenset[Verb] = frozenset(),
        may_ask: MayAsk = nobody,
    ) -> None:
        """`by_words`: what a reaction does not do in encrypted rooms. Where there is any, words in clear are not heard there."""
        self._by_words = by_words
        self._may_ask = may_ask
        self._access = access
        self._folder = folder
        self._welcome = welcome
        self._patience = patience or Patience()
        self._poll = poll
        self._way: _Way | None = None
        self._connecting = asyncio.Lock()
        self._turns = Turns()
        self._left = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._ledger = await asyncio.to_thread(Ledger, self._folder / "cards.jsonl")
        self._roots = await asyncio.to_thread(Roots, self._folder / "roots.jsonl")
        self._clicks = await asyncio.to_thread(Clicks, self._folder / "clicks.jsonl")
        self._moves = await asyncio.to_thread(Moves, self._folder / "moves.jsonl")
        try:
            await self._connected()
        except Unavailable as trouble:
            log.warning("Matrix is not there yet, I keep trying: %s", trouble.reason)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._left.aclose()

    async def listen(self, deliver: Deliver) -> None:
        """Until cancelled. Refused: the homeserver does not want this account any more."""
        while True:
            way = await self._patience.until_done("logging in", self._connected)
            try:
                await self._listen(way, deliver)
            except KeysLost as lost:
                log.warning("begun anew", extra={"data": {"why": lost.reason}})
                # what is being said on the old way may still be said there
                await asyncio.to_thread(forget, way.entered, self._folder)
                self._way = None

    async def _listen(self, way: _Way, deliver: Deliver) -> None:
        client = way.entered.client
        me = Me(client.user_id, await _name(client))
        home = way.moving.home(deliver)
        order = Order(client.user_id, self._ledger.messages())
        hearing = Hearing(
            me,
            self._ledger,
            self._clicks,
            way.gateway,
            Files(client),
            home,
            may_ask=lambda thread, by: self._may_ask(way.moving.origin(thread), by),
            order=order,
        )

        async def hear(room: str, event: Event) -> None:
            await hearing.hear(room, event, direct=_is_direct(client, room))

        bookmark = await asyncio.to_thread(
            Bookmark, self._folder, client.user_id, client.device_id or ""
        )
        rooms = Rooms(client, self._welcome, way.moving.watching(deliver))
        sync = Sync(
            client,
            rooms,
            bookmark,
            hear,
            poll=self._poll,
            patience=self._patience,
            unseal=way.ways.unseal(way.tell),
            order=order,
        )
        try:
            await sync.run()
        finally:
            await hearing.close()

    async def show(self, thread: Thread, card: Card) -> None:
        way = await self._connected()
        await way.gateway.show(await way.moving.place(thread), card)

    async def open(self, thread: Thread, card: Card) -> Thread:
        way = await self._connected()
        return await way.gateway.open(await way.moving.place(thread), card)

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        way = await self._connected()
        await way.gateway.whisper(await way.moving.place(thread), person, card)

    async def _connected(self) -> _Way:
        async with self._connecting:
            if self._way is None:
                self._way = await self._enter()
                self._left.push_async_callback(self._way.left.aclose)
            return self._way

    async def _enter(self) -> _Way:
        async with AsyncExitStack() as left:
            entered = await enter(self._access, self._folder)
            left.push_async_callback(leave, entered)
            found = ways(entered, self._folder, only_encrypted=bool(self._by_words))
            left.callback(found.left.close)
            gateway = excuses = self._gateway(entered, found.seal, left)
            if entered.problem:
                # who has no keys says so in clear, and says nothing else
                excuses = self._gateway(entered, OPEN, left)
            tell = Excuses(excuses, self._ledger).tell
            moving = Moving(entered.client, gateway, self._ledger, self._moves, self._welcome)
            return _Way(entered, found, gateway, moving, tell, left.pop_all())

    def _gateway(self, entered: Entered, seal: Seal, left: AsyncExitStack) -> Gateway:
        gateway = Gateway(
            entered.client,
            self._ledger,
            self._turns,
            self._roots,
            seal=seal,
            by_words=self._by_words,
        )
        left.push_async_callback(gateway.close)
        return gateway


async def _name(client: AsyncClient) -> str:
    """As it is shown. People type it in front of what they want; without it they are understood as well."""
    try:
        told = await ask("Asking for my name", client.get_displayname())
    except PortError:
        return ""
    name = told.get("displayname")
    return name if isinstance(name, str) else ""


def _is_direct(client: AsyncClient, room: str) -> bool:
    """Somebody and the bot, and nobody else who could read along. A room with a name is a room, however few are there."""
    known = client.rooms.get(room)
    if known is None or known.name or known.canonical_alias:
        return False
    return known.joined_count + known.invited_count == TWO

"""The chat port on Matrix: one account, listened to by a loop of its own, speaking through the gateway."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from nio import AsyncClient

from adapters.chat.matrix.account import MatrixAccess, connect
from adapters.chat.matrix.answers import ask
from adapters.chat.matrix.batch import Event
from adapters.chat.matrix.gateway import Gateway
from adapters.chat.matrix.heard import Me
from adapters.chat.matrix.hearing import Hearing
from adapters.chat.matrix.patience import Patience
from adapters.chat.matrix.rooms import Rooms, Welcome
from adapters.chat.matrix.roots import Roots
from adapters.chat.matrix.state import Bookmark
from adapters.chat.matrix.sync import Sync
from adapters.posting import Ledger, Turns
from bot.domain.cards import Card
from bot.domain.people import Person, Thread
from bot.errors import PortError, Unavailable
from bot.ports import Deliver

log = logging.getLogger(__name__)

TWO = 2


@dataclass(frozen=True)
class _Way:
    """Both ways, once the homeserver has let the bot in."""

    client: AsyncClient
    gateway: Gateway


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
    ) -> None:
        self._access = access
        self._folder = folder
        self._welcome = welcome
        self._patience = patience or Patience()
        self._poll = poll
        self._way: _Way | None = None
        self._connecting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        self._ledger = await asyncio.to_thread(Ledger, self._folder / "cards.jsonl")
        self._roots = await asyncio.to_thread(Roots, self._folder / "roots.jsonl")
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
        if self._way:
            await self._way.client.close()

    async def listen(self, deliver: Deliver) -> None:
        """Until cancelled. Refused: the homeserver does not want this account any more."""
        way = await self._patience.until_done("logging in", self._connected)
        client = way.client
        me = Me(client.user_id, await _name(client))
        hearing = Hearing(me, self._ledger, way.gateway, deliver)

        async def hear(room: str, event: Event) -> None:
            await hearing.hear(room, event, direct=_is_direct(client, room))

        bookmark = await asyncio.to_thread(
            Bookmark, self._folder, client.user_id, client.device_id or ""
        )
        rooms = Rooms(client, self._welcome, _moved)
        sync = Sync(client, rooms, bookmark, hear, poll=self._poll, patience=self._patience)
        try:
            await sync.run()
        finally:
            await hearing.close()

    async def show(self, thread: Thread, card: Card) -> None:
        await (await self._connected()).gateway.show(thread, card)

    async def open(self, thread: Thread, card: Card) -> Thread:
        return await (await self._connected()).gateway.open(thread, card)

    async def whisper(self, thread: Thread, person: Person, card: Card) -> None:
        await (await self._connected()).gateway.whisper(thread, person, card)

    async def _connected(self) -> _Way:
        async with self._connecting:
            if self._way is None:
                client = await connect(self._access)
                gateway = Gateway(client, self._ledger, Turns(), self._roots)
                self._way = _Way(client, gateway)
            return self._way


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


async def _moved(old: str, new: str) -> None:
    log.warning(
        "invite the bot into the new room, and add it to MATRIX_ROOMS",
        extra={"data": {"old": old, "new": new}},
    )

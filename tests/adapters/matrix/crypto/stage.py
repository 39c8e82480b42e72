"""The bot and Anna in an encrypted room: over as many lives of the bot as wanted, on what each wrote down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adapters.matrix.chat import MatrixChat
from adapters.matrix.client import MatrixAccess
from adapters.matrix.crypto.decryption import (
    EventDecryptor,
    ReplayGuard,
    RoomDecryptor,
    WaitingMessages,
)
from adapters.matrix.crypto.identities import IDENTITIES_FILE, DeviceOwners
from adapters.matrix.crypto.machine import OlmMachine
from adapters.matrix.crypto.setup import LoggedIn, log_in, log_out
from adapters.matrix.events import MatrixEvent
from adapters.matrix.rooms import RoomMembership
from adapters.matrix.storage import SyncBookmark
from adapters.matrix.sync import SyncLoop
from bot.core.choices import Verb
from bot.core.events import FromPeople, Said
from bot.core.people import Thread
from tests.adapters.matrix.listening import QUICK, Unwatched, until
from tests.beds.synapse import Confidant, Person, Proxy


def everywhere(*_: object) -> bool:
    return True


PASSWORD = "pw"  # noqa: S105 - of users that live as long as a test


@dataclass
class Secret:
    """`folder` is all that a life of the bot leaves to the next."""

    anna: Confidant
    bot: Person
    room: str
    proxy: Proxy
    folder: Path
    password: str = ""
    by_words: frozenset[Verb] = frozenset()
    heard: list[tuple[Thread, FromPeople]] = field(default_factory=list[tuple[Thread, FromPeople]])

    @property
    def access(self) -> MatrixAccess:
        login = self.bot.login
        return MatrixAccess(self.proxy.url, login.user_id, login.access_token, self.password)

    @property
    def texts(self) -> list[str]:
        return [event.text for _, event in self.heard if isinstance(event, Said)]

    @property
    def thread(self) -> Thread:
        """One that the bot may speak in, whoever hangs it there."""
        return Thread(platform="matrix", channel=self.room, root="")

    @asynccontextmanager
    async def there(self) -> AsyncGenerator[MatrixChat]:
        """The bot is there, and listens to nobody."""
        chat = MatrixChat(
            self.access, self.folder, everywhere, backoff=QUICK, typed_verbs=self.by_words
        )
        async with chat:
            yield chat

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[MatrixChat]:
        async with self.there() as chat:
            task = asyncio.create_task(chat.listen(self._deliver))
            try:
                await until(lambda: task.done() or self._bookmark().since)
                yield chat
            finally:
                task.cancel()
                await asyncio.wait({task})
            if not task.cancelled():
                task.result()

    async def hears(self, *texts: str) -> None:
        await until(lambda: set(texts) <= set(self.texts))

    async def sees(self, wanted: Callable[[str], bool]) -> None:
        """Anna reads something of the bot that is as wanted."""
        await self.anna.until(lambda: any(wanted(text) for text in self.read()))

    def read(self) -> list[str]:
        """What Anna can read of the bot's."""
        return [post.text for post in self.anna.posts(self.room) if post.sender == self.bot.id]

    async def device(self, user: str = "", device: str = "") -> MatrixEvent:
        """What everybody can know of the bot's device."""
        user, device = user or self.bot.id, device or self.bot.login.device_id
        return (await self.keys(user))["device_keys"][user].get(device, {})

    async def keys(self, user: str = "") -> MatrixEvent:
        user = user or self.bot.id
        return await self.anna.call("POST", "keys/query", {"device_keys": {user: []}})

    async def master(self) -> str:
        keys = (await self.keys()).get("master_keys", {}).get(self.bot.id, {}).get("keys", {})
        return next(iter(keys.values()), "")

    def _bookmark(self) -> SyncBookmark:
        return SyncBookmark(self.folder, self.bot.id, "")

    async def _deliver(self, thread: Thread, event: FromPeople) -> bool:
        if event.id not in {known.id for _, known in self.heard}:
            self.heard.append((thread, event))
        return True


@dataclass
class Ear:
    """What is heard of a room's events, and of which somebody was told that they are not. The clock is in its hands."""

    secret: Secret
    now: float = 1_000_000.0
    heard: list[MatrixEvent] = field(default_factory=list[MatrixEvent])
    told: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The id of a message, and why it was not heard."""

    @property
    def texts(self) -> list[str]:
        return [e["content"]["body"] for e in self.heard if e["type"] == "m.room.message"]

    @property
    def waiting(self) -> tuple[str, ...]:
        """What it keeps for later."""
        return tuple(one.id for one in self._waiting_room().all())

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[LoggedIn]:
        secret = self.secret
        place = secret.folder / "crypto"
        entered = await log_in(secret.access, secret.folder)
        replays = ReplayGuard(place / "opened.db")
        machine = OlmMachine(entered.client, entered.wire, DeviceOwners(place / IDENTITIES_FILE))
        unsealing = RoomDecryptor(
            machine,
            EventDecryptor(machine, replays),
            self._waiting_room(),
            entered.rooms,
            self._tell,
            clock=lambda: self.now,
        )
        bookmark = SyncBookmark(secret.folder, secret.bot.id, "")
        rooms = RoomMembership(entered.client, everywhere, Unwatched())
        sync = SyncLoop(
            entered.client,
            rooms,
            bookmark,
            self._hear,
            poll=0.2,
            backoff=QUICK,
            decryptor=unsealing,
        )
        task = asyncio.create_task(sync.run())
        try:
            await until(lambda: task.done() or bookmark.since)
            yield entered
        finally:
            task.cancel()
            await asyncio.wait({task})
            replays.close()
            await log_out(entered)
        if not task.cancelled():
            task.result()

    async def hears(self, text: str) -> None:
        await until(lambda: text in self.texts)

    def _waiting_room(self) -> WaitingMessages:
        return WaitingMessages(self.secret.folder / "crypto" / "waiting.json")

    async def _hear(self, room: str, event: MatrixEvent) -> None:
        if event["event_id"] not in {one["event_id"] for one in self.heard}:
            self.heard.append(event)

    async def _tell(self, room: str, event: MatrixEvent, code: str) -> None:
        self.told.append((event["event_id"], code))

"""The bot in a room of a real homeserver, as far as it shows cards: it can lose its answers, and begin anew."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from adapters.matrix.client import MatrixAccess, connect
from adapters.matrix.outgoing import MatrixGateway
from adapters.matrix.storage import ThreadOwners
from adapters.posting import PostingLedger, WriteTurns
from bot.core.people import Thread
from tests.beds.synapse import Homeserver, Person, Post, Proxy


class Accounts:
    """Anna and the bot, whose room has threads of many tests."""

    def __init__(self, homeserver: Homeserver) -> None:
        names = (f"{name}-{secrets.token_hex(4)}" for name in ("anna", "bot"))
        self.logins = tuple(homeserver.register(name) for name in names)
        self._room = ""

    async def room(self, anna: Person, bot: Person) -> str:
        if not self._room:
            room = await anna.create_room(bot.id)
            await bot.join(room)
            self._room = room
        return self._room


@dataclass
class PostingStage:
    """Anna asks in a room, the bot answers in the thread."""

    anna: Person
    bot: Person
    room: str
    root: str
    proxy: Proxy
    folder: Path
    left: AsyncExitStack
    ledger: PostingLedger = field(init=False)
    gateway: MatrixGateway = field(init=False)

    @property
    def thread(self) -> Thread:
        return Thread(platform="matrix", channel=self.room, root=self.root)

    async def begin(self, ledger: PostingLedger | None = None) -> MatrixGateway:
        """Another life of the bot, on what the one before it wrote down."""
        login = self.bot.login
        client = await connect(MatrixAccess(self.proxy.url, login.user_id, login.access_token))
        self.left.push_async_callback(client.close)
        self.ledger = ledger or PostingLedger(self.folder / "cards.jsonl")
        roots = ThreadOwners(self.folder / "roots.jsonl")
        self.gateway = MatrixGateway(client, self.ledger, WriteTurns(), roots)
        self.left.push_async_callback(self.gateway.close)
        return self.gateway

    async def seen(self, wanted: Callable[[tuple[Post, ...]], bool] | None = None) -> list[Post]:
        """What the bot has said in the thread and stands there, as Anna sees it once it is as wanted."""
        mark = await self.anna.say(self.room, "-")

        def there() -> bool:
            posts = self.anna.posts(self.room)
            synced = any(post.event_id == mark for post in posts)
            return synced and (wanted is None or wanted(tuple(self._standing())))

        await self.anna.until(there)
        return self._standing()

    async def root_keys(self) -> tuple[str, ...]:
        await self.seen()
        return next(p for p in self.anna.posts(self.room) if p.event_id == self.root).keys

    def _standing(self) -> list[Post]:
        found = self.anna.thread(self.room, self.root)
        return [p for p in found if p.sender == self.bot.id and not p.redacted]

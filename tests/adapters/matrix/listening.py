"""A bot that does nothing but listen, and keeps what it heard: for tests of the way in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.matrix.client import Backoff, MatrixAccess, connect
from adapters.matrix.events import MatrixEvent
from adapters.matrix.rooms import JoinedRoom, RoomMembership
from adapters.matrix.storage import SyncBookmark
from adapters.matrix.sync import SyncLoop
from tests.beds.synapse import Login

QUICK = Backoff(0.02, 0.1)


class Ear:
    """What one account hears, over as many starts as wanted: its folder stays."""

    def __init__(self, url: str, login: Login, folder: Path) -> None:
        self.url, self.login, self.folder = url, login, folder
        self.heard: list[tuple[str, MatrixEvent]] = []
        self.invited: list[tuple[str, str, bool]] = []
        """Inviter, room, direct."""
        self.moved: list[tuple[str, str]] = []
        self.entered: list[tuple[str, str]] = []
        """Room, and who brought it there."""
        self.lost: list[str] = []
        self.friends: set[str] = set()
        """Whose invitations are welcome."""
        self.before_hearing: Callable[[MatrixEvent], object] = lambda _: None
        """Called with each event before it is taken. It may raise; what it returns is awaited if it can be."""
        self.listening: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def open(
        self, *, poll: float = 30, grace: float = 10, page: int = 100, patience: Backoff = QUICK
    ) -> AsyncGenerator[asyncio.Task[None]]:
        """Listen, from the first answer of the homeserver to the end of the block."""
        client = await connect(MatrixAccess(self.url, self.login.user_id, self.login.access_token))
        sync = SyncLoop(
            client,
            RoomMembership(client, self._welcome, self),
            self.bookmark(),
            self._hear,
            poll=poll,
            grace=grace,
            page=page,
            backoff=patience,
        )
        task = asyncio.create_task(sync.run())
        try:
            await self._until_began(task)
            yield task
        finally:
            task.cancel()
            await asyncio.wait({task})
            await client.close()

    def bookmark(self) -> SyncBookmark:
        return SyncBookmark(self.folder, self.login.user_id, self.login.device_id)

    def texts(self, room: str) -> list[str]:
        """What was said in a room, in the order in which it was heard."""
        return [event["content"]["body"] for event in self.messages(room)]

    def ids(self, room: str) -> list[str]:
        return [event["event_id"] for event in self.messages(room)]

    def messages(self, room: str) -> list[MatrixEvent]:
        return [
            event
            for where, event in self.heard
            if where == room and event["type"] == "m.room.message"
        ]

    async def _hear(self, room: str, event: MatrixEvent) -> None:
        made = self.before_hearing(event)
        if asyncio.iscoroutine(made):
            await made
        self.heard.append((room, event))

    def _welcome(self, inviter: str, room: str, direct: bool) -> bool:
        self.invited.append((inviter, room, direct))
        return inviter in self.friends

    async def replaced(self, old: str, new: str) -> None:
        self.moved.append((old, new))

    async def bot_joined(self, room: str, entered: JoinedRoom) -> None:
        self.entered.append((room, entered.by))

    async def bot_removed(self, room: str) -> None:
        self.lost.append(room)

    async def _until_began(self, task: asyncio.Task[None]) -> None:
        """The first start of all hears nothing of what was said before its token is on disk."""
        await until(lambda: task.done() or self.bookmark().since is not None)


class Unwatched:
    """Nobody minds what becomes of rooms."""

    async def replaced(self, old: str, new: str) -> None:
        return

    async def bot_joined(self, room: str, entered: JoinedRoom) -> None:
        return

    async def bot_removed(self, room: str) -> None:
        return


async def until(true: Callable[[], object], seconds: float = 120) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - a file, another process or another task changes it
            await asyncio.sleep(0.01)

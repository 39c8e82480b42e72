"""The people of one test: users nobody else has, who share one connection pool."""

from __future__ import annotations

import secrets
from contextlib import AsyncExitStack

from aiohttp import ClientSession

from tests.beds.synapse.confidant import Confidant
from tests.beds.synapse.person import Person
from tests.beds.synapse.server import Homeserver


class People:
    """Whoever has them closes them."""

    def __init__(self, homeserver: Homeserver, session: ClientSession) -> None:
        self.homeserver = homeserver
        self._session = session
        self._left = AsyncExitStack()

    async def close(self) -> None:
        await self._left.aclose()

    def __call__(self, name: str) -> Person:
        """Somebody new. The full id is the name and some letters, so that no other test has the same."""
        login = self.homeserver.register(f"{name}-{secrets.token_hex(4)}")
        return Person(self.homeserver.url, login, self._session)

    async def confidant(self, name: str) -> Confidant:
        """Somebody new, with a client that encrypts."""
        login = self.homeserver.register(f"{name}-{secrets.token_hex(4)}")
        return await self._appeared(Confidant(self.homeserver.url, login, self._session))

    async def elsewhere(self, one: Confidant) -> Confidant:
        """The same person, logged in on one more device."""
        login = self.homeserver.login(one.id)
        return await self._appeared(Confidant(self.homeserver.url, login, self._session))

    async def _appeared(self, one: Confidant) -> Confidant:
        self._left.push_async_callback(one.close)
        await one.appear()
        return one

    async def room(self, owner: Person, *others: Person) -> str:
        """A room with everybody in it already."""
        room = await owner.create_room(*(one.id for one in others))
        for one in others:
            await one.join(room)
        return room

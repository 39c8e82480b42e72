"""Mika in an encrypted room with the bot at work: what only those in the room can read, and what the homeserver saw of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from adapters.matrix.crypto import encrypted_rooms
from tests.beds.synapse import Confidant, Homeserver, Login, People, Post
from tests.stories.matrix_person import MatrixPerson
from tests.stories.serving import Serving, in_matrix, serving

_IN_CLEAR = ("m.reaction", "m.room.redaction", "m.room.member")
"""What Matrix has no encryption for."""


@dataclass
class Secret:
    """`mika` speaks, `person` is her client."""

    bot: Serving
    mika: MatrixPerson
    person: Confidant
    account: Login

    @property
    def files(self) -> list[Post]:
        return [post for post in self.mika.cards if post.type == "m.file"]

    async def read(self, file: Post) -> str:
        """What only who has the key in the message can."""
        assert "url" not in file.content, "anybody could read that"
        lock = cast("dict[str, Any]", file.content["file"])
        return encrypted_rooms.decrypt_file(
            await self.person.download(str(lock["url"])), lock
        ).decode()

    def in_clear(self) -> Iterator[object]:
        """What the bot has let the homeserver read."""
        for event in self.person.wire:
            mine = event["sender"] == self.account.user_id
            if mine and event["type"] not in (*_IN_CLEAR, "m.room.encrypted"):
                yield event

    async def devices(self) -> dict[str, Any]:
        """Those that others know of the bot."""
        user = self.account.user_id
        told = await self.person.call("POST", "keys/query", {"device_keys": {user: []}})
        return cast("dict[str, Any]", told["device_keys"][user])


@asynccontextmanager
async def in_a_secret_room(
    folder: Path, homeserver: Homeserver, people: People, **environ: str
) -> AsyncGenerator[Secret, None]:
    """The bot has come into an encrypted room of Mika's, who may do everything."""
    person, account = await people.confidant("mika"), people("gwt")
    room = await person.create_room()
    await person.encrypt(room)
    settings = in_matrix(homeserver.url, account.login, room, person.id)
    async with serving(folder, **settings, **environ) as bot:
        mika = MatrixPerson(person, account.id, room)
        bot.start()
        await mika.invites_the_bot()
        yield Secret(bot, mika, person, account.login)

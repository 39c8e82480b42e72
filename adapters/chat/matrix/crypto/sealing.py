"""Seals what is sent into an encrypted room: one key at a time in a room, known to every device of everybody there.

Nothing is sent before all have the key; who cannot be given it now is the reason to try again, never to go on without.
"""

from __future__ import annotations

import asyncio

from adapters.chat.matrix.answers import Json
from adapters.chat.matrix.batch import memberships, objects
from adapters.chat.matrix.crypto.machine import Machine
from adapters.chat.matrix.crypto.rooms import EncryptedRooms, Rotation
from adapters.chat.matrix.crypto.seal import REACTION
from adapters.chat.matrix.crypto.wire import quoted
from bot.errors import Unavailable

_THERE = frozenset(("join", "invite"))
_TRIES = 5


class Sealing:
    def __init__(self, machine: Machine, rooms: EncryptedRooms) -> None:
        self._machine, self._rooms = machine, rooms
        self._turns: dict[str, asyncio.Lock] = {}

    async def is_encrypted(self, room: str) -> bool:
        return await self._rooms.rotation(room) is not None

    async def sealed(self, room: str, kind: str, content: Json) -> tuple[str, Json]:
        if kind == REACTION:
            return kind, content
        rotation = await self._rooms.rotation(room)
        if rotation is None:
            return kind, content
        async with self._turns.setdefault(room, asyncio.Lock()):
            if self._machine.olm.should_share_group_session(room):
                await self._share(room, rotation)
            # no waiting from here on: somebody who leaves meanwhile has another key made first
            plain = {"type": kind, "content": content}
            sealed: Json = dict(self._machine.olm.group_encrypt(room, plain))
        if relation := content.get("m.relates_to"):
            sealed["m.relates_to"] = relation
        return "m.room.encrypted", sealed

    async def _share(self, room: str, rotation: Rotation) -> None:
        """A new key. One that only some were given is given up: who has it may have left before the others have it."""
        for _ in range(_TRIES):
            self._machine.give_up_key(room)
            if await self._is_shared(room):
                session = self._machine.olm.outbound_group_sessions[room]
                session.max_age, session.max_messages = rotation.age, rotation.messages
                session.shared = True
                return
        raise Unavailable("People come and go so fast that no key for them could be agreed on.")

    async def _is_shared(self, room: str) -> bool:
        """With all who are there; not, if somebody has left or logged a device out meanwhile."""
        olm = self._machine.olm
        users = await self._members(room)
        unknown = users - olm.tracked_users
        while True:
            await self._machine.query(unknown)
            unknown = set[str]()
            if missing := olm.get_missing_sessions(sorted(users)):
                await self._machine.claim(missing)
            if not await self._shared_with_all(room, users):
                break  # and nobody has got another device meanwhile
        there = await self._members(room)
        session = olm.outbound_group_sessions.get(room)
        given = session.users_shared_with if session else set()
        devices = {
            (user, one.id)
            for user in there
            for one in olm.device_store.active_user_devices(user)
            if not one.blacklisted
        }
        return session is not None and there <= users and given <= devices

    async def _shared_with_all(self, room: str, users: set[str]) -> bool:
        """Whether there was anybody who did not have the key."""
        olm = self._machine.olm
        sharing = olm.share_group_session_parallel(
            room, sorted(users), ignore_unverified_devices=True
        )
        some = False
        for devices, body in sharing:
            await self._machine.tell_devices("m.room.encrypted", body["messages"])
            if (session := olm.outbound_group_sessions.get(room)) is None:
                return False  # somebody has left meanwhile
            session.users_shared_with.update(devices)
            some = True
        return some

    async def _members(self, room: str) -> set[str]:
        """Those who come later have another key: whoever is invited reads along from now on. Not the bot itself, which
        has one device: any other that the homeserver names would be somebody else's."""
        path = f"rooms/{quoted(room)}/members"
        told = await self._machine.wire.call("Asking who is in the room", "GET", path)
        there = {one.user for one in memberships(objects(told.get("chunk"))) if one.now in _THERE}
        return there - {self._machine.olm.user_id}

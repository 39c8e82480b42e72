"""Seals what is sent into an encrypted room: one key at a time in a room, known to every device of everybody there.

Nothing is sent before all have the key; who cannot be given it now is the reason to try again, never to go on without.
"""

from __future__ import annotations

import asyncio

from adapters.chat.matrix.answers import Json
from adapters.chat.matrix.crypto.machine import Machine
from adapters.chat.matrix.crypto.rooms import EncryptedRooms, Rotation
from adapters.chat.matrix.crypto.seal import REACTION
from adapters.chat.matrix.crypto.wire import quoted

_THERE = frozenset(("join", "invite"))


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
        olm = self._machine.olm
        there = olm.outbound_group_sessions.get(room)
        if there is not None and there.expired:
            del olm.outbound_group_sessions[room]
        users = await self._members(room)
        unknown = set(users) - olm.tracked_users
        while True:
            await self._machine.query(unknown)
            unknown = set()
            if missing := olm.get_missing_sessions(users):
                await self._machine.claim(missing)
            if not await self._shared_with_all(room, users):
                break  # and nobody has got another device meanwhile
        session = olm.outbound_group_sessions[room]
        session.max_age, session.max_messages = rotation.age, rotation.messages
        session.shared = True

    async def _shared_with_all(self, room: str, users: list[str]) -> bool:
        """Whether there was anybody who did not have the key."""
        olm = self._machine.olm
        sharing = olm.share_group_session_parallel(room, users, ignore_unverified_devices=True)
        some = False
        for devices, body in sharing:
            await self._machine.tell_devices("m.room.encrypted", body["messages"])
            olm.outbound_group_sessions[room].users_shared_with.update(devices)
            some = True
        return some

    async def _members(self, room: str) -> list[str]:
        """Those who come later have another key: whoever is invited reads along from now on."""
        path = f"rooms/{quoted(room)}/members"
        told = await self._machine.wire.call("Asking who is in the room", "GET", path)
        return [
            str(event["state_key"])
            for event in told.get("chunk", ())
            if event.get("content", {}).get("membership") in _THERE
        ]

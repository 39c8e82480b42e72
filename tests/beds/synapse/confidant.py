"""Somebody whose client encrypts: says and sees in encrypted rooms what others say and see in clear ones.

What the homeserver was told is still there, in `wire`.
"""

from __future__ import annotations

import secrets
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from aiohttp import ClientSession

from tests.beds.synapse.person import Person
from tests.beds.synapse.seen import Json
from tests.beds.synapse.server import Login

if TYPE_CHECKING:
    from tests.beds.synapse.identity import Identity


ENCRYPTION: Json = {"algorithm": "m.megolm.v1.aes-sha2"}


class Confidant(Person):
    """Whoever has one closes it."""

    def __init__(self, url: str, login: Login, session: ClientSession) -> None:
        super().__init__(url, login, session)
        self.wire: list[Json] = []
        """Events of rooms as they came."""
        self.to_device: list[Json] = []
        self._nio: Any = import_module("nio")  # it has no types
        store: Any = import_module("nio.store").SqliteMemoryStore
        config = self._nio.AsyncClientConfig(store=store, encryption_enabled=True)
        self.client: Any = self._nio.AsyncClient(url, login.user_id, login.device_id, config=config)
        self.client.restore_login(login.user_id, login.device_id, login.access_token)

    async def close(self) -> None:
        self.client.store.database.close()
        await self.client.close()

    async def encrypt(self, room: str, **settings: object) -> None:
        """From now on the room is encrypted, for good."""
        await self.state(room, "m.room.encryption", {**ENCRYPTION, **settings})

    async def appear(self) -> None:
        """Let others know this device."""
        if self.client.should_upload_keys:
            await self.client.keys_upload()

    async def shows(self, identity: Identity) -> None:
        """Others know it from now on as what vouches for this person's devices."""
        body = {name.removesuffix("s"): key for name, key in identity.keys().items()}
        await self.call("POST", "keys/device_signing/upload", body)
        await self.vouches(identity)

    async def vouches(self, identity: Identity, device: str = "") -> None:
        """For a device of this person's; for this one."""
        name = device or self.login.device_id
        told = await self.call("POST", "keys/query", {"device_keys": {self.id: [name]}})
        signed = identity.signs(told["device_keys"][self.id][name])
        await self.call("POST", "keys/signatures/upload", {self.id: {name: signed}})

    async def forget_key(self, room: str) -> None:
        """What is said next has another one, which goes to everybody again."""
        self.client.invalidate_outbound_session(room)

    async def keep_key(self, room: str) -> Json:
        """What is said next has a key that nobody else gets: the words with which it could be given."""
        await self.look(0)
        self.client.olm.create_outbound_group_session(room)
        session = self.client.olm.outbound_group_sessions[room]
        session.shared = True
        return {
            "algorithm": ENCRYPTION["algorithm"],
            "room_id": room,
            "session_id": session.id,
            "session_key": session.session_key,
        }

    async def give_key(self, key: Json, user_id: str) -> None:
        """To every device of somebody."""
        self.client.olm.users_for_key_query.add(user_id)
        await self.client.keys_query()
        if missing := self.client.olm.get_missing_sessions([user_id]):
            await self.client.keys_claim(missing)
        messages: dict[str, Json] = {}
        for device in self.client.olm.device_store.active_user_devices(user_id):
            session = self.client.olm.session_store.get(device.curve25519)
            sealed = self.client.olm._olm_encrypt(session, device, "m.room_key", key)
            messages[device.id] = sealed
        await self.tell_devices("m.room.encrypted", user_id, cast("Json", messages))

    async def tell_devices(self, kind: str, user_id: str, messages: Json) -> None:
        """Something to devices of somebody, by their ids; `*`: to all."""
        path = f"sendToDevice/{kind}/{secrets.token_hex(8)}"
        await self.call("PUT", path, {"messages": {user_id: messages}})

    def sealed(self, room: str, kind: str, content: Json) -> Json:
        """What would be sent, unsent."""
        _, cipher = self.client.encrypt(room, kind, content)
        return cast("Json", cipher)

    async def download(self, url: str) -> bytes:
        """A file as the homeserver keeps it."""
        answer = await self.client.download(url)
        return cast("bytes", answer.body)

    async def send(self, room: str, kind: str, content: Json) -> str:
        await self.appear()
        await self.look(0)
        known = self.client.rooms.get(room)
        if known is None or not known.encrypted or kind in ("m.reaction", "m.room.encrypted"):
            return await super().send(room, kind, content)
        answer = await self.client.room_send(room, kind, content, ignore_unverified_devices=True)
        return str(answer.event_id)

    async def call(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        query: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        told = await super().call(method, path, body, query=query)
        if path == "sync":
            await self._take(told)
            for news in told.get("rooms", {}).get("join", {}).items():
                self._open(*news)
        elif path.endswith("/messages"):
            self._open_page(unquote(path.split("/")[1]), told)
        return told

    async def _take(self, told: dict[str, Any]) -> None:
        self.to_device += told.get("to_device", {}).get("events", [])
        answer: Any = self._nio.SyncResponse.from_dict(_copied(told))
        await self.client.receive_response(answer)
        await self.appear()
        if self.client.should_query_keys:
            await self.client.keys_query()

    def _open(self, room: str, news: dict[str, Any]) -> None:
        timeline: dict[str, Any] = news["timeline"]
        timeline["events"] = self._all_opened(room, timeline["events"])

    def _open_page(self, room: str, told: dict[str, Any]) -> None:
        told["chunk"] = self._all_opened(room, told["chunk"])

    def _all_opened(self, room: str, events: list[Json]) -> list[Json]:
        self.wire += events
        return [self._opened(room, event) for event in events]

    def _opened(self, room: str, event: Json) -> Json:
        if event["type"] != "m.room.encrypted":
            return event
        parsed: Any = self._nio.Event.parse_encrypted_event(_copied(event))
        if not isinstance(parsed, self._nio.MegolmEvent):
            return event
        clear: Any = self.client.olm.decrypt_event(parsed, room)
        if clear is None:
            return event
        source: Json = clear.source
        return {**event, "type": source["type"], "content": source["content"]}


def _copied(value: Any) -> Any:
    """nio changes what it reads."""
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {name: _copied(one) for name, one in found.items()}
    if isinstance(value, list):
        return [_copied(one) for one in cast("list[Any]", value)]
    return value

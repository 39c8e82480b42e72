"""A homeserver in memory that does what it is told, and devices of people who write what they like. No network."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import vodozemac
from nio import AsyncClient, AsyncClientConfig
from nio.responses import SyncResponse

from adapters.matrix.client import ClientApi, Json
from adapters.matrix.crypto import device
from adapters.matrix.crypto.decryption import EventDecryptor, ReplayGuard
from adapters.matrix.crypto.encrypted_rooms import EncryptedRooms
from adapters.matrix.crypto.identities import (
    IDENTITIES_FILE,
    DeviceOwners,
    canonical_json,
    with_signature,
)
from adapters.matrix.crypto.machine import MEGOLM, OlmMachine, RoomEncryptor

# pyright: reportMissingTypeStubs=false, reportPrivateUsage=false
# nio has no stubs, and no word for some of what a device of others has to know


ROOM, BOT, ALICE, EVE = "!room:x", "@bot:x", "@alice:x", "@eve:x"
OLM = "m.olm.v1.curve25519-aes-sha2"


async def nothing(_: str) -> None:
    pass


@dataclass
class PlayedHomeserver:
    """What is asked of it by its path; `meanwhile` happens before it answers."""

    members: set[str] = field(default_factory=lambda: {BOT, ALICE, EVE})
    devices: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    identities: dict[str, Json] = field(default_factory=dict[str, Json])
    """By user, what an answer says of it besides the devices: a key of each kind."""
    owners: dict[tuple[str, str], Device] = field(default_factory=dict[tuple[str, str], "Device"])
    sent: list[Json] = field(default_factory=list[Json])
    """To devices, by user and device id."""
    meanwhile: Callable[[str], Awaitable[None]] = nothing

    def add(self, device: Device, keys: Json | None = None) -> Device:
        self.devices.setdefault(device.user, {})[device.id] = keys or device.keys()
        self.owners[device.user, device.id] = device
        return device

    async def call(self, _: str, method: str, path: str, body: Json | None = None) -> Json:
        asked = body or {}
        if path == "keys/query":
            known = self.devices.keys() & asked["device_keys"].keys()
            answer: Json = {"device_keys": {user: dict(self.devices[user]) for user in known}}
            for user in known & self.identities.keys():
                for kind, key in self.identities[user].items():
                    answer.setdefault(kind, {})[user] = key
            answer = json.loads(json.dumps(answer))
            await self.meanwhile(path)
            return answer
        await self.meanwhile(path)
        if path == "keys/claim":
            wanted = asked["one_time_keys"]
            return {
                "one_time_keys": {
                    user: {name: self.owners[user, name].one_time_key() for name in names}
                    for user, names in wanted.items()
                }
            }
        if path.endswith("/members"):
            return {"chunk": [joins(user) for user in self.members]}
        assert (method, path.partition("/")[0]) == ("PUT", "sendToDevice")
        self.sent.append(asked["messages"])
        return {}

    def told(self, user: str) -> int:
        """How often something was sent to devices of this person."""
        return sum(user in messages for messages in self.sent)


class Device:
    def __init__(self, user: str, device: str = "D") -> None:
        self.user, self.id = user, device
        self._account = vodozemac.Account()
        self._account.generate_one_time_keys(20)
        self._left = list(self._account.one_time_keys.items())
        self.signing = self._account.ed25519_key.to_base64()
        self.curve = self._account.curve25519_key.to_base64()

    def keys(self, signing: str = "", **unsigned: object) -> Json:
        """As the homeserver tells of it."""
        keys = {f"ed25519:{self.id}": signing or self.signing, f"curve25519:{self.id}": self.curve}
        whole = {"algorithms": [OLM, MEGOLM], "device_id": self.id, "user_id": self.user}
        return self._signed({**whole, "keys": keys}) | unsigned

    def one_time_key(self) -> Json:
        name, key = self._left.pop()
        return {f"signed_curve25519:{name}": self._signed({"key": key.to_base64()})}

    def gives(self, to: OlmMachine, key: vodozemac.GroupSession, *, first: str = "") -> Json:
        """The event that brings a room's key to the bot's device. `first`: the key as it was in the beginning."""
        account: Any = to.olm.account._account  # nio has no word for it
        account.generate_one_time_keys(1)
        one = next(iter(account.one_time_keys.values()))
        session = self._account.create_outbound_session(account.curve25519_key, one)
        to.olm.account.mark_keys_as_published()
        content = {
            "algorithm": MEGOLM,
            "room_id": ROOM,
            "session_id": key.session_id,
            "session_key": first or key.session_key.to_base64(),
        }
        mine = to.olm.account.identity_keys
        payload = {
            "sender": self.user,
            "sender_device": self.id,
            "keys": {"ed25519": self.signing},
            "recipient": BOT,
            "recipient_keys": {"ed25519": mine["ed25519"]},
            "type": "m.room_key",
            "content": content,
        }
        kind, text = session.encrypt(json.dumps(payload).encode()).to_parts()
        body = {"type": kind, "body": base64.b64encode(text).decode().rstrip("=")}
        sealed = {
            "algorithm": OLM,
            "sender_key": self.curve,
            "ciphertext": {mine["curve25519"]: body},
        }
        return {"type": "m.room.encrypted", "sender": self.user, "content": sealed}

    def says(self, key: vodozemac.GroupSession, plain: str, event_id: str = "$1") -> Json:
        content = {
            "algorithm": MEGOLM,
            "session_id": key.session_id,
            "ciphertext": key.encrypt(plain.encode()).to_base64(),
        }
        named = {"event_id": event_id, "sender": self.user, "origin_server_ts": 1}
        return {**named, "type": "m.room.encrypted", "content": content}

    def _signed(self, value: Json) -> Json:
        signature = self._account.sign(canonical_json(value)).to_base64()
        return with_signature(value, self.user, f"ed25519:{self.id}", signature)


@dataclass(frozen=True)
class Bot:
    client: AsyncClient
    machine: OlmMachine
    opener: EventDecryptor
    sealing: RoomEncryptor
    there: PlayedHomeserver

    async def hears(self, *events: Json) -> None:
        """What a sync tells of the room, taken as `Sync` takes it."""
        told = news(*events)
        self.machine.process_sync(told)
        answer = SyncResponse.from_dict(told)
        assert isinstance(answer, SyncResponse)
        await self.client.receive_response(answer)

    def takes(self, *events: Json) -> None:
        """What is sent to its device."""
        self.machine.process_sync({"to_device": {"events": list(events)}})

    async def writes(self) -> str:
        """Something into the room: the name of the key it is sealed with."""
        content = {"msgtype": "m.text", "body": "secret"}
        _, sealed = await self.sealing.encrypt(ROOM, "m.room.message", content)
        return sealed["session_id"]


@asynccontextmanager
async def bot_in_a_room(folder: Path) -> AsyncGenerator[Bot]:
    """An encrypted one, with Alice and Eve, each on one device."""
    there = PlayedHomeserver()
    there.add(Device(ALICE))
    there.add(Device(EVE))
    config = AsyncClientConfig(store_sync_tokens=False, encryption_enabled=False)
    client = AsyncClient("http://127.0.0.1:1", BOT, config=config)
    client.restore_login(BOT, "BOT", "token")
    device.load_keys(client, folder)
    wire = cast("ClientApi", there)
    machine = OlmMachine(client, wire, DeviceOwners(folder / IDENTITIES_FILE))
    machine.olm.account.shared = True
    replays = ReplayGuard(folder / "opened.db")
    rooms = EncryptedRooms(wire, folder / "rooms.jsonl")
    bot = Bot(
        client, machine, EventDecryptor(machine, replays), RoomEncryptor(machine, rooms), there
    )
    encrypted = {**joins(ALICE), "type": "m.room.encryption", "state_key": ""}
    encrypted["content"] = {"algorithm": MEGOLM}
    rooms.note_encryption(news(encrypted))
    await bot.hears(encrypted, joins(BOT), joins(ALICE), joins(EVE))
    try:
        yield bot
    finally:
        replays.close()
        await client.close()


def joins(user: str, membership: str = "join", **more: object) -> Json:
    return {
        "type": "m.room.member",
        "event_id": "$m",
        "sender": user,
        "state_key": user,
        "origin_server_ts": 1,
        "content": {"membership": membership, **more},
    }


def news(*events: Json) -> Json:
    timeline = {"events": list(events), "limited": False, "prev_batch": "p"}
    room: Json = {
        "timeline": timeline,
        "state": {"events": []},
        "ephemeral": {"events": []},
        "account_data": {"events": []},
    }
    return {
        "next_batch": "s",
        "device_one_time_keys_count": {"signed_curve25519": 50},
        "device_lists": {},
        "to_device": {"events": []},
        "presence": {"events": []},
        "rooms": {"join": {ROOM: room}, "leave": {}, "invite": {}},
    }

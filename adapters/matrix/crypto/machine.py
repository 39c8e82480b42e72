"""nio's Olm machine, fed and emptied so that nothing is lost and nobody can stop it; and encryption for a room.

What must not be lost is on disk before the homeserver learns of it. What came from strangers is taken one by one, so
that a broken part spoils no other.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from nio import AsyncClient
from nio.crypto import Olm, OlmDevice
from nio.events import ToDeviceEvent
from nio.responses import KeysClaimResponse, KeysQueryResponse, KeysUploadResponse, ToDeviceResponse

from adapters.matrix import events as matrix_events
from adapters.matrix.client import ClientApi, Json, SignedOut, quote_id
from adapters.matrix.crypto.encrypted_rooms import (
    CHANGED,
    REACTION,
    EncryptedRooms,
    KeysLost,
    Rotation,
)
from adapters.matrix.crypto.identities import (
    DeviceOwners,
    has_same_keys,
    is_key,
    one_time_keys,
    sound_devices,
)
from adapters.matrix.events import memberships, objects_in
from bot.core.errors import PortError, Refused, Unavailable

log = logging.getLogger(__name__)

ALGORITHM = "signed_curve25519"
MEGOLM = "m.megolm.v1.aes-sha2"
WITHHELD = "m.room_key.withheld"
_MOST_KEYS = 100
_AN_HOUR = timedelta(hours=1)
_NAME_TAKEN = "already exists"
"""What homeservers say of a key whose name another one has; they have no code for it."""
OnWithheld = Callable[[str, Json], None]
"""Who does not give a key, and what they say of it."""


class OlmMachine:
    def __init__(self, client: AsyncClient, wire: ClientApi, owners: DeviceOwners) -> None:
        if client.olm is None:
            raise TypeError("the store of the keys is not loaded")
        self._client, self.wire, self.owners = client, wire, owners
        self.olm: Olm = client.olm
        self.withheld: OnWithheld = lambda _, __: None
        self._wants_fallback = False
        self._querying = asyncio.Lock()

    # ── what came ──

    def take(self, told: Json) -> None:
        """An answer to a sync: what was sent to this device, and how many of its keys are left."""
        # none is told by leaving it out, which nio takes for no news
        self.olm.uploaded_key_count = _keys_left(told.get("device_one_time_keys_count"))
        unused = told.get("device_unused_fallback_key_types")
        self._wants_fallback = isinstance(unused, list) and ALGORITHM not in unused
        for room, news in matrix_events.rooms_in(told, "join").items():
            self._notice_members(room, news)
        for event in matrix_events.to_device_events(told):
            match event.get("type"):
                case "m.room.encrypted" if is_key(event["content"].get("sender_key")):
                    self._open(event)
                case kind if kind == WITHHELD:
                    self.withheld(str(event.get("sender", "")), event["content"])
                case _:
                    pass

    def _notice_members(self, room: str, news: Json) -> None:
        """nio does not count who comes or leaves with something odd in the event, which its sender can put there."""
        for part in ("state", "timeline"):
            for one in matrix_events.memberships(matrix_events.events_in(news, part)):
                if one.changed:
                    self.give_up_key(room)
                    # what became of their devices while no room was shared was not told
                    self.olm.users_for_key_query |= {one.user} & self.olm.tracked_users

    def give_up_key(self, room: str) -> None:
        """What is said next in that room is encrypted with another one."""
        self.olm.outbound_group_sessions.pop(room, None)

    def _open(self, event: Json) -> None:
        try:
            parsed = ToDeviceEvent.parse_encrypted_event(event)
            self.olm.handle_to_device_event(parsed)
        except Exception as error:  # noqa: BLE001 - see below
            # of whatever kind: what a stranger sends must not end the listening
            log.warning(
                "a message to this device cannot be opened", extra={"data": _about(event, error)}
            )
            self._begin_anew_with(event)

    def _begin_anew_with(self, event: Json) -> None:
        """Let a device that uses a key which is lost know another one."""
        sender, key = event.get("sender"), event["content"].get("sender_key")
        device = self.olm.device_store.device_from_sender_key(str(sender), str(key))
        if device is None or device in self.olm.wedged_devices:
            return
        session = self.olm.session_store.get(device.curve25519)
        if session is None or datetime.now() - session.creation_time > _AN_HOUR:  # noqa: DTZ005 - as nio
            self.olm.wedged_devices.append(device)

    # ── what is due ──

    async def keep_up(self) -> None:
        """After every sync. What does not work now is due again after the next; KeysLost: never will."""
        try:
            await self.upload()
            await self.query()
            if self.olm.wedged_devices or self.olm.key_request_devices_no_session:
                await self.claim(self.olm.get_users_for_key_claiming())
            await self._send_waiting()
        except (SignedOut, KeysLost):
            raise
        except PortError as error:
            log.info("keys have to wait", extra={"data": {"why": error.reason}})

    async def upload(self) -> None:
        """This device and keys for those who want to write to it. Kept before they are told: else some would be lost."""
        content: Json = {}
        first = not self.olm.account.shared
        if self.olm.should_upload_keys:
            content = self.olm.share_keys()
        if first or self._wants_fallback:
            content["fallback_keys"] = self._fallback()
        if not content:
            return
        self.olm.save_account()
        try:
            told = await self.wire.call("Telling of my keys", "POST", "keys/upload", content)
        except Refused as error:
            if _NAME_TAKEN in error.reason:
                raise KeysLost("The keys of my Matrix device are not those it had last.") from error
            raise
        left = _keys_left(told.get("one_time_key_counts"))
        self.olm.handle_response(KeysUploadResponse(0, left))
        self._wants_fallback = False

    def _fallback(self) -> Json:
        """The key that is used when all others are: a bot that was away for weeks can still be written to."""
        account: Any = self.olm.account._account  # nio has no word for it, nor have its types
        if not account.fallback_key:
            account.generate_fallback_key()
        keys: Json = {}
        for name, key in account.fallback_key.items():
            value: Json = {"key": key.to_base64(), "fallback": True}
            signature = self.olm.sign_json(value)
            value["signatures"] = {self.olm.user_id: {f"ed25519:{self.olm.device_id}": signature}}
            keys[f"{ALGORITHM}:{name}"] = value
        return keys

    async def query(self, users: Iterable[str] = ()) -> None:
        """The devices of these, and of all who have changed some. One question at a time: no answer overtakes a newer one."""
        async with self._querying:
            changed = self.olm.users_for_key_query
            due = set(changed)
            if not (wanted := {*due, *users}):
                return
            # who changes something from here on is asked about again
            changed.clear()
            try:
                body: Json = {"device_keys": {user: [] for user in wanted}}
                told = await self.wire.call("Asking for devices", "POST", "keys/query", body)
                again = set(changed)
                found = sound_devices(matrix_events.object_at(told, "device_keys"))
                for user, devices in found.items():
                    await self._know(user, devices, told)
            except BaseException:
                changed |= due
                raise
            # a homeserver that was away is asked about its people again
            changed |= again | (due - found.keys())

    async def _know(self, user: str, devices: Json, told: Json) -> None:
        try:
            await self._client.receive_response(KeysQueryResponse({user: devices}, {}))
        except Exception as error:  # noqa: BLE001 - see below
            self._stumbled(user, error)
        for name in devices:
            if device := self.olm.device_store[user].get(name):
                device.deleted = False  # it was not told of for a while
        try:
            self._believe(user, devices, told)
        except PortError:
            raise
        except Exception as error:  # noqa: BLE001 - see below
            # the store of the devices: what could not be marked there is nobody's until it is asked about again
            self._stumbled(user, error)
            for device in self.olm.device_store[user].values():
                device.deleted |= not self.is_theirs(device)

    def _stumbled(self, user: str, error: Exception) -> None:
        """One person, of whatever kind the fault is."""
        data = {"user": user, "why": type(error).__name__}
        log.warning("somebody has broken devices", extra={"data": data})

    def _believe(self, user: str, devices: Json, told: Json) -> None:
        """Mark those as theirs that are, and the others as nobody's; what changes has another key made."""
        olm = self.olm
        if user == olm.user_id:
            return  # the bot has one device
        theirs = self.owners.vouched(user, devices, told)
        for name, payload in devices.items():
            device = olm.device_store[user].get(name)
            if device is None or not self.owners.knows(user):
                continue
            # nio keeps the keys a device was first told with
            if self._marked(device, name in theirs and has_same_keys(device, payload)):
                self._give_up_keys_of(device)

    def _marked(self, device: OlmDevice, theirs: bool) -> bool:
        """Whether that is news. What is theirs stays so while another identity is only told of."""
        if theirs:
            return self.olm.verify_device(device)
        if device.verified and self.owners.problem(device.user_id) == CHANGED:
            return False
        return self.olm.blacklist_device(device)

    def _give_up_keys_of(self, device: OlmDevice) -> None:
        """Those it has been given, or was not."""
        one = (device.user_id, device.id)
        for room, session in tuple(self.olm.outbound_group_sessions.items()):
            if one in session.users_shared_with | session.users_ignored:
                self.give_up_key(room)

    def is_theirs(self, device: OlmDevice) -> bool:
        """Whether what it says is said by the person it is told to be of."""
        return device.verified or not self.owners.knows(device.user_id)

    async def claim(self, devices: dict[str, list[str]]) -> None:
        """A key of each device, to begin a conversation with it."""
        body: Json = {
            "one_time_keys": {
                user: dict.fromkeys(names, ALGORITHM) for user, names in devices.items()
            }
        }
        told = await self.wire.call("Asking for keys", "POST", "keys/claim", body)
        for user, device, keys in one_time_keys(matrix_events.object_at(told, "one_time_keys")):
            try:
                self.olm.handle_response(KeysClaimResponse({user: {device: keys}}, {}))
            except Exception as error:  # noqa: BLE001 - see below
                # one device of one person, of whatever kind the fault is
                data = {"user": user, "device": device, "why": type(error).__name__}
                log.warning("a device has a broken key", extra={"data": data})

    async def tell_devices(self, kind: str, messages: Json) -> None:
        """Send to devices, by user and device id."""
        path = f"sendToDevice/{kind}/{secrets.token_hex(16)}"
        await self.wire.call("Writing to devices", "PUT", path, {"messages": messages})

    async def _send_waiting(self) -> None:
        for message in tuple(self.olm.outgoing_to_device_messages):
            await self.tell_devices(message.type, message.as_dict()["messages"])
            self.olm.handle_response(ToDeviceResponse(message))


def _keys_left(told: object) -> int:
    """How many of this device's keys the homeserver has left."""
    count = told.get(ALGORITHM) if isinstance(told, dict) else 0
    return min(max(count, 0), _MOST_KEYS) if isinstance(count, int) else 0


def _about(event: Json, error: Exception) -> Json:
    return {"from": str(event.get("sender", "")), "why": type(error).__name__}


# Encrypts what is sent into a room: one key at a time, known to every device of everybody there.
# Nothing is sent before all have the key. Somebody who cannot be given it now is a reason to try
# again, never to go on without.

_PRESENT = frozenset(("join", "invite"))
_SHARING_TRIES = 5


class RoomEncryptor:
    def __init__(self, machine: OlmMachine, rooms: EncryptedRooms) -> None:
        self._machine, self._rooms = machine, rooms
        self._turns: dict[str, asyncio.Lock] = {}

    async def is_encrypted(self, room: str) -> bool:
        return await self._rooms.rotation(room) is not None

    async def encrypt(self, room: str, kind: str, content: Json) -> tuple[str, Json]:
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
            encrypted: Json = dict(self._machine.olm.group_encrypt(room, plain))
        if relation := content.get("m.relates_to"):
            encrypted["m.relates_to"] = relation
        return "m.room.encrypted", encrypted

    async def _share(self, room: str, rotation: Rotation) -> None:
        """A new key. One that only some were given is given up: who has it may have left before the others have it."""
        for _ in range(_SHARING_TRIES):
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
        path = f"rooms/{quote_id(room)}/members"
        told = await self._machine.wire.call("Asking who is in the room", "GET", path)
        there = {
            one.user for one in memberships(objects_in(told.get("chunk"))) if one.now in _PRESENT
        }
        return there - {self._machine.olm.user_id}

"""Feeds nio's Olm machine so that nothing is lost and nobody can block it, and encrypts for rooms.

What must not be lost is on disk before the homeserver learns of it. Input from strangers is handled item by item, so
that one broken part spoils no other.
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
    valid_devices,
)
from adapters.matrix.events import get_objects, memberships
from bot.core.errors import PortError, Refused, Unavailable

log = logging.getLogger(__name__)

ALGORITHM = "signed_curve25519"
MEGOLM = "m.megolm.v1.aes-sha2"
WITHHELD = "m.room_key.withheld"
_MOST_KEYS = 100
_AN_HOUR = timedelta(hours=1)
_NAME_TAKEN = "already exists"
"""The text homeservers use for a key whose id is already taken; there is no error code for it."""
OnWithheld = Callable[[str, Json], None]
"""Called with the sender and the content of a notice that a key is withheld."""


class OlmMachine:
    def __init__(self, client: AsyncClient, wire: ClientApi, owners: DeviceOwners) -> None:
        if client.olm is None:
            raise TypeError("the store of the keys is not loaded")
        self._client, self.wire, self.owners = client, wire, owners
        self.olm: Olm = client.olm
        self.withheld: OnWithheld = lambda _, __: None
        self._needs_fallback_key = False
        self._querying = asyncio.Lock()

    # ── incoming ──

    def process_sync(self, response: Json) -> None:
        """Process a sync response: messages to this device, and how many of its one-time keys are left."""
        # a missing entry means that none are left, but nio would keep the old count
        self.olm.uploaded_key_count = _keys_left(response.get("device_one_time_keys_count"))
        unused = response.get("device_unused_fallback_key_types")
        self._needs_fallback_key = isinstance(unused, list) and ALGORITHM not in unused
        for room, news in matrix_events.rooms_of_kind(response, "join").items():
            self._notice_members(room, news)
        for event in matrix_events.to_device_events(response):
            match event.get("type"):
                case "m.room.encrypted" if is_key(event["content"].get("sender_key")):
                    self._open(event)
                case kind if kind == WITHHELD:
                    self.withheld(str(event.get("sender", "")), event["content"])
                case _:
                    pass

    def _notice_members(self, room: str, news: Json) -> None:
        # nio ignores membership changes whose event has odd content, which its sender controls.
        for part in ("state", "timeline"):
            for one in matrix_events.memberships(matrix_events.room_events(news, part)):
                if one.changed:
                    self.discard_room_key(room)
                    # changes of their devices were not reported while no room was shared
                    self.olm.users_for_key_query |= {one.user} & self.olm.tracked_users

    def discard_room_key(self, room: str) -> None:
        """Encrypt the next message in that room with a new key."""
        self.olm.outbound_group_sessions.pop(room, None)

    def _open(self, event: Json) -> None:
        try:
            parsed = ToDeviceEvent.parse_encrypted_event(event)
            self.olm.handle_to_device_event(parsed)
        except Exception as error:  # noqa: BLE001 - see below
            # any exception: a stranger's message must not end the listening
            log.warning(
                "a message to this device cannot be opened", extra={"data": _about(event, error)}
            )
            self._restart_session(event)

    def _restart_session(self, event: Json) -> None:
        """Start a new session with a device that uses one whose key is lost."""
        sender, key = event.get("sender"), event["content"].get("sender_key")
        device = self.olm.device_store.device_from_sender_key(str(sender), str(key))
        if device is None or device in self.olm.wedged_devices:
            return
        session = self.olm.session_store.get(device.curve25519)
        if session is None or datetime.now() - session.creation_time > _AN_HOUR:  # noqa: DTZ005 - as nio
            self.olm.wedged_devices.append(device)

    # ── outgoing ──

    async def send_pending(self) -> None:
        """Send what is due after every sync. What fails is due again after the next one; KeysLost is final."""
        try:
            await self.upload_keys()
            await self.query_devices()
            if self.olm.wedged_devices or self.olm.key_request_devices_no_session:
                await self.claim_keys(self.olm.get_users_for_key_claiming())
            await self._send_waiting()
        except (SignedOut, KeysLost):
            raise
        except PortError as error:
            log.info("keys have to wait", extra={"data": {"why": error.reason}})

    async def upload_keys(self) -> None:
        """Upload the device's keys. They are saved before they are uploaded; otherwise some would be lost."""
        content: Json = {}
        first = not self.olm.account.shared
        if self.olm.should_upload_keys:
            content = self.olm.share_keys()
        if first or self._needs_fallback_key:
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
        self._needs_fallback_key = False

    def _fallback(self) -> Json:
        """Return the fallback key, which is used when all one-time keys are, so that a bot that was away for weeks can
        still receive messages.
        """
        account: Any = self.olm.account._account  # nio has no public API for it
        if not account.fallback_key:
            account.generate_fallback_key()
        keys: Json = {}
        for name, key in account.fallback_key.items():
            value: Json = {"key": key.to_base64(), "fallback": True}
            signature = self.olm.sign_json(value)
            value["signatures"] = {self.olm.user_id: {f"ed25519:{self.olm.device_id}": signature}}
            keys[f"{ALGORITHM}:{name}"] = value
        return keys

    async def query_devices(self, users: Iterable[str] = ()) -> None:
        """Query the devices of these users and of all with changes.

        One query runs at a time, so that no answer overtakes a newer one.
        """
        async with self._querying:
            changed = self.olm.users_for_key_query
            due = set(changed)
            if not (wanted := {*due, *users}):
                return
            # users who change something from here on are queried again
            changed.clear()
            try:
                body: Json = {"device_keys": {user: [] for user in wanted}}
                told = await self.wire.call("Asking for devices", "POST", "keys/query", body)
                again = set(changed)
                found = valid_devices(matrix_events.get_object(told, "device_keys"))
                for user, devices in found.items():
                    await self._update_devices(user, devices, told)
            except BaseException:
                changed |= due
                raise
            # users missing in the answer, because their homeserver was away, are queried again
            changed |= again | (due - found.keys())

    async def _update_devices(self, user: str, devices: Json, told: Json) -> None:
        try:
            await self._client.receive_response(KeysQueryResponse({user: devices}, {}))
        except Exception as error:  # noqa: BLE001 - see below
            self._log_broken_devices(user, error)
        for name in devices:
            if device := self.olm.device_store[user].get(name):
                device.deleted = False  # it was missing in an earlier answer
        try:
            self._mark_devices(user, devices, told)
        except PortError:
            raise
        except Exception as error:  # noqa: BLE001 - see below
            # an error of the device store: a device that could not be marked is not trusted until the next query
            self._log_broken_devices(user, error)
            for device in self.olm.device_store[user].values():
                device.deleted |= not self.is_trusted(device)

    def _log_broken_devices(self, user: str, error: Exception) -> None:
        """Log an error of any kind that concerns one person."""
        data = {"user": user, "why": type(error).__name__}
        log.warning("somebody has broken devices", extra={"data": data})

    def _mark_devices(self, user: str, devices: Json, told: Json) -> None:
        """Mark each device as the person's or as untrusted; if a mark changes, the keys shared with the device are
        discarded.
        """
        olm = self.olm
        if user == olm.user_id:
            return  # the bot has only one device
        theirs = self.owners.trusted_devices(user, devices, told)
        for name, payload in devices.items():
            device = olm.device_store[user].get(name)
            if device is None or not self.owners.has_identity(user):
                continue
            # nio keeps the keys under which a device was first listed
            if self._mark_device(device, name in theirs and has_same_keys(device, payload)):
                self._discard_keys_of(device)

    def _mark_device(self, device: OlmDevice, theirs: bool) -> bool:
        """Mark the device and return whether that changed anything.

        A verified device stays verified while another identity is only claimed.
        """
        if theirs:
            return self.olm.verify_device(device)
        if device.verified and self.owners.problem(device.user_id) == CHANGED:
            return False
        return self.olm.blacklist_device(device)

    def _discard_keys_of(self, device: OlmDevice) -> None:
        """Discard the room keys the device was given, or was excluded from."""
        one = (device.user_id, device.id)
        for room, session in tuple(self.olm.outbound_group_sessions.items()):
            if one in session.users_shared_with | session.users_ignored:
                self.discard_room_key(room)

    def is_trusted(self, device: OlmDevice) -> bool:
        """Whether messages from the device count as its user's."""
        return device.verified or not self.owners.has_identity(device.user_id)

    async def claim_keys(self, devices: dict[str, list[str]]) -> None:
        """Claim a one-time key of each device, to start a session with it."""
        body: Json = {
            "one_time_keys": {
                user: dict.fromkeys(names, ALGORITHM) for user, names in devices.items()
            }
        }
        told = await self.wire.call("Asking for keys", "POST", "keys/claim", body)
        for user, device, keys in one_time_keys(matrix_events.get_object(told, "one_time_keys")):
            try:
                self.olm.handle_response(KeysClaimResponse({user: {device: keys}}, {}))
            except Exception as error:  # noqa: BLE001 - see below
                # any exception, because it concerns one device of one person
                data = {"user": user, "device": device, "why": type(error).__name__}
                log.warning("a device has a broken key", extra={"data": data})

    async def send_to_devices(self, kind: str, messages: Json) -> None:
        """Send messages to devices, by user and device id."""
        path = f"sendToDevice/{kind}/{secrets.token_hex(16)}"
        await self.wire.call("Writing to devices", "PUT", path, {"messages": messages})

    async def _send_waiting(self) -> None:
        for message in tuple(self.olm.outgoing_to_device_messages):
            await self.send_to_devices(message.type, message.as_dict()["messages"])
            self.olm.handle_response(ToDeviceResponse(message))


def _keys_left(told: object) -> int:
    """Return how many of this device's keys are left on the homeserver."""
    count = told.get(ALGORITHM) if isinstance(told, dict) else 0
    return min(max(count, 0), _MOST_KEYS) if isinstance(count, int) else 0


def _about(event: Json, error: Exception) -> Json:
    return {"from": str(event.get("sender", "")), "why": type(error).__name__}


# Encrypts messages for a room: one key at a time, shared with every device of all members. Nothing is sent before all
# have the key. If somebody cannot be given it now, the bot tries again and never goes on without.

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
            # no await from here on: if somebody leaves meanwhile, a new key is made first
            plain = {"type": kind, "content": content}
            encrypted: Json = dict(self._machine.olm.group_encrypt(room, plain))
        if relation := content.get("m.relates_to"):
            encrypted["m.relates_to"] = relation
        return "m.room.encrypted", encrypted

    async def _share(self, room: str, rotation: Rotation) -> None:
        """Share a new key with the room.

        A partly shared key is discarded, because somebody who has it may have left before the others get it.
        """
        for _ in range(_SHARING_TRIES):
            self._machine.discard_room_key(room)
            if await self._try_share(room):
                session = self._machine.olm.outbound_group_sessions[room]
                session.max_age, session.max_messages = rotation.age, rotation.messages
                session.shared = True
                return
        raise Unavailable("People come and go so fast that no key for them could be agreed on.")

    async def _try_share(self, room: str) -> bool:
        """Try to share the key with all members; return False if somebody has left or logged out a device meanwhile."""
        olm = self._machine.olm
        users = await self._members(room)
        unknown = users - olm.tracked_users
        while True:
            await self._machine.query_devices(unknown)
            unknown = set[str]()
            if missing := olm.get_missing_sessions(sorted(users)):
                await self._machine.claim_keys(missing)
            if not await self._share_with_missing(room, users):
                break  # and nobody has added a device meanwhile
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

    async def _share_with_missing(self, room: str, users: set[str]) -> bool:
        """Share the key with members who lack it; return whether there were any."""
        olm = self._machine.olm
        sharing = olm.share_group_session_parallel(
            room, sorted(users), ignore_unverified_devices=True
        )
        some = False
        for devices, body in sharing:
            await self._machine.send_to_devices("m.room.encrypted", body["messages"])
            if (session := olm.outbound_group_sessions.get(room)) is None:
                return False  # somebody has left meanwhile
            session.users_shared_with.update(devices)
            some = True
        return some

    async def _members(self, room: str) -> set[str]:
        """Return joined and invited members, because whoever is invited may read from now on.

        The bot is left out: it has one device, and any other the homeserver lists would be somebody else's.
        """
        path = f"rooms/{quote_id(room)}/members"
        told = await self._machine.wire.call("Asking who is in the room", "GET", path)
        there = {
            one.user for one in memberships(get_objects(told.get("chunk"))) if one.now in _PRESENT
        }
        return there - {self._machine.olm.user_id}

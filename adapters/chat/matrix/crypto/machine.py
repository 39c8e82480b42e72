"""nio's Olm machine, fed and emptied so that nothing is lost and nobody can stop it.

What must not be lost is on disk before the homeserver learns of it; what came from strangers is taken one by one, so that
a broken part spoils no other; and every call says what went wrong.
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

from adapters.chat.matrix import batch
from adapters.chat.matrix.answers import Json, SignedOut
from adapters.chat.matrix.crypto.devices import is_key, one_time_keys, same, sound
from adapters.chat.matrix.crypto.owners import Owners
from adapters.chat.matrix.crypto.reasons import CHANGED
from adapters.chat.matrix.crypto.unseal import KeysLost
from adapters.chat.matrix.crypto.wire import Wire
from bot.errors import PortError, Refused

log = logging.getLogger(__name__)

ALGORITHM = "signed_curve25519"
MEGOLM = "m.megolm.v1.aes-sha2"
WITHHELD = "m.room_key.withheld"
_MOST_KEYS = 100
_AN_HOUR = timedelta(hours=1)
_TAKEN = "already exists"
"""What homeservers say of a key whose name another one has; they have no code for it."""
Withheld = Callable[[str, Json], None]
"""Who does not give a key, and what they say of it."""


class Machine:
    def __init__(self, client: AsyncClient, wire: Wire, owners: Owners) -> None:
        if client.olm is None:
            raise TypeError("the store of the keys is not loaded")
        self._client, self.wire, self.owners = client, wire, owners
        self.olm: Olm = client.olm
        self.withheld: Withheld = lambda _, __: None
        self._wants_fallback = False
        self._querying = asyncio.Lock()

    # ── what came ──

    def take(self, told: Json) -> None:
        """An answer to a sync: what was sent to this device, and how many of its keys are left."""
        # none is told by leaving it out, which nio takes for no news
        self.olm.uploaded_key_count = _count(told.get("device_one_time_keys_count"))
        unused = told.get("device_unused_fallback_key_types")
        self._wants_fallback = isinstance(unused, list) and ALGORITHM not in unused
        for room, news in batch.rooms(told, "join").items():
            self._notice_members(room, news)
        for event in batch.sent_to_device(told):
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
            for one in batch.memberships(batch.events_in(news, part)):
                if one.changed:
                    self.give_up_key(room)
                    # what became of their devices while no room was shared was not told
                    self.olm.users_for_key_query |= {one.user} & self.olm.tracked_users

    def give_up_key(self, room: str) -> None:
        """What is said next in that room is sealed with another one."""
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
            if _TAKEN in error.reason:
                raise KeysLost("The keys of my Matrix device are not those it had last.") from error
            raise
        left = _count(told.get("one_time_key_counts"))
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
                found = sound(batch.object_at(told, "device_keys"))
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
            if self._marked(device, name in theirs and same(device, payload)):
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
        for user, device, keys in one_time_keys(batch.object_at(told, "one_time_keys")):
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


def _count(told: object) -> int:
    """How many of this device's keys the homeserver has left."""
    count = told.get(ALGORITHM) if isinstance(told, dict) else 0
    return min(max(count, 0), _MOST_KEYS) if isinstance(count, int) else 0


def _about(event: Json, error: Exception) -> Json:
    return {"from": str(event.get("sender", "")), "why": type(error).__name__}

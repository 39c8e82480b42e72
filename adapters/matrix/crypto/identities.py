"""Whose devices they are, and signatures: the first identity somebody shows is theirs, and only devices it signed are.

The homeserver says which devices somebody has and could make one up, but cannot sign it. Whoever has never shown an
identity is believed to have the devices that the homeserver names.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
from collections.abc import Collection
from itertools import islice
from pathlib import Path
from typing import Any, TypeGuard

from Crypto.PublicKey import ECC
from Crypto.Signature import eddsa
from nio.crypto import OlmDevice

from adapters.matrix.client import Json
from adapters.matrix.crypto.encrypted_rooms import CHANGED, UNSIGNED
from adapters.matrix.events import object_at
from adapters.state_files import JsonLines

# The identities that people have shown, on disk.

log = logging.getLogger(__name__)

IDENTITIES_FILE = "identities.jsonl"


class DeviceOwners:
    """One line a person. A line that was torn is passed over; who takes one out lets that person show another identity."""

    def __init__(self, path: Path) -> None:
        self._file = JsonLines(path, tuple[str, str])
        self._known = self._read()
        self._problems: dict[str, str] = {}

    def knows(self, user: str) -> bool:
        """Whether that person has ever shown an identity."""
        return user in self._known

    def problem(self, user: str) -> str:
        """Why devices of theirs are not believed to be, as far as it was told of; empty: all are."""
        return self._problems.get(user, "")

    def vouched(self, user: str, devices: Json, told: Json) -> Collection[str]:
        """Names of the devices that are theirs. `told`: all that was answered. On disk before anybody is believed."""
        shown = _cross_signing_key(told, "master_keys", user, "master")
        known = self._identity(user, shown)
        if not known:
            return devices.keys()
        if shown != known:
            self._note(user, CHANGED)
            return ()
        signing = _cross_signing_key(
            told, "self_signing_keys", user, "self_signing", signed_by=known
        )
        name = f"ed25519:{signing}"
        theirs = {id for id, one in devices.items() if is_signed(one, user, name, signing)}
        self._note(user, UNSIGNED if len(theirs) < len(devices) else "")
        return theirs

    def _identity(self, user: str, shown: str) -> str:
        """The one that counts: the first that was shown."""
        known = self._known.get(user, "")
        if known and shown != known:
            # whoever runs the bot may have let it go
            self._known = self._read()
            known = self._known.get(user, "")
        if shown and not known:
            self._file.append((user, shown))
            self._known[user] = known = shown
        return known

    def _read(self) -> dict[str, str]:
        return {user: key for user, key in self._file.read() if is_key(key)}

    def _note(self, user: str, problem: str) -> None:
        if problem == CHANGED and self._problems.get(user) != CHANGED:
            remedy = f"If they have reset it, take the line with their name out of {self._file.path}; if not, ask your homeserver's people."
            log.warning(
                "somebody's identity has changed", extra={"data": {"user": user, "remedy": remedy}}
            )
        self._problems[user] = problem


def _cross_signing_key(told: Json, kind: str, user: str, usage: str, signed_by: str = "") -> str:
    """Public part of such a key of theirs. Empty: none is told of, or it is not what it should be."""
    one = object_at(object_at(told, kind), user)
    usages, keys = one.get("usage"), one.get("keys")
    if one.get("user_id") != user or not isinstance(usages, list) or usage not in usages:
        return ""
    if not isinstance(keys, dict) or len(keys) != 1:
        return ""
    [(name, key)] = keys.items()
    if not is_key(key) or name != f"ed25519:{key}":
        return ""
    if signed_by and not is_signed(one, user, f"ed25519:{signed_by}", signed_by):
        return ""
    return key


# Devices as the homeserver tells of them: only those that prove their own keys. nio trusts what
# it is told to be well formed; one device that is not would keep everybody in a room from being
# written to.

_KEY_BYTES = 32
"""Bytes."""
_MOST_DEVICES = 100
"""Devices of one person. Each is looked at while everything else waits."""


def sound_devices(told: Json) -> Json:
    """By user and device id, without those that nobody can speak to; of each only what its owner has signed."""
    found: Json = {}
    for user, devices in told.items():
        if isinstance(devices, dict):
            some = islice(devices.items(), _MOST_DEVICES)
            found[user] = {
                name: signed_part(one) for name, one in some if _proves_its_keys(one, user, name)
            }
    return found


def has_same_keys(device: OlmDevice, payload: Json) -> bool:
    """Whether a device that is known has the keys it is told of with now."""
    keys = payload["keys"]
    now = (keys[f"ed25519:{device.id}"], keys[f"curve25519:{device.id}"])
    return (device.ed25519, device.curve25519) == now


def one_time_keys(told: Json) -> list[tuple[str, str, Json]]:
    """User, device and the key that was claimed for it, each by itself."""
    return [
        (user, device, keys)
        for user, devices in told.items()
        if isinstance(devices, dict)
        for device, keys in devices.items()
        if isinstance(keys, dict) and keys
    ]


def _proves_its_keys(payload: Any, user: str, device: str) -> bool:
    if not isinstance(payload, dict):
        return False
    if (payload.get("user_id"), payload.get("device_id")) != (user, device):
        return False
    keys, algorithms = payload.get("keys"), payload.get("algorithms")
    if not isinstance(keys, dict) or not isinstance(algorithms, list):
        return False
    signing, curve = keys.get(f"ed25519:{device}"), keys.get(f"curve25519:{device}")
    if not is_key(signing) or not is_key(curve):
        return False
    return is_signed(payload, user, f"ed25519:{device}", signing)


def is_key(text: Any) -> TypeGuard[str]:
    """In the one way to write it: others read no key where bits are set that mean nothing."""
    try:
        raw = base64_decoded(text) if isinstance(text, str) else b""
    except ValueError:
        return False
    return len(raw) == _KEY_BYTES and base64_encoded(raw) == text


# Signatures on JSON as Matrix wants them: one Ed25519 key, from its seed.

SEED_BYTES = 32
"""Bytes."""
_UNSIGNED_PARTS = frozenset(("signatures", "unsigned"))


class SigningKey:
    def __init__(self, seed: bytes) -> None:
        self._key = ECC.construct(curve="Ed25519", seed=seed)
        self.public = base64_encoded(self._key.public_key().export_key(format="raw"))

    @property
    def id(self) -> str:
        return f"ed25519:{self.public}"

    def signed(self, value: Json, user_id: str) -> Json:
        """The same, with this signature besides those it has."""
        signature = base64_encoded(eddsa.new(self._key, "rfc8032").sign(canonical_json(value)))
        return with_signature(value, user_id, self.id, signature)


def with_signature(value: Json, user_id: str, key_id: str, signature: str) -> Json:
    there: Json = value.get("signatures", {})
    of_user = {**there.get(user_id, {}), key_id: signature}
    return {**value, "signatures": {**there, user_id: of_user}}


def is_signed(value: Json, user_id: str, key_id: str, public: str) -> bool:
    """Whether a signature of that key is on it, and is right. Whatever the value holds."""
    try:
        signature = base64_decoded(value["signatures"][user_id][key_id])
        key = eddsa.import_public_key(base64_decoded(public))
        eddsa.new(key, "rfc8032").verify(canonical_json(value), signature)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def canonical_json(value: Json) -> bytes:
    """What is signed of it."""
    bare = {name: one for name, one in value.items() if name not in _UNSIGNED_PARTS}
    return json.dumps(bare, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def signed_part(value: Json) -> Json:
    """With its signatures, without what anybody on its way can have added."""
    return {name: one for name, one in value.items() if name != "unsigned"}


def base64_encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode().rstrip("=")


def base64_decoded(text: str) -> bytes:
    """ValueError: it is none."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError("this is not base64") from error

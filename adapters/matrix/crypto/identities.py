"""Decides whose devices are genuine: the first identity a user shows is theirs, and only devices it signed belong to
them.

The homeserver lists a user's devices and could invent one, but cannot sign it. Users who never showed an identity are
assumed to own the listed devices.
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
from adapters.matrix.events import get_object
from adapters.state_files import JsonLines

# The identities that people have shown, on disk.

log = logging.getLogger(__name__)

IDENTITIES_FILE = "identities.jsonl"


class DeviceOwners:
    """The known identities, one line per person.

    Incomplete lines are skipped; removing a line allows that person to show a new identity.
    """

    def __init__(self, path: Path) -> None:
        self._file = JsonLines(path, tuple[str, str])
        self._known = self._read()
        self._problems: dict[str, str] = {}

    def has_identity(self, user: str) -> bool:
        """Whether the person has ever shown an identity."""
        return user in self._known

    def problem(self, user: str) -> str:
        """Return why some devices of the person are not accepted as theirs; empty if all are."""
        return self._problems.get(user, "")

    def trusted_devices(self, user: str, devices: Json, answer: Json) -> Collection[str]:
        """Return the names of the devices that belong to the person.

        `answer`: the whole answer. A new identity is on disk before it is trusted.
        """
        shown = _cross_signing_key(answer, "master_keys", user, "master")
        known = self._identity(user, shown)
        if not known:
            return devices.keys()
        if shown != known:
            self._note(user, CHANGED)
            return ()
        signing = _cross_signing_key(
            answer, "self_signing_keys", user, "self_signing", signed_by=known
        )
        name = f"ed25519:{signing}"
        theirs = {id for id, one in devices.items() if is_signed(one, user, name, signing)}
        self._note(user, UNSIGNED if len(theirs) < len(devices) else "")
        return theirs

    def _identity(self, user: str, shown: str) -> str:
        """Return the first identity the person has shown."""
        known = self._known.get(user, "")
        if known and shown != known:
            # the operator may have removed the line
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
    """Return the public part of the person's key; empty if it is missing or invalid."""
    one = get_object(get_object(told, kind), user)
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


# Devices as the homeserver lists them: only those that prove their own keys. nio relies on well-formed input; one
# malformed device would prevent the bot from writing to everybody in a room.

_KEY_BYTES = 32
_MOST_DEVICES = 100
"""The most devices per person: each one is checked while everything else waits."""


def valid_devices(told: Json) -> Json:
    """Return the valid devices by user and device id, each with only the fields its owner signed."""
    found: Json = {}
    for user, devices in told.items():
        if isinstance(devices, dict):
            some = islice(devices.items(), _MOST_DEVICES)
            found[user] = {
                name: signed_part(one) for name, one in some if _proves_its_keys(one, user, name)
            }
    return found


def has_same_keys(device: OlmDevice, payload: Json) -> bool:
    """Whether a known device still has the keys now listed for it."""
    keys = payload["keys"]
    now = (keys[f"ed25519:{device.id}"], keys[f"curve25519:{device.id}"])
    return (device.ed25519, device.curve25519) == now


def one_time_keys(told: Json) -> list[tuple[str, str, Json]]:
    """Return user, device and claimed key, as separate entries."""
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
    """Whether the text is a key in canonical base64; with stray bits set, other implementations would reject it."""
    try:
        raw = base64_decoded(text) if isinstance(text, str) else b""
    except ValueError:
        return False
    return len(raw) == _KEY_BYTES and base64_encoded(raw) == text


# Signatures on JSON as defined by Matrix: one Ed25519 key, created from its seed.

SEED_BYTES = 32
_UNSIGNED_PARTS = frozenset(("signatures", "unsigned"))


class SigningKey:
    def __init__(self, seed: bytes) -> None:
        self._key = ECC.construct(curve="Ed25519", seed=seed)
        self.public = base64_encoded(self._key.public_key().export_key(format="raw"))

    @property
    def id(self) -> str:
        return f"ed25519:{self.public}"

    def signed(self, value: Json, user_id: str) -> Json:
        """Return a copy with this signature added."""
        signature = base64_encoded(eddsa.new(self._key, "rfc8032").sign(canonical_json(value)))
        return with_signature(value, user_id, self.id, signature)


def with_signature(value: Json, user_id: str, key_id: str, signature: str) -> Json:
    there: Json = value.get("signatures", {})
    of_user = {**there.get(user_id, {}), key_id: signature}
    return {**value, "signatures": {**there, user_id: of_user}}


def is_signed(value: Json, user_id: str, key_id: str, public: str) -> bool:
    """Whether the value has a valid signature of that key; never raises for malformed values."""
    try:
        signature = base64_decoded(value["signatures"][user_id][key_id])
        key = eddsa.import_public_key(base64_decoded(public))
        eddsa.new(key, "rfc8032").verify(canonical_json(value), signature)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def canonical_json(value: Json) -> bytes:
    """Return the bytes that are signed."""
    bare = {name: one for name, one in value.items() if name not in _UNSIGNED_PARTS}
    return json.dumps(bare, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def signed_part(value: Json) -> Json:
    """Return the value with its signatures, without the `unsigned` part, which anybody on the way may have added."""
    return {name: one for name, one in value.items() if name != "unsigned"}


def base64_encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode().rstrip("=")


def base64_decoded(text: str) -> bytes:
    """Decode unpadded base64; raise ValueError if it is invalid."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError("this is not base64") from error

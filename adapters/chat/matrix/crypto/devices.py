"""Devices as the homeserver tells of them: only those that prove their own keys. Pure.

nio trusts what it is told to be well formed; one device that is not would keep everybody in a room from being written to.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, TypeGuard

from nio.crypto import OlmDevice

from adapters.chat.matrix.answers import Json
from adapters.chat.matrix.crypto.curve import decoded, encoded, is_signed, signed_part

_KEY = 32
"""Bytes."""
_MOST = 100
"""Devices of one person. Each is looked at while everything else waits."""


def sound(told: Json) -> Json:
    """By user and device id, without those that nobody can speak to; of each only what its owner has signed."""
    found: Json = {}
    for user, devices in told.items():
        if isinstance(devices, dict):
            some = islice(devices.items(), _MOST)
            found[user] = {
                name: signed_part(one) for name, one in some if _is_sound(one, user, name)
            }
    return found


def same(device: OlmDevice, payload: Json) -> bool:
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


def _is_sound(payload: Any, user: str, device: str) -> bool:
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
        raw = decoded(text) if isinstance(text, str) else b""
    except ValueError:
        return False
    return len(raw) == _KEY and encoded(raw) == text

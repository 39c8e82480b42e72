"""Devices as the homeserver tells of them: only those that prove their own keys. Pure.

nio trusts what it is told to be well formed; one device that is not would keep everybody in a room from being written to.
"""

from __future__ import annotations

from typing import Any

from adapters.chat.matrix.answers import Json
from adapters.chat.matrix.crypto.curve import decoded, is_signed

_KEY = 32
"""Bytes."""


def sound(told: Json) -> Json:
    """By user and device id, without those that nobody can speak to."""
    found: Json = {}
    for user, devices in told.items():
        if isinstance(devices, dict):
            found[user] = {name: one for name, one in devices.items() if _is_sound(one, user, name)}
    return found


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
    if not isinstance(signing, str) or not isinstance(curve, str) or not _is_key(curve):
        return False
    return is_signed(payload, user, f"ed25519:{device}", signing)


def _is_key(text: str) -> bool:
    try:
        return len(decoded(text)) == _KEY
    except ValueError:
        return False

"""Which rooms are encrypted, whatever a sync tells of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from adapters.matrix.client import ClientApi
from adapters.matrix.crypto.encrypted_rooms import ENCRYPTION_EVENT, EncryptedRooms


def told_of(path: Path, told: dict[str, Any]) -> EncryptedRooms:
    """It has no way to ask a homeserver."""
    rooms = EncryptedRooms(cast("ClientApi", None), path / "rooms.jsonl")
    rooms.note_encryption(told)
    return rooms


def encryption(**content: object) -> dict[str, Any]:
    event = {"type": ENCRYPTION_EVENT, "state_key": "", "content": content}
    return {"rooms": {"join": {"!room": {"state": {"events": [event]}}}}}


@pytest.mark.parametrize(
    ("period", "age"),
    [
        (-(10**40), timedelta(hours=1)),
        (0, timedelta(hours=1)),
        (7_200_000, timedelta(hours=2)),
        (10**40, timedelta(days=30)),
        ("soon", timedelta(days=7)),
    ],
)
async def test_how_long_a_key_is_used_is_kept_within_bounds(
    tmp_path: Path, period: object, age: timedelta
) -> None:
    rotation = await told_of(tmp_path, encryption(rotation_period_ms=period)).rotation("!room")
    assert rotation
    assert rotation.age == age


@pytest.mark.parametrize(
    "told",
    [
        {"rooms": "words"},
        {"rooms": {"join": ["a", "list"]}},
        {"rooms": {"join": {"!room": "words"}}},
        {"rooms": {"join": {"!room": {"state": ["a", "list"]}}}},
        {"rooms": {"join": {"!room": {"timeline": {"events": ["words", None]}}}}},
    ],
)
def test_what_has_another_shape_tells_of_no_room(tmp_path: Path, told: dict[str, Any]) -> None:
    assert not told_of(tmp_path, told).is_known_encrypted("!room")

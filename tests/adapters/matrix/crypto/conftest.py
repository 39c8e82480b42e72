"""The bot and Anna in an encrypted room of a real homeserver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.matrix.crypto.stage import Ear, Secret
from tests.beds.synapse import People, Proxy


@pytest.fixture
async def secret(people: People, proxy: Proxy, tmp_path: Path) -> Secret:
    """The bot goes to the homeserver through the proxy."""
    anna, bot = await people.confidant("anna"), people("bot")
    room = await people.room(anna, bot)
    await anna.encrypt(room)
    return Secret(anna, bot, room, proxy, tmp_path / "matrix")


@pytest.fixture
def ear(secret: Secret) -> Ear:
    return Ear(secret)

"""A bot that listens, and somebody who talks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.adapters.chat.matrix.listening import Ear
from tests.beds.synapse import Homeserver, People, Person, Proxy


@dataclass
class Talk:
    """Anna and the bot, in a room of their own."""

    anna: Person
    bot: Person
    """The bot's account, as a person: what it does not do by itself yet."""
    room: str
    ear: Ear


@pytest.fixture
async def talk(homeserver: Homeserver, people: People, tmp_path: Path) -> Talk:
    """The bot reaches the homeserver directly."""
    anna, bot = people("anna"), people("bot")
    room = await people.room(anna, bot)
    return Talk(anna, bot, room, Ear(homeserver.url, bot.login, tmp_path / "matrix"))


@pytest.fixture
def far_talk(talk: Talk, proxy: Proxy) -> Talk:
    """The bot goes through the proxy."""
    talk.ear.url = proxy.url
    return talk

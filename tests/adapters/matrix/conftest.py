"""A bot that listens or posts, and somebody who talks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.adapters.matrix.hearing_room import Room
from tests.adapters.matrix.listening import Ear
from tests.adapters.matrix.posting_stage import Accounts, PostingStage
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


@pytest.fixture(scope="module")
def accounts(homeserver: Homeserver) -> Accounts:
    return Accounts(homeserver)


@pytest.fixture
async def stage(
    accounts: Accounts, homeserver: Homeserver, proxy: Proxy, tmp_path: Path
) -> AsyncIterator[PostingStage]:
    async with AsyncExitStack() as left:
        session = await left.enter_async_context(ClientSession())
        anna, bot = (Person(homeserver.url, login, session) for login in accounts.logins)
        room = await accounts.room(anna, bot)
        root = await anna.say(room, "Add a dark mode", mention=bot.id)
        stage = PostingStage(anna, bot, room, root, proxy, tmp_path / "matrix", left)
        await stage.begin()
        yield stage


@pytest.fixture(name="away_room")
async def _away_room(people: People, proxy: Proxy, tmp_path: Path) -> Room:
    """The bot is in the room, and not yet at work."""
    anna, bob, bot = people("anna"), people("bob"), people("gwt")
    place = await people.room(anna, bot, bob)
    return Room(anna, bob, bot, place, proxy, tmp_path / "matrix")


@pytest.fixture(name="room")
async def _room(away_room: Room) -> AsyncIterator[Room]:
    async with away_room.bot_listens():
        yield away_room

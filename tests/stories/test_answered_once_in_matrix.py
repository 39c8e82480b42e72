"""The real program is killed and its homeserver started anew while somebody asks and asks: each word is answered once.

In CI it is asked for 9 things in 3 lives, in an encrypted room. `make test-deaths` is the whole size: 60 things, 15 deaths of the bot and 3 of the
homeserver, in a plain room and in an encrypted one.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.beds.synapse import Homeserver, People, Person
from tests.stories.fatal import FatalWay, When
from tests.stories.matrix_person import MatrixPerson
from tests.stories.serving import Serving, in_matrix, serving

pytestmark = [pytest.mark.tmux, pytest.mark.slow, pytest.mark.covers("O-MATRIX-5")]

ANSWER = "Commands"
SENDS, REQUESTS = 3, 16
"""What a life of the bot may make of them: every other one ends at a message that it sends, the others at anything."""
ENDS = (When.AFTER, When.SOON, When.BEFORE)
LONGEST_LIFE = 20.0
"""Seconds; a machine may be busy. Then it is killed at whatever it does."""


@dataclass(frozen=True)
class Size:
    messages: int
    deaths: int
    restarts: int
    """Of the homeserver."""
    seconds: float
    """In which everything is answered once nobody dies any more."""


SMALL, WHOLE = Size(9, 3, 1, 120), Size(60, 15, 3, 240)
SIZE = WHOLE if os.environ.get("GWT_BOT_TEST_DEATHS") == "all" else SMALL
ROOMS = {"encrypted": True, **({"plain": False} if SIZE is WHOLE else {})}


@dataclass
class Scene:
    homeserver: Homeserver
    way: FatalWay
    bot: Serving
    mika: MatrixPerson

    def __post_init__(self) -> None:
        self.roots: list[str] = []
        self._chance = random.Random(5)  # noqa: S311 - the same deaths in every run

    async def lives_and_dies(self, number: int) -> None:
        """One life, in which she asks for some things; in some of them the homeserver goes and comes back."""
        sends = number % 2 == 0
        self.way.only = "/send/m.room." if sends else ""
        last = self._chance.randint(1, SENDS if sends else REQUESTS)
        self.way.wait_for(last, ENDS[number % len(ENDS)], self.bot.kill)
        self.bot.start()
        every, most = SIZE.deaths // SIZE.restarts, SIZE.messages // SIZE.deaths
        for one in range(most):
            if number % every == every - 1 and one == most // 2:
                await asyncio.to_thread(self.homeserver.restart)
            await self.asks()
        await self.dies()

    async def asks(self) -> None:
        person, bot = self.mika.person, self.mika.bot
        self.roots.append(await person.say(self.mika.room, "help", mention=bot))

    async def dies(self) -> None:
        try:
            async with asyncio.timeout(LONGEST_LIFE):
                while self.bot.alive:  # noqa: ASYNC110 - another process ends
                    await asyncio.sleep(0.01)
        except TimeoutError:
            self.way.end()

    def answers(self) -> Counter[str]:
        """How often each of her questions was answered, by the question."""
        posts = self.mika.person.posts(self.mika.room)
        mine = [post for post in posts if post.sender == self.mika.bot and ANSWER in post.text]
        return Counter(post.root for post in mine)


@asynccontextmanager
async def in_a_room(
    folder: Path, homeserver: Homeserver, people: People, mika: Person, room: str
) -> AsyncGenerator[Scene, None]:
    account = people("gwt")
    async with (
        FatalWay(homeserver.url) as way,
        serving(folder, **in_matrix(way.url, account.login, room, mika.id)) as bot,
    ):
        anna = MatrixPerson(mika, account.id, room)
        way.spare()
        bot.start()
        await anna.invites_the_bot()
        assert await bot.end() == 0
        yield Scene(homeserver, way, bot, anna)


@pytest.mark.timeout(600 + 60 * SIZE.deaths)
@pytest.mark.parametrize("encrypted", ROOMS.values(), ids=ROOMS)
async def test_each_word_is_answered_once_whoever_dies_meanwhile(
    tmp_path: Path, homeserver: Homeserver, people: People, encrypted: bool
) -> None:
    mika = await people.confidant("mika") if encrypted else people("mika")
    room = await mika.create_room()
    if encrypted:
        await mika.state(room, "m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"})
    async with in_a_room(tmp_path, homeserver, people, mika, room) as scene:
        for number in range(SIZE.deaths):
            await scene.lives_and_dies(number)
        assert len(scene.way.ends) == SIZE.deaths
        scene.way.spare()
        scene.bot.start()
        roots = set(scene.roots)
        await mika.until(lambda: roots <= set(scene.answers()), SIZE.seconds)
        assert await scene.bot.end() == 0
        await mika.look(wait=0)
        assert scene.answers() == Counter(scene.roots)
        assert len(scene.roots) == SIZE.messages
        assert "Traceback" not in scene.bot.out

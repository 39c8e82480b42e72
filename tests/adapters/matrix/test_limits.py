"""A homeserver with the limits it has by default: what a person waits for comes first, and nothing is lost."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from aiohttp import ClientSession

from bot.core.cards import StatusCard
from bot.core.people import Thread
from tests.adapters.matrix.posting_stage import Accounts, PostingStage
from tests.beds.synapse import Homeserver, Person, Proxy
from tests.beds.synapse.seen import Json
from tests.fakes import cards

pytestmark = [pytest.mark.slow, pytest.mark.covers("O-MATRIX-6")]
BY_DEFAULT: Json = {"rc_message": {"per_second": 0.2, "burst_count": 10}}
SENT = ("m.room.message", "m.reaction")
CHIPS = ["✅ Approve", "✏ Request changes", "❌ Discard"]
PATIENCE = 90.0
SESSIONS = ("One", "Two", "Three", "Four", "Five", "Six", "Seven")
IN_BETWEEN = 5
"""A status that was on its way already is let through, and on a busy machine one for each time the bot draws breath. By
order of arrival there would be one of each session."""


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Homeserver]:
    with Homeserver(tmp_path_factory.mktemp("strict"), BY_DEFAULT) as server:
        yield server


@pytest.fixture(name="limited")
async def _limited(strict: Homeserver, tmp_path: Path) -> AsyncIterator[PostingStage]:
    """People are not limited, the bot is."""
    async with AsyncExitStack() as left:
        session = await left.enter_async_context(ClientSession())
        way = await left.enter_async_context(Proxy(strict.url))
        accounts = Accounts(strict)
        anna, bot = (Person(strict.url, login, session) for login in accounts.logins)
        strict.override_ratelimit(anna.id)
        room = await accounts.room(anna, bot)
        root = await anna.say(room, "Add a dark mode", mention=bot.id)
        stage = PostingStage(anna, bot, room, root, way, tmp_path / "matrix", left)
        await stage.begin()
        yield stage


class Ticking:
    """Sessions in a room whose statuses change much faster than they may be shown."""

    def __init__(self, stage: PostingStage) -> None:
        self.stage = stage
        self.last: dict[str, StatusCard] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._over = False

    async def begin(self) -> None:
        for text in SESSIONS:
            root = await self.stage.anna.say(self.stage.room, text, mention=self.stage.bot.id)
            thread = self.stage.thread.model_copy(update={"root": root})
            self._tasks.append(asyncio.create_task(self._tick(thread)))

    async def end(self) -> None:
        """What is on its way is shown: a card that is given up half way may never come."""
        self._over = True
        await asyncio.gather(*self._tasks)

    async def _tick(self, thread: Thread) -> None:
        for minutes in itertools.count():
            at = cards.STATUS.at + timedelta(minutes=minutes)
            card = cards.STATUS.model_copy(update={"at": at})
            self.last[thread.root] = card
            await self.stage.gateway.show(thread, card)
            if self._over:
                return
            await asyncio.sleep(0.05)


async def test_what_needs_a_person_comes_before_statuses_that_tick_and_those_come_in_the_end(
    strict: Homeserver, limited: PostingStage
) -> None:
    ticking = Ticking(limited)
    await ticking.begin()
    await limited.anna.until(lambda: len(sent(limited)) >= 10, PATIENCE)
    # what Anna sees comes late on a busy machine: in the room this stands where the bot is asked to show the card
    now = await limited.anna.say(limited.room, "Now")
    async with asyncio.timeout(PATIENCE):
        await limited.gateway.show(limited.thread, cards.APPROVAL)
    await limited.anna.until(lambda: chips(limited) == CHIPS, PATIENCE)
    told = sent(limited, after=now)
    asked = next(n for n, one in enumerate(told) if "Shall I build" in one)
    assert asked <= IN_BETWEEN, "hardly a status was before it"
    assert [one for one in told[asked + 1 :] if one in CHIPS] == CHIPS
    between = told[asked + 1 : told.index(CHIPS[-1])]
    assert len([one for one in between if one not in CHIPS]) <= IN_BETWEEN
    # as an operator does, and the rest need not be waited for so long
    strict.override_ratelimit(limited.bot.id)
    async with asyncio.timeout(PATIENCE):
        await ticking.end()
    await limited.anna.until(lambda: latest(limited, ticking), PATIENCE)


def sent(stage: PostingStage, after: str = "") -> list[str]:
    """Of every event of the bot what it says, in the order of the room. `after`: only of those that follow this one."""
    seen = stage.anna.rooms.get(stage.room)
    every = seen.events if seen else []
    begin = next((n for n, one in enumerate(every) if one["event_id"] == after), -1) + 1
    events = [one for one in every[begin:] if one["sender"] == stage.bot.id]
    contents = [cast("Json", one["content"]) for one in events if one["type"] in SENT]
    return [
        str(content.get("body") or cast("Json", content["m.relates_to"])["key"])
        for content in contents
    ]


def chips(stage: PostingStage) -> list[str]:
    found = stage.anna.thread(stage.room, stage.root)
    return [key for post in found if "Shall I build" in post.text for key in post.keys]


def latest(stage: PostingStage, ticking: Ticking) -> bool:
    """Every status says what was to be said last."""
    for root, card in ticking.last.items():
        posts = [
            post for post in stage.anna.thread(stage.room, root) if post.sender == stage.bot.id
        ]
        if len(posts) != 1 or f"{card.at:%H:%M:%S} UTC" not in posts[0].text:
            return False
    return True

"""A chat that dies at every single step of a talk in Slack: each word is answered once, each press counts once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from adapters.slack.chat import SlackChat
from adapters.slack.client import SlackAccess
from adapters.slack.connection import SocketTiming
from bot.core.events import FromPeople
from bot.core.people import Thread
from bot.ports import Chat
from tests.beds.slack import APP_TOKEN, BOT_TOKEN, MIKA, PUBLIC, TEAM, SlackBed, invariants
from tests.stories.clerk import HELP, KEEP, MOST, STRIDE, Lives, at_steps
from tests.stories.fatal import FatalWay, When
from tests.stories.serving import PATIENCE
from tests.stories.slack_person import SlackPerson

pytestmark = pytest.mark.slow
QUICK = SocketTiming(ping=1, look=0.02, dead_url=0.5, gap=0.5, draining=0)
"""Slack's retries are over within seconds here, and not within minutes: so what was missed in a second is read again."""
UNSEEN = "chat.postEphemeral"
"""A word in private cannot be looked for in Slack: who dies before its answer was read says it again."""


@at_steps
@pytest.mark.parametrize("when", [When.BEFORE, When.AFTER])
@pytest.mark.parametrize("of", ["call", "delivery"])
async def test_wherever_it_dies_each_word_is_answered_once(
    tmp_path: Path, of: str, when: When, first: int
) -> None:
    async with office(tmp_path) as (bed, lives):
        deaths = 0
        for number in range(first, MOST, STRIDE):
            mika = SlackPerson(bed)
            lives.way.torn.clear()
            died = await lives.live_through(talk(mika), number, when, of=of)
            assert list(faults(mika, lives)) == [], f"{when} {of} {number}: {lives.way.ends[-1:]}"
            if not died:
                break
            deaths += 1
        assert deaths, "it hardly lived"
        invariants.check(bed, unacked=True)


@asynccontextmanager
async def office(folder: Path) -> AsyncGenerator[tuple[SlackBed, Lives], None]:
    async with (
        SlackBed(ack_seconds=0.5, time_scale=0.002) as bed,
        FatalWay(bed.world.base) as way,
    ):

        def open_chat(home: Path) -> AbstractAsyncContextManager[Chat]:
            access = SlackAccess(BOT_TOKEN, APP_TOKEN, api_url=f"{way.url}/api/")
            return SlackChat(
                access, home, [f"{TEAM}:{PUBLIC}"], shared=[f"{TEAM}:{PUBLIC}"], rhythm=QUICK
            )

        way.spare()
        # the very first start of all hears nothing of what was said before it
        async with open_chat(folder / "0") as chat:
            listening = asyncio.create_task(chat.listen(_nobody))
            await bed.until((folder / "0" / "heard.json").exists, PATIENCE)
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
        yield bed, Lives(folder, open_chat, way, bed.sockets.reset)


async def _nobody(thread: Thread, event: FromPeople) -> bool:
    raise AssertionError("nobody has said anything yet")


async def talk(mika: SlackPerson) -> None:
    """A request, more words in its thread, and a press, again for as long as Slack says that it failed."""
    await mika.ask("A")
    await mika.reply("B")
    await mika.bed.mention(MIKA, PUBLIC, "help", mika.root)
    await mika.sees("Heard: «B»")
    await mika.until(lambda: told(mika), HELP)
    pressed = False
    while not pressed:
        card = await mika.sees("«A»")
        if "is kept" in card.reads:
            break
        delivery = await mika.bed.click(MIKA, card.ts, KEEP)
        assert delivery
        await mika.bed.until(delivery.over.is_set, PATIENCE)
        pressed = delivery.acked
    await mika.sees("«A» is kept")


def told(mika: SlackPerson) -> list[str]:
    """What stands in the thread for her alone."""
    return [one.reads for one in mika.bed.ephemerals(MIKA) if one.thread == mika.root]


def faults(mika: SlackPerson, lives: Lives) -> Iterator[str]:
    stands = Counter(card.reads.splitlines()[0].strip("*") for card in mika.cards)
    if stands != Counter(("«A» is kept", "Heard: «B»")):
        yield f"there is {stands}"
    unseen = any(UNSEEN in path for path in lives.way.torn)
    if not 1 <= len(told(mika)) <= 1 + unseen:
        yield f"told in private {len(told(mika))} times"
    heard = Counter(
        text for _, thread, kind, text in lives.book if kind == "said" and mika.root in thread
    )
    if heard != Counter(("A", "B")):
        yield f"taken: {heard}"

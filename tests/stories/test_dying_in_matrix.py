"""A chat that dies at every single step of a talk on Matrix: each word is answered once, each click counts once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from adapters.matrix.chat import MatrixChat
from adapters.matrix.client import Backoff, MatrixAccess
from bot.ports import Chat
from tests.beds.synapse import Homeserver, People, Person
from tests.stories.clerk import HELP, KEEP, MOST, STRIDE, Lives, Open, at_steps
from tests.stories.fatal import FatalWay, When
from tests.stories.matrix_person import MatrixPerson

pytestmark = [pytest.mark.slow, pytest.mark.covers("O-MATRIX-5")]
QUICK = Backoff(0.02, 0.1)


@at_steps
@pytest.mark.parametrize("when", [When.BEFORE, When.AFTER])
@pytest.mark.parametrize("of", ["call", "delivery"])
async def test_wherever_it_dies_each_word_is_answered_once(
    tmp_path: Path, homeserver: Homeserver, people: People, of: str, when: When, first: int
) -> None:
    mika, account = people("mika"), people("gwt")
    room = await people.room(mika, account)
    async with FatalWay(homeserver.url, unless="/sync?") as way:
        lives = Lives(tmp_path, opening(way, account), way, lambda: None)
        await lives.live_through(greeting(mika, account, room), MOST, when, of=of)
        deaths = 0
        for number in range(first, MOST, STRIDE):
            anna = MatrixPerson(mika, account.id, room)
            died = await lives.live_through(talk(anna), number, when, of=of)
            assert list(faults(anna, lives)) == [], f"{when} {of} {number}: {way.ends[-1:]}"
            if not died:
                break
            deaths += 1
        assert deaths, "it hardly lived"


@at_steps
@pytest.mark.parametrize("when", [When.BEFORE, When.AFTER])
async def test_wherever_its_first_life_ends_it_hears_everything_since_it_came(
    tmp_path: Path, homeserver: Homeserver, people: People, when: When, first: int
) -> None:
    mika = people("mika")
    async with FatalWay(homeserver.url) as way:
        deaths = 0
        for number in range(first, MOST, STRIDE):
            account, room = people("gwt"), await mika.create_room()
            await mika.invite(room, account.id)
            anna = MatrixPerson(mika, account.id, room)
            lives = Lives(tmp_path / str(number), opening(way, account), way, lambda: None)
            lives.away = partial(says_it_to_nobody, anna)
            if not await lives.live_through(welcome(anna), number, when, of="call"):
                break
            deaths += 1
        assert deaths, "it hardly lived"


async def welcome(anna: MatrixPerson) -> None:
    """She talks to it as soon as she sees it in the room."""
    await anna.until(lambda: joined(anna))
    await anna.ask("A")
    await anna.sees("Heard: «A»")


async def says_it_to_nobody(anna: MatrixPerson) -> None:
    """If the bot is in the room, she has said it before the bot comes back."""
    there = (await anna.person.members(anna.room))[anna.bot] == "join"
    while there and not anna.root:  # noqa: ASYNC110 - it is being said
        await asyncio.sleep(0.01)


def joined(anna: MatrixPerson) -> bool:
    seen = anna.person.rooms.get(anna.room)
    return any(
        (event["type"], event.get("state_key")) == ("m.room.member", anna.bot)
        and "join" in str(event["content"])
        for event in (seen.events if seen else ())
    )


def opening(way: FatalWay, account: Person) -> Open:
    def open_chat(home: Path) -> AbstractAsyncContextManager[Chat]:
        access = MatrixAccess(way.url, account.id, account.login.access_token)
        return MatrixChat(access, home, _everywhere, backoff=QUICK)

    return open_chat


def _everywhere(inviter: str, room: str, direct: bool) -> bool:
    return True


async def greeting(mika: Person, account: Person, room: str) -> None:
    """Once it is answered, the bot is there, and hears everything that is said from now on."""
    anna = MatrixPerson(mika, account.id, room)
    while True:
        await anna.ask("Hello")
        try:
            await anna.sees("Hello", seconds=1)
        except AssertionError:
            continue
        return


async def talk(anna: MatrixPerson) -> None:
    await anna.ask("A")
    await anna.reply("B")
    await anna.person.say(anna.room, "help", mention=anna.bot, thread=anna.root)
    await anna.sees("Heard: «B»")
    await anna.sees(HELP)
    await anna.clicks(f"📌 {KEEP}", on="«A»")
    await anna.sees("«A» is kept")
    await anna.until(lambda: chips(anna, "«A»") == [] and chips(anna, "«B»") == [f"📌 {KEEP}"])


def chips(anna: MatrixPerson, on: str) -> list[str]:
    """What the bot offers there."""
    card = anna.card(on)
    return [key for key, by in card.reactions if by == anna.bot] if card else []


def faults(anna: MatrixPerson, lives: Lives) -> Iterator[str]:
    stands = Counter(card.text.splitlines()[0] for card in anna.cards)
    if stands.total() != 3:
        yield f"there is {stands}"
    taken = Counter(
        (kind, "" if kind == "kept" else text)
        for _, thread, kind, text in lives.book
        if anna.root in thread
    )
    if taken != Counter((("said", "A"), ("said", "B"), ("kept", ""))):
        yield f"taken: {taken}"

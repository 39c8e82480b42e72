"""Where the bot is at work it is seen to write, and no longer; and few requests are made of that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.matrix.outgoing import TypingNotices, is_at_work
from bot.core.cards import Card
from bot.core.errors import Unavailable
from bot.core.people import Thread
from tests.adapters.matrix.listening import until
from tests.adapters.matrix.posting_stage import PostingStage
from tests.fakes import cards

ONE = Thread(platform="matrix", channel="!one", root="$1")
OTHER = Thread(platform="matrix", channel="!one", root="$2")
ELSEWHERE = Thread(platform="matrix", channel="!two", root="$3")
WAITING = cards.STATUS.model_copy(update={"phase": "approving"})
PAUSED = cards.STATUS.model_copy(update={"status": "Paused"})


@pytest.mark.parametrize(
    ("card", "at_work"),
    [
        (cards.RECEIVED, True),
        (cards.STATUS, True),
        (cards.APPROVED, True),
        (cards.NEWS, None),
        (cards.DOCUMENT, None),
        (cards.ANSWER, None),
        (WAITING, False),
        (PAUSED, False),
        (cards.QUESTIONS, False),
        (cards.APPROVAL, False),
        (cards.NEEDS_YOU, False),
        (cards.STOPPED, False),
        (cards.SUMMARY, False),
    ],
)
def test_a_card_tells_whether_the_bot_is_at_work(card: Card, at_work: bool | None) -> None:
    assert is_at_work(card) is at_work


class Rooms:
    def __init__(self) -> None:
        self.told: list[tuple[str, bool]] = []
        self.busy = TypingNotices(self.typing, renewed=0.02)

    async def typing(self, room: str, on: bool) -> None:
        self.told.append((room, on))
        if len(self.told) == 1:
            raise Unavailable("Nobody is there.")


@pytest.fixture
async def rooms() -> AsyncIterator[Rooms]:
    rooms = Rooms()
    yield rooms
    await rooms.busy.close()


async def test_it_is_renewed_while_any_thread_of_the_room_is_worked_for(rooms: Rooms) -> None:
    for thread in (ONE, OTHER, ELSEWHERE):
        rooms.busy.note_card(thread, cards.RECEIVED)
    await until(lambda: rooms.told.count(("!one", True)) > 3)
    rooms.busy.note_card(ONE, cards.APPROVAL)
    before = len(rooms.told)
    await until(lambda: rooms.told[before:].count(("!one", True)) > 1)
    rooms.busy.note_card(OTHER, cards.SUMMARY)
    await until(lambda: ("!one", False) in rooms.told)
    ended = len(rooms.told)
    await until(lambda: rooms.told[ended:].count(("!two", True)) > 2)
    assert "!one" not in [room for room, _ in rooms.told[ended:]]


async def test_many_cards_are_one_sign(rooms: Rooms) -> None:
    rooms.busy = TypingNotices(rooms.typing, renewed=60)
    for _ in range(100):
        rooms.busy.note_card(ONE, cards.RECEIVED)
        rooms.busy.note_card(ONE, cards.STATUS)
        await asyncio.sleep(0)
    rooms.busy.note_card(ONE, cards.QUESTIONS)
    await until(lambda: rooms.told == [("!one", True), ("!one", False)])


async def test_in_a_room_it_is_seen_to_write_from_the_request_to_the_question(
    stage: PostingStage,
) -> None:
    await stage.gateway.show(stage.thread, cards.RECEIVED)
    assert await typing(stage) == [stage.bot.id]
    await stage.gateway.show(stage.thread, cards.QUESTIONS)
    assert await typing(stage) == []
    assert stage.proxy.count("/typing/") == 2


async def typing(stage: PostingStage) -> list[str]:
    """Who writes, as the room is told next."""
    query = {"since": stage.anna.since, "timeout": "20000"} if stage.anna.since else {}
    async with asyncio.timeout(120):
        while True:
            told = await stage.anna.call("GET", "sync", query=query)
            query = {"since": str(told["next_batch"]), "timeout": "20000"}
            stage.anna.since = query["since"]
            room = told.get("rooms", {}).get("join", {}).get(stage.room, {})
            for event in room.get("ephemeral", {}).get("events", []):
                if event["type"] == "m.typing":
                    return list(event["content"]["user_ids"])

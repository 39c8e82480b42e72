"""Threads that the bot begins in a room of a real homeserver: one root message each, wherever an answer was lost."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from adapters.posting import PlacedCard, PostingLedger
from bot.core.cards import Card, RootCard
from bot.core.choices import Choice
from bot.core.errors import Unavailable
from bot.core.people import Thread
from tests.adapters.matrix.posting_stage import PostingStage
from tests.beds.synapse import Post
from tests.fakes import cards

SEND = "/send/m.room.message/"


class Killed(Exception):  # noqa: N818 - what happened, not an error
    """The program has ended here."""


class MortalLedger(PostingLedger):
    """Ends the program before its next line but so many."""

    lines = -1

    def record_wanted(
        self, thread: Thread, card: Card, choices: tuple[Choice, ...] = ()
    ) -> PlacedCard:
        self._line()
        return super().record_wanted(thread, card, choices)

    def record_partial(self, placed: PlacedCard, *messages: str) -> PlacedCard:
        self._line()
        return super().record_partial(placed, *messages)

    def record_posted(self, placed: PlacedCard, *messages: str) -> PlacedCard:
        self._line()
        return super().record_posted(placed, *messages)

    def record_adopted(self, placed: PlacedCard, thread: Thread, card: Card) -> PlacedCard:
        self._line()
        return super().record_adopted(placed, thread, card)

    def _line(self) -> None:
        if self.lines == 0:
            raise Killed
        self.lines -= 1


def a_root(**more: object) -> RootCard:
    """The room has threads of other tests in it."""
    name = secrets.token_hex(4)
    return cards.ROOT.model_copy(update={"key": f"root:{name}", "title": f"Part {name}", **more})


async def standing(stage: PostingStage, card: RootCard) -> list[Post]:
    """Messages in the room, outside of threads, that have the title of the card."""
    await stage.seen()
    posts = [p for p in stage.anna.posts(stage.room) if p.sender == stage.bot.id]
    said = [p for p in posts if card.title in p.text and not p.redacted]
    assert all(p.root == p.event_id for p in said)
    return said


async def test_a_thread_hangs_from_a_message_of_its_own(stage: PostingStage) -> None:
    card = a_root()
    opened = await stage.gateway.open(stage.thread, card)
    assert opened.model_copy(update={"root": stage.root}) == stage.thread
    (root,) = await standing(stage, card)
    assert (root.event_id, root.edits, root.mentions) == (opened.root, 0, ())
    assert "m.relates_to" not in root.content
    assert await stage.seen() == []
    assert stage.proxy.count(SEND) == 1


async def test_opened_again_it_costs_no_request(stage: PostingStage) -> None:
    card = a_root()
    opened = await stage.gateway.open(stage.thread, card)
    other = stage.thread.model_copy(update={"root": "$other"})
    assert await stage.gateway.open(other, card) == opened
    await stage.begin()
    before = len(stage.proxy.seen)
    assert await stage.gateway.open(stage.thread, card) == opened
    assert len(stage.proxy.seen) == before


async def test_two_that_open_the_same_at_once_open_one_thread(stage: PostingStage) -> None:
    card = a_root()
    one, other = await asyncio.gather(
        stage.gateway.open(stage.thread, card), stage.gateway.open(stage.thread, card)
    )
    assert one == other
    assert len(await standing(stage, card)) == 1


async def test_shown_in_its_thread_the_root_is_edited_and_nothing_else_is(
    stage: PostingStage,
) -> None:
    card = a_root()
    opened = await stage.gateway.open(stage.thread, card)
    changed = card.model_copy(update={"request": "It is about payments now."})
    await stage.gateway.show(opened, changed)
    await stage.gateway.show(opened, cards.NEWS)
    await stage.begin()
    assert await stage.gateway.open(stage.thread, changed) == opened
    (root,) = await standing(stage, card)
    assert (root.event_id, root.edits) == (opened.root, 1)
    assert "It is about payments now." in root.text
    _, news = stage.anna.thread(stage.room, opened.root)
    assert "tests failed" in news.text


async def test_a_lost_answer_makes_no_second_root(stage: PostingStage) -> None:
    card = a_root()
    stage.proxy.lose(2, where=SEND)
    with pytest.raises(Unavailable):
        await stage.gateway.open(stage.thread, card)
    await stage.begin()
    changed = card.model_copy(update={"request": "It is about payments now."})
    opened = await stage.gateway.open(stage.thread, changed)
    (root,) = await standing(stage, card)
    assert root.event_id == opened.root
    assert "It is about payments now." in root.text


async def test_wherever_the_program_ends_there_is_one_root(stage: PostingStage) -> None:
    ended, line = True, 0
    while ended:
        card = a_root()
        ledger = MortalLedger(stage.folder / "cards.jsonl")
        ledger.lines, line = line, line + 1
        try:
            await (await stage.begin(ledger)).open(stage.thread, card)
            ended = False
        except Killed:
            pass
        await stage.begin()
        opened = await stage.gateway.open(stage.thread, card)
        assert [one.event_id for one in await standing(stage, card)] == [opened.root]
        await stage.gateway.show(opened, card)
        await stage.seen()
        assert len(stage.anna.thread(stage.room, opened.root)) == 1
    assert line > 4


async def test_what_is_too_long_for_a_message_goes_on_in_the_thread(stage: PostingStage) -> None:
    card = a_root(request="So much is wanted of it. " * 2_500)
    stage.proxy.refuse(1, status=413, errcode="M_TOO_LARGE", where=SEND)
    opened = await stage.gateway.open(stage.thread, card)
    await stage.begin()
    assert await stage.gateway.open(stage.thread, card) == opened
    await stage.seen()
    root, *others = stage.anna.thread(stage.room, opened.root)
    assert root.event_id == opened.root
    assert others
    told = sum(post.text.count("So much is wanted of it.") for post in (root, *others))
    assert told == pytest.approx(2_500, abs=len(others) * 30)


async def test_who_began_the_first_thread_is_named_where_somebody_is_needed_in_the_second(
    stage: PostingStage,
) -> None:
    stage.gateway.remember_owner(stage.thread, stage.anna.id)
    opened = await stage.gateway.open(stage.thread, a_root())
    stage.gateway.remember_owner(opened, "@mallory:localhost")
    await stage.begin()
    await stage.gateway.show(opened, cards.QUESTIONS)
    await stage.seen()
    asked = stage.anna.thread(stage.room, opened.root)[-1]
    assert asked.mentions == (stage.anna.id,)


async def test_the_bot_gives_no_sign_that_it_heard_itself(stage: PostingStage) -> None:
    opened = await stage.gateway.open(stage.thread, a_root())
    await stage.gateway.show(opened, cards.RECEIVED)
    await stage.gateway.show(stage.thread, cards.RECEIVED)
    assert await stage.root_keys() == ("👀",)
    root = stage.anna.thread(stage.room, opened.root)[0]
    assert root.keys == ()

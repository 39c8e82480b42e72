"""A card that waits for a person must never be lost for good: a chat that refuses it today may take it tomorrow."""

from __future__ import annotations

import pytest

from bot.core.cards import ApprovalCard, Card, NeedsYouCard
from bot.core.choices import Verb, Word
from bot.core.errors import Refused
from bot.core.people import Thread
from tests.fakes.chat import MemoryChat
from tests.stories.stage import FAILED, Stage


class ShutChat(MemoryChat):
    """The bot may be put out of the channel."""

    shut = False

    async def show(self, thread: Thread, card: Card) -> None:
        if self.shut:
            raise Refused("I am not in that channel.", "Invite me.")
        await super().show(thread, card)


@pytest.fixture
async def shut() -> ShutChat:
    return ShutChat()


@pytest.fixture
async def stuck(shut: ShutChat) -> Stage:
    """Two tasks have failed for good, and nobody could be told."""
    stage = Stage()
    stage.chat = shut
    await stage.open()
    await stage.is_planned()
    stage.commands.answer(FAILED)
    await stage.approves()
    shut.shut = True
    await stage.agents_work(rounds=4)
    shut.shut = False
    assert not asked(stage)
    return stage


def asked(stage: Stage) -> list[NeedsYouCard]:
    return [card for card in stage.chat.cards() if isinstance(card, NeedsYouCard)]


@pytest.mark.parametrize("way", ["restart", "status", "stop and resume"])
async def test_what_failed_while_nobody_could_be_told_is_told_again(stuck: Stage, way: str) -> None:
    match way:
        case "restart":
            await stuck.revive()
            await stuck.settle()
        case "status":
            await stuck.commands_(Word.STATUS)
        case _:
            await stuck.commands_(Word.STOP)
            await stuck.commands_(Word.RESUME)
    cards = asked(stuck)
    assert [card.title for card in cards] == [
        "T001 failed: its tests still fail after 3 repairs",
        "T002 failed: its tests still fail after 3 repairs",
    ]
    assert all("AssertionError" in card.output and card.choices for card in cards)
    await stuck.close()


async def test_the_same_card_is_shown_as_it_was(shut: ShutChat) -> None:
    stage = Stage()
    stage.chat = shut
    await stage.open()
    await stage.is_planned()
    stage.commands.answer(FAILED)
    await stage.approves()
    await stage.agents_work(rounds=4)
    before = asked(stage)
    await stage.revive()
    await stage.settle()
    await stage.commands_(Word.STATUS)
    assert asked(stage) == before
    await stage.presses(Verb.DISCARD)
    assert all(card.decided and not card.choices for card in asked(stage) if card.decided)
    assert [bool(card.decided) for card in asked(stage)] == [True, True]
    await stage.close()


async def test_a_plan_nobody_could_be_shown_is_shown_on_request(shut: ShutChat) -> None:
    stage = Stage()
    stage.chat = shut
    await stage.open()
    await stage.says("Add discounts")
    shut.shut = True
    await stage.presses(Verb.DEFAULTS)
    shut.shut = False
    await stage.commands_(Word.STATUS)
    assert [card.decided for card in stage.chat.cards() if isinstance(card, ApprovalCard)] == [None]
    await stage.close()

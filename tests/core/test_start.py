"""At the start people are told what is unfinished, and with which words it goes on or is given up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.cards import Card
from bot.core.choices import Verb, Word
from bot.core.layout import lay_out
from bot.core.people import Thread
from bot.core.sheets import Table
from bot.core.states import Status
from tests.fakes.chat import ANNA, THREAD
from tests.stories.stage import Stage

OTHER = Thread(platform="memory", workspace="W1", channel="C1", root="2")


async def welcomed(stage: Stage) -> list[Card]:
    """What is told to somebody who comes, after a new start."""
    await stage.revive()
    await stage.settle()
    before = len(stage.chat.whispered)
    assert stage.desk
    await stage.desk.welcome(OTHER, ANNA)
    return [card for _, _, card in stage.chat.whispered[before:]]


@pytest.mark.covers("G-RULE-STORE-4")
async def test_unfinished_sessions_are_listed_and_can_be_resumed_or_discarded_by_their_id(
    stage: Stage,
) -> None:
    await stage.is_planned()
    await stage.is_planned("Add receipts", OTHER)
    await stage.presses(Verb.STOP)

    [card] = await welcomed(stage)

    first, second = stage.session(), stage.session(OTHER)
    assert first.status is Status.PAUSED
    laid = lay_out(card)
    [table] = [element for element in laid.body if isinstance(element, Table)]
    assert {row[0]: row[2] for row in table.rows} == {
        first.short: f"{first.status} · {first.phase}",
        second.short: f"{second.status} · {second.phase}",
    }
    assert "resume <id>" in str(laid)
    assert "discard <id>" in str(laid)
    await stage.commands_(Word.RESUME, first.short, OTHER)
    assert stage.session().status is Status.ACTIVE
    await stage.commands_(Word.DISCARD, first.short, OTHER)
    assert stage.session().status is Status.DISCARDED
    assert stage.session(OTHER).status is Status.ACTIVE


@pytest.mark.covers("G-RULE-STORE-4")
async def test_the_program_names_what_is_unfinished_at_its_start(stage: Stage) -> None:
    await stage.is_planned()
    await stage.revive()
    assert stage.desk
    first, way = stage.desk.unfinished()
    assert stage.session().short in first
    assert "Active · approving" in first
    assert "resume <id>" in way


async def test_where_all_is_finished_nothing_is_listed(stage: Stage) -> None:
    await stage.is_planned()
    await stage.commands_(Word.DISCARD)
    assert await welcomed(stage) == []
    assert stage.desk
    assert stage.desk.unfinished() == ()


@pytest.mark.covers("G-RULE-STORE-4")
async def test_a_stopped_session_shows_its_choices_again_after_a_start(stage: Stage) -> None:
    await stage.says("Add discounts")
    await stage.presses(Verb.STOP)
    stage.chat.threads.clear()
    await stage.revive()
    await stage.settle()
    [stopped] = [card for card in stage.chat.cards(THREAD) if card.kind == "stopped"]
    assert [choice.verb for choice in lay_out(stopped).choices] == [Verb.RESUME, Verb.DISCARD]


@pytest.mark.covers("O-X6")
async def test_in_a_script_the_agent_is_known_to_ask_in_vain(stage: Stage) -> None:
    await stage.says("Add discounts")
    assert stage.agents.answered == [True]

    stage.rules = replace(stage.rules, unattended=True)
    await stage.revive()
    await stage.says("Add receipts", OTHER)
    assert stage.agents.answered[-1] is False

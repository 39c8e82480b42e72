"""People who may do nothing cannot spend the bot's messages: each hears no a few times, and the others still do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from bot.core.choices import Verb
from bot.core.gate import (
    MAX_REFUSALS_PER_CHANNEL,
    MAX_REFUSALS_PER_PERSON,
    REFUSAL_WINDOW,
    RefusalLimit,
)
from bot.core.people import Person
from tests.core.at_the_desk import AT, GATE, NOBODY, REFUSED, pressed, said, take, titles
from tests.fakes.chat import THREAD
from tests.stories.stage import Stage


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    stage.gate = GATE
    await stage.open()
    yield stage
    await stage.close()


async def asks(stage: Stage, number: int, by: Person = NOBODY) -> None:
    root = THREAD.model_copy(update={"root": f"{by.id} asks {number}"})
    assert not await take(stage, said("Build it", by, id=root.root), root)


async def test_who_goes_on_and_on_is_told_no_a_few_times_only(stage: Stage) -> None:
    for number in range(200):
        await asks(stage, number)
    assert titles(stage) == [REFUSED] * MAX_REFUSALS_PER_PERSON


async def test_a_crowd_of_strangers_does_not_fill_a_channel_with_noes(stage: Stage) -> None:
    for number in range(200):
        await asks(stage, number, Person(platform="memory", id=f"nobody {number}"))
    assert titles(stage) == [REFUSED] * MAX_REFUSALS_PER_CHANNEL


async def test_who_may_is_heard_in_the_middle_of_a_flood(stage: Stage) -> None:
    await stage.is_planned()
    for number in range(50):
        await asks(stage, number)
    assert await take(stage, pressed(Verb.STOP))
    await stage.settle()
    assert stage.session().control.stops == 1


async def test_after_a_while_one_is_told_again(stage: Stage) -> None:
    for number in range(10):
        await asks(stage, number)
    await stage.clock.advance(REFUSAL_WINDOW.total_seconds())
    await asks(stage, 10)
    assert titles(stage) == [REFUSED] * (MAX_REFUSALS_PER_PERSON + 1)


def test_a_clock_that_was_set_back_silences_nobody() -> None:
    refusals = RefusalLimit()
    told = [refusals.may_tell(THREAD, NOBODY, AT) for _ in range(10)]
    assert told.count(True) == MAX_REFUSALS_PER_PERSON
    assert refusals.may_tell(THREAD, NOBODY, AT - timedelta(hours=1))


async def test_what_was_not_answered_changes_nothing_and_is_not_remembered_as_taken(
    stage: Stage,
) -> None:
    for number in range(20):
        await asks(stage, number)
    for _ in range(2):
        await asks(stage, 19)
    assert (stage.store.records, len(titles(stage))) == ({}, MAX_REFUSALS_PER_PERSON)

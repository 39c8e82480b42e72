"""What is told every two minutes while agents work, and that silence ends nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.core.cards import StatusCard
from bot.core.states import TaskState
from bot.settings import Settings
from tests.stories.stage import Stage

HOURS = 48


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage(secrets={"SHOP_TOKEN": "correct-horse-battery-staple"})
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    yield stage
    await stage.close()


def status(stage: Stage) -> StatusCard:
    card = stage.chat.card("status")
    assert isinstance(card, StatusCard)
    return card


@pytest.mark.covers(
    "G-RULE-LOOP-12", "G-RULE-PROGRESS-1", "G-RULE-PROGRESS-2", "G-RULE-PROGRESS-3", "G-FR-023"
)
async def test_a_tick_tells_state_run_time_and_the_masked_end_of_each_pane_and_asks_no_model(
    stage: Stage,
) -> None:
    asked = stage.llm.count
    first = stage.panes.running()[0]
    stage.panes.screens[first] = "an old line\none\ntoken correct-horse-battery-staple\nthree"
    await stage.clock.advance(125)
    await stage.ticks()
    line, _, waiting = status(stage).tasks
    assert (line.state, line.seconds) == (TaskState.RUNNING, 125)
    assert line.tail == "one\ntoken [MASKED:SHOP_TOKEN]\nthree"
    assert (waiting.state, waiting.tail) == (TaskState.PENDING, "")
    assert stage.llm.count == asked


async def test_a_pane_that_cannot_be_read_does_not_hold_up_the_status(stage: Stage) -> None:
    stage.panes.unreadable.add(stage.panes.running()[0])
    await stage.clock.advance(125)
    await stage.ticks()
    line = status(stage).tasks[0]
    assert (line.seconds, line.tail) == (125, "")


@pytest.mark.covers("G-RULE-PROGRESS-1", "G-FR-023")
def test_progress_is_told_every_two_minutes_unless_the_operator_says_otherwise() -> None:
    assert Settings.model_fields["progress_seconds"].default == 120


@pytest.mark.covers("O-C8")
async def test_where_the_operator_wants_it_each_tick_comes_at_the_end_of_the_thread(
    stage: Stage,
) -> None:
    await stage.ticks()
    assert not status(stage).anew
    stage.rules = replace(stage.rules, progress_posted=True)
    await stage.revive()
    await stage.settle()
    assert not status(stage).anew
    await stage.ticks()
    assert status(stage).anew


@pytest.mark.covers("G-RULE-END-5", "O-X7")
async def test_an_agent_that_says_nothing_for_days_works_on_and_its_run_time_is_shown(
    stage: Stage,
) -> None:
    at_work = stage.panes.running()
    for _ in range(HOURS):
        await stage.clock.advance(3600)
        await stage.ticks()
    assert stage.panes.running() == at_work
    assert stage.panes.stopped == []
    assert [line.seconds for line in status(stage).tasks[:2]] == [HOURS * 3600] * 2
    states = [task.state for task in stage.session().tasks]
    assert states == [TaskState.RUNNING, TaskState.RUNNING, TaskState.PENDING]

"""What an agent asks is heard, whatever is wrong at that moment."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from bot.core.errors import Unavailable
from bot.core.runs import Dialog, DialogKind, DialogOption
from bot.core.states import RunState
from bot.steps.dialogs import work as dialogs
from tests.stories.stage import Stage

ASKED = Dialog(
    id="d1",
    kind=DialogKind.MENU,
    title="Do you want to proceed?",
    options=(DialogOption(id="1", label="Yes"), DialogOption(id="2", label="No")),
)


@pytest.fixture
async def run(stage: Stage) -> str:
    await stage.is_planned()
    await stage.approves()
    return stage.panes.running()[0]


def _states(stage: Stage) -> list[RunState]:
    return [task.run.state for task in stage.session().tasks if task.run]


async def test_what_was_asked_with_a_full_disk_is_told_once_there_is_room(
    stage: Stage, run: str
) -> None:
    stage.store.full = True
    stage.panes.asks(run, ASKED)
    await stage.settle()
    assert RunState.WAITING_INPUT not in _states(stage)
    stage.store.full = False
    await stage.clock.advance(dialogs.RETRY_AFTER + 1)
    await stage.settle()
    assert RunState.WAITING_INPUT in _states(stage)


async def test_a_screen_that_could_not_be_read_is_read_again(stage: Stage, run: str) -> None:
    read = stage.panes.dialogs

    async def unreadable(name: str) -> AsyncGenerator[Dialog | None]:
        stage.panes.dialogs = read
        raise Unavailable("tmux does not answer")
        yield None

    stage.panes.dialogs = unreadable
    await stage.revive()
    await stage.settle()
    await stage.clock.advance(dialogs.RETRY_AFTER + 1)
    stage.panes.asks(run, ASKED)
    await stage.settle()
    assert RunState.WAITING_INPUT in _states(stage)

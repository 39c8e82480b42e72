"""What a repository has agents do is told before anybody approves; what changes of it later is asked about before it counts."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.core.cards import NeedsYouCard, ReceivedCard
from bot.core.choices import Verb
from bot.core.states import RunState, TaskState
from bot.core.task import Hold, Task
from tests.fakes.commands import PASSED
from tests.stories.stage import FAILED, Stage

OBEYED = ".claude/settings.json"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    stage.agents.obeys = (OBEYED,)
    yield stage
    await stage.close()


def held(stage: Stage) -> Task:
    (task,) = [task for task in stage.session().tasks if task.hold is Hold.SETTINGS]
    return task


async def test_it_stands_on_the_first_card_and_on_the_approval_card(stage: Stage) -> None:
    stage.repository.commit("main", {OBEYED: "{hooks}"}, "settings")
    await stage.open()
    await stage.is_planned()
    assert stage.approval_card().brought == (f"played obeys {OBEYED}.",)
    received = stage.chat.card("received")
    assert isinstance(received, ReceivedCard)
    assert f"played obeys {OBEYED}." in received.notes


async def test_what_is_only_in_the_checkout_is_not_what_agents_get(stage: Stage) -> None:
    stage.repository.changes[OBEYED] = "{hooks}"
    await stage.open()
    await stage.is_planned()
    assert stage.approval_card().brought == ()


@pytest.mark.parametrize("how", ["committed", "left"])
async def test_an_agent_that_plants_them_is_not_started_again_before_a_person_agrees(
    stage: Stage, how: str
) -> None:
    stage.commands.answer(FAILED, PASSED)
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    first, _ = stage.panes.running()
    folder = stage.panes.folders[first]
    stage.worktrees.agent_commits(folder, {"x.py": "1\n"}, "feat: x")
    if how == "committed":
        stage.worktrees.agent_commits(folder, {OBEYED: "{hooks}"}, "chore: settings")
    else:
        stage.worktrees.standing[folder].copied[OBEYED] = "{hooks}"
    stage.panes.finish(first)
    await stage.settle()

    task = held(stage)
    assert (task.state, len(stage.panes.started)) == (TaskState.BLOCKED, 2)
    card = stage.chat.card(f"needs-you:{task.key}:{task.asking}")
    assert isinstance(card, NeedsYouCard)
    assert OBEYED in card.reason

    await stage.presses(Verb.ACCEPT, f"{task.id}:{task.asking}")
    running = next(one for one in stage.session().tasks if one.id == task.id)
    assert running.run
    assert (running.state, running.run.state) == (TaskState.RUNNING, RunState.RUNNING)


async def test_what_changes_once_more_is_asked_about_once_more(stage: Stage) -> None:
    stage.commands.answer(FAILED, FAILED)
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    folder = stage.panes.folders[stage.panes.running()[0]]
    for number in (1, 2):
        name = next(name for name in stage.panes.running() if stage.panes.folders[name] == folder)
        stage.worktrees.agent_commits(folder, {OBEYED: f"{number}", f"{number}": ""}, "feat: x")
        stage.panes.finish(name)
        await stage.settle()
        task = held(stage)
        await stage.presses(Verb.ACCEPT, f"{task.id}:{task.asking}")
    assert len(held_marks(stage)) == 2


def held_marks(stage: Stage) -> set[str]:
    return {mark for task in stage.session().tasks for mark in task.accepted}

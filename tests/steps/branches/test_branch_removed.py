"""The branch of a task is removed by hand, with git or in branch mode: its session notices, and a person says how it goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from bot.core.cards import NeedsYouCard
from bot.core.choices import Verb, Word
from bot.core.states import TaskState
from bot.core.task import Hold, Task, Workspace
from tests.stories.stage import Stage

pytestmark = pytest.mark.covers("G-RULE-BRANCHMODE-3")

Removal = Callable[[Stage], Awaitable[str]]
WAYS_ON = {Verb.RETRY, Verb.REASSIGN, Verb.SKIP, Verb.GIVE_UP}


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.open()
    await stage.is_planned()
    await stage.approves()
    yield stage
    await stage.close()


def first(stage: Stage) -> tuple[Task, Workspace]:
    task = stage.session().tasks[0]
    assert task.workspace
    return task, task.workspace


def waits(stage: Stage) -> NeedsYouCard:
    """The card of the task, as it stands now."""
    task, _ = first(stage)
    card = stage.chat.card(f"needs-you:{task.key}:{task.asking}")
    assert isinstance(card, NeedsYouCard)
    return card


async def with_git(stage: Stage) -> str:
    """Where it stood."""
    _, workspace = first(stage)
    return stage.repository.heads.pop(workspace.branch)


async def in_branch_mode(stage: Stage) -> str:
    """Which lets it go once nobody has it checked out any more; the question says who needs it."""
    _, workspace = first(stage)
    stage.worktrees.vanish(workspace.path)
    commit = stage.repository.heads[workspace.branch]
    await stage.commands_(Word.BRANCH, workspace.branch)
    shown = [card for _, card in stage.chat.shown if card.key.startswith("branch:")][-1]
    delete = next(one for one in getattr(shown, "choices", ()) if one.verb is Verb.DELETE_BRANCH)
    assert f"T001 Running · {stage.session().short} needs it" in delete.confirm
    await stage.presses(Verb.DELETE_BRANCH, delete.about)
    assert workspace.branch not in stage.repository.heads
    return commit


REMOVED = [pytest.param(with_git, id="with git"), pytest.param(in_branch_mode, id="in branch mode")]


@pytest.mark.parametrize("removed", REMOVED)
async def test_its_session_notices_and_its_task_is_blocked_with_ways_to_go_on(
    stage: Stage, removed: Removal
) -> None:
    await removed(stage)
    await stage.looks_around()
    task, workspace = first(stage)
    assert (task.state, task.hold) == (TaskState.BLOCKED, Hold.LOST)
    assert workspace.path in task.blocked or workspace.branch in task.blocked
    assert {choice.verb for choice in waits(stage).choices} >= WAYS_ON
    # only this task: the others never notice
    assert stage.session().tasks[1].state is TaskState.RUNNING
    assert stage.panes.running() == (stage.session().tasks[1].runs[-1].name,)


@pytest.mark.parametrize("removed", REMOVED)
async def test_brought_back_it_goes_on_where_it_was(stage: Stage, removed: Removal) -> None:
    commit = await removed(stage)
    await stage.looks_around()
    _, workspace = first(stage)
    stage.repository.heads[workspace.branch] = commit
    about = waits(stage).choices[0].about
    await stage.presses(Verb.RETRY, about)
    task, after = first(stage)
    assert (task.state, after.branch) == (TaskState.RUNNING, workspace.branch)


@pytest.mark.parametrize("removed", REMOVED)
async def test_not_brought_back_it_is_begun_anew_on_another_branch(
    stage: Stage, removed: Removal
) -> None:
    await removed(stage)
    await stage.looks_around()
    _, before = first(stage)
    await stage.presses(Verb.REASSIGN, waits(stage).choices[0].about)
    task, after = first(stage)
    assert (task.state, after.branch != before.branch) == (TaskState.RUNNING, True)


async def test_still_gone_it_is_asked_for_again(stage: Stage) -> None:
    await with_git(stage)
    await stage.looks_around()
    await stage.presses(Verb.RETRY, waits(stage).choices[0].about)
    task, _ = first(stage)
    assert (task.state, task.hold) == (TaskState.BLOCKED, Hold.LOST)
    assert {choice.verb for choice in waits(stage).choices} >= WAYS_ON


async def test_one_that_waits_in_a_stopped_session_is_noticed_when_it_goes_on(stage: Stage) -> None:
    await stage.commands_(Word.STOP)
    await with_git(stage)
    await stage.looks_around()
    await stage.commands_(Word.RESUME)
    await stage.looks_around()
    task, _ = first(stage)
    assert (task.state, task.hold) == (TaskState.BLOCKED, Hold.LOST)

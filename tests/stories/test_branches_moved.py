"""Somebody moves a branch that is done: what is merged is what was tested, and nothing of it is left out."""

from __future__ import annotations

import pytest

from bot.core.choices import Verb
from bot.core.states import Phase, Status
from tests.stories.stage import Stage


async def _finished(stage: Stage) -> str:
    """Everything is done and waits to be merged. The branch of one of the tasks."""
    await stage.is_planned()
    await stage.approves()
    await stage.agents_work(rounds=6)
    task = stage.session().tasks[1]
    assert stage.session().phase is Phase.FINISHING
    assert task.workspace
    return task.workspace.branch


@pytest.mark.parametrize("on", [True, False], ids=["on", "back"])
async def test_a_branch_that_was_moved_is_not_merged_until_it_is_put_back(
    stage: Stage, on: bool
) -> None:
    branch = await _finished(stage)
    there = stage.repository
    base, head = there.heads["main"], there.heads[branch]
    there.heads[branch] = there.commits[head].parents[0]
    if on:
        there.heads[branch] = head
        there.commit(branch, {"more.py": "y = 2\n"}, "untested")

    await stage.presses(Verb.MERGE)
    assert there.heads["main"] == base
    assert f"{branch} (judged at {head[:10]})" in stage.session().ending.problem
    assert stage.session().status is Status.ACTIVE

    there.heads[branch] = head
    await stage.presses(Verb.MERGE)
    assert stage.session().status is Status.COMPLETED
    assert head in there.ancestors(there.heads["main"])

"""A worktree or branch that was taken away by hand: its task is Blocked, and a person says how it goes on."""

from __future__ import annotations

import pytest

from bot.core.actions import ListBranches, LookAtWork, StopRun
from bot.core.choices import Verb
from bot.core.events import BranchesListed, OrderFailed
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.states import TaskState
from bot.core.task import Hold, Task
from bot.steps.decisions import decide
from tests.steps.scenes import (
    executing,
    gets_place,
    later,
    needs,
    ordered,
    press,
    running,
    shipped,
    verbs,
    verifying,
    work,
)

WAYS_ON = [Verb.RETRY, Verb.REASSIGN, Verb.SKIP, Verb.GIVE_UP]


def lost(session: Session, order: str = "observe") -> OrderFailed:
    return OrderFailed(
        id="lost",
        at=later(),
        answers=order,
        what=order.partition(":")[0],
        task_id=session.tasks[0].id,
        reason="The worktree is gone.",
        lost=True,
    )


def blocked(task: Task) -> tuple[Session, OrderFailed]:
    session = executing(task)
    return session, lost(session)


def ways_on(deeds: list[Verb]) -> list[Verb]:
    return [verb for verb in deeds if verb in WAYS_ON]


@pytest.mark.covers("G-EDGE-1", "G-EDGE-4", "G-RULE-STORE-6")
def test_a_lost_worktree_blocks_its_task_and_its_agent_is_ended() -> None:
    session, event = blocked(running("T001"))
    deeds = decide(session, event)
    task = session.tasks[0]
    assert (task.state, task.hold) == (TaskState.BLOCKED, Hold.LOST)
    assert any(isinstance(deed, StopRun) for deed in deeds)
    assert ways_on(verbs(needs(deeds)[0])) == WAYS_ON


def test_what_is_only_refused_is_no_loss() -> None:
    session, event = blocked(running("T001"))
    card = needs(decide(session, event.model_copy(update={"lost": False})))[0]
    assert Verb.REASSIGN not in verbs(card)


@pytest.mark.covers("G-EDGE-4", "G-RULE-STORE-6")
def test_made_again_it_goes_on_where_it_was() -> None:
    session = executing(verifying("T001"))
    order = ordered(session, "look_at_work")
    card = needs(decide(session, lost(session, order.key)))[0]
    decide(session, press(card, Verb.RETRY))
    gets_place(session)
    task = session.tasks[0]
    assert task.state is TaskState.VERIFYING
    assert isinstance(ordered(session, "look_at_work"), LookAtWork)
    assert task.workspace
    assert not task.workspace.ready


@pytest.mark.covers("G-EDGE-4", "G-RULE-BRANCHMODE-3", "G-RULE-STORE-6")
@pytest.mark.parametrize("task", [running("T001"), verifying("T001")])
def test_begun_anew_it_gets_another_branch_and_an_agent_that_knows_nothing(task: Task) -> None:
    session = executing(task)
    former = session.tasks[0].workspace
    assert former
    card = needs(decide(session, lost(session, ordered_for(session))))[0]
    decide(session, press(card, Verb.REASSIGN))
    gets_place(session)
    order = ordered(session, "list_branches")
    assert isinstance(order, ListBranches)
    # its branch was deleted: only the session knows that the name is used up
    decide(session, BranchesListed(id="b", at=later(), answers=order.key, names=("main",)))
    task = session.tasks[0]
    assert task.workspace
    assert task.workspace.branch != former.branch
    assert [one.branch for one in task.former_workspaces] == [former.branch]
    assert task.run
    assert (task.state, task.run.why, task.run.resumes) == (TaskState.RUNNING, Why.RETRY, False)


def ordered_for(session: Session) -> str:
    verifies = session.tasks[0].state is TaskState.VERIFYING
    return ordered(session, "look_at_work").key if verifies else "observe"


def test_what_people_see_as_a_pull_request_keeps_its_branch() -> None:
    task = shipped("T001", 1)
    task.state, task.work_run = TaskState.VERIFYING, ""
    task.work = work("feat: it")
    session = executing(task)
    card = needs(decide(session, lost(session, ordered_for(session))))[0]
    assert ways_on(verbs(card)) == [Verb.RETRY, Verb.SKIP, Verb.GIVE_UP]

"""Tasks that follow each other on one branch: one worktree, one at a time, one pull request, made by whoever is last there."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed
from bot.core.choices import Verb
from bot.core.events import BranchesListed, NameTaken, TaskReplanned
from bot.core.session import Session
from bot.core.states import Outcome, Phase, RunState, TaskState
from bot.core.task import PullRequest, SmallerTask, Strategy, Task, Workspace
from bot.steps import plan
from bot.steps.blocked import rules as blocked
from bot.steps.decisions import decide, due
from bot.steps.execute import next_step
from tests.steps.scenes import (
    delivering,
    ended,
    executing,
    gets_place,
    is_verified,
    kinds,
    later,
    needs,
    ordered,
    press,
    pull,
    run,
    running,
    sharing,
    shipped,
    task,
    tick,
    verifying,
    work,
)


def named(session: Session) -> None:
    order = ordered(session, "list_branches")
    decide(session, BranchesListed(id="b", at=later(), answers=order.key, names=("main",)))


def unnamed(key: str, *after: str) -> Task:
    """It is to share, where it comes after one other."""
    strategy = Strategy.SHARED if after else Strategy.NEW
    return task(key, workspace=None, dependencies=after, worktree_strategy=strategy)


def space(one: Task) -> Workspace:
    assert one.workspace
    return one.workspace


def branches(session: Session) -> list[str]:
    return [space(one).branch for one in session.tasks]


@pytest.mark.covers("G-RULE-TASKS-5")
def test_a_successor_that_shares_gets_its_predecessors_branch_and_worktree() -> None:
    session = executing(unnamed("T001"), unnamed("T002", "id-T001"))
    named(session)
    first, second = map(space, session.tasks)
    assert (first.branch, first.path) == (second.branch, second.path)
    assert second.task_ids == ("id-T001", "id-T002")
    assert not second.start, "its own work begins where the other's has ended"


@pytest.mark.covers("G-RULE-TASKS-5")
def test_of_two_successors_one_goes_on_and_the_other_has_a_branch_of_its_own() -> None:
    session = executing(
        unnamed("T001"),
        unnamed("T002", "id-T001"),
        unnamed("T003", "id-T001"),
        unnamed("T004", "id-T001", "id-T002"),
    )
    named(session)
    assert len(set(branches(session))) == 3


def test_what_people_see_as_a_pull_request_is_not_built_on_by_others() -> None:
    later_on = unnamed("T002", "id-T001")
    session = delivering(shipped("T001", 7), later_on)
    named(session)
    assert branches(session)[1] != "agent/t001"


def test_two_never_work_in_one_worktree() -> None:
    first, second = sharing(running("T001"), task("T002"))
    second.state, second.runs = TaskState.NEEDS_CONTINUATION, [run("T002", 1, RunState.ENDED)]
    session = executing(first, second)
    decide(session, tick())
    assert session.tasks[1].state is TaskState.NEEDS_CONTINUATION


@pytest.mark.covers("G-RULE-TASKS-5")
def test_only_the_last_makes_the_pull_request() -> None:
    session = delivering(*sharing(verifying("T001"), task("T002")))
    is_verified(session, work("feat: x"))
    assert session.tasks[0].state is TaskState.COMPLETED
    assert "describe_work" not in kinds(session)
    second = session.tasks[1]
    assert second.run
    second.update_run(second.run.become(RunState.RUNNING))
    decide(session, ended(second.run.id))
    is_verified(session, work("feat: y"))
    assert second.state is TaskState.INTEGRATING
    assert kinds(session) == ["describe_work"]


def pulled(session: Session, key: str) -> PullRequest | None:
    one = session.task(f"id-{key}")
    return plan.pull_request_of(session, one) if one else None


def test_the_pull_request_of_the_last_is_that_of_all() -> None:
    first, second = sharing(task("T001", TaskState.COMPLETED), shipped("T002", 7))
    session = delivering(first, second)
    assert pulled(session, "T001") is second.pull_request


def blocked_last(*, begun: bool) -> tuple[Session, list[Deed]]:
    first, second = sharing(verifying("T001"), task("T002"))
    session = delivering(first, second)
    is_verified(session, work("feat: x"))
    if begun:
        failed = session.tasks[1]
        assert failed.run
        failed.counters = failed.counters.model_copy(update={"failed_runs": 2})
        failed.update_run(failed.run.become(RunState.RUNNING))
        return session, decide(session, ended(failed.run.id, Outcome.FAILED))
    session.tasks[1].runs.clear()
    session.tasks[1].state = TaskState.BLOCKED
    session.tasks[1].blocked = "no"
    return session, list(blocked.waiting_task_cards(session))


def test_where_the_last_is_left_out_before_it_began_the_one_before_it_makes_the_pull_request() -> (
    None
):
    session, shown = blocked_last(begun=False)
    decide(session, press(needs(shown)[0], Verb.SKIP))
    assert session.tasks[0].state is TaskState.INTEGRATING
    assert session.phase is Phase.EXECUTING


def test_what_a_left_out_task_has_left_on_the_branch_is_looked_at_and_tested_first() -> None:
    session, shown = blocked_last(begun=True)
    decide(session, press(needs(shown)[0], Verb.SKIP))
    assert session.tasks[0].state is TaskState.VERIFYING
    if not session.queue.has_place:
        gets_place(session)
    assert kinds(session) == ["look_at_work"]


def test_who_is_at_work_before_it_on_the_branch_goes_on_undisturbed() -> None:
    first, second = sharing(
        running("T001", work=work("feat: x")), task("T002", TaskState.FAILED, blocked="x")
    )
    session = delivering(first, second)
    [card] = needs(list(blocked.waiting_task_cards(session)))
    decide(session, press(card, Verb.SKIP))
    assert first.state is TaskState.RUNNING


def test_without_a_forge_nothing_is_done_again_for_a_task_that_is_left_out() -> None:
    session, shown = blocked_last(begun=False)
    session.pulls.host = None
    decide(session, press(needs(shown)[0], Verb.SKIP))
    assert session.tasks[0].state is TaskState.COMPLETED


def test_who_has_not_begun_does_not_go_on_with_the_branch_of_a_task_that_was_left_out() -> None:
    first, second = sharing(
        task("T001", TaskState.FAILED, blocked="x", runs=[run("T001", 1, RunState.ENDED)]),
        task("T002"),
    )
    session = delivering(first, second)
    [card] = needs(list(blocked.waiting_task_cards(session)))
    decide(session, press(card, Verb.SKIP))
    assert second.workspace is None
    if not session.queue.has_place:
        gets_place(session)
    named(session)
    assert branches(session)[1] != branches(session)[0]


def test_parts_of_a_cut_task_and_who_shared_its_branch_each_get_branches_of_their_own() -> None:
    first, second = sharing(verifying("T001", replan_reason="large"), task("T002"))
    session = delivering(first, second)
    order = ordered(session, "replan_task")
    parts = (SmallerTask(name="One"), SmallerTask(name="Two"))
    decide(
        session,
        TaskReplanned(id="r", at=later(), answers=order.key, task_id="id-T001", smaller=parts),
    )
    named(session)
    assert len(set(branches(session))) == 4


def test_a_taken_name_is_not_kept_by_those_who_were_to_share_it() -> None:
    first, second = sharing(running("T001", RunState.STARTING), task("T002"))
    first.workspace = space(first).model_copy(update={"start": "", "ready": False})
    session = executing(first, second)
    order = ordered(session, "prepare_workspace")
    taken = NameTaken(id="n", at=later(), answers=order.key, task_id="id-T001", branch="agent/t001")
    decide(session, taken)
    named(session)
    assert branches(session)[0] == branches(session)[1] != "agent/t001"


def reworked(second: Task) -> Session:
    """T001 is worked on again while T002 goes on with its branch."""
    first, second = sharing(verifying("T001"), second)
    return delivering(first, second)


def test_what_was_built_upon_work_that_has_changed_is_looked_at_and_tested_again() -> None:
    session = reworked(shipped("T002", 7))
    second = session.tasks[1]
    assert second.pull_request
    wanted = {"wanted_by": session.owner}
    second.pull_request = second.pull_request.model_copy(update=wanted)
    is_verified(session, work("fix: x"))
    assert second.state is TaskState.VERIFYING
    assert ordered(session, "look_at_work", "id-T002")
    assert second.pull_request.wanted_by is None, "whoever wanted it merged has seen another one"


def test_nothing_is_published_while_somebody_works_on_the_branch() -> None:
    session = reworked(shipped("T002", 7, state=TaskState.INTEGRATING, pull_request=None))
    assert "open_pull" not in kinds(session)
    is_verified(session, work("fix: x"))
    assert session.tasks[1].state is TaskState.VERIFYING


def test_the_base_is_not_merged_into_a_worktree_in_which_somebody_works() -> None:
    waiting = shipped("T002", 7, state=TaskState.NEEDS_CONTINUATION, base_to_merge=("m1",))
    session = reworked(waiting)
    assert "take_in_base" not in kinds(session)
    is_verified(session, work("fix: x"))
    assert ordered(session, "take_in_base")


def test_nobody_starts_in_a_worktree_into_which_the_base_is_being_merged() -> None:
    first, second = sharing(
        task("T001", TaskState.NEEDS_CONTINUATION, runs=[run("T001", 1, RunState.ENDED)]),
        shipped("T002", 7, state=TaskState.NEEDS_CONTINUATION, base_to_merge=("m1",)),
    )
    session = delivering(first, second)
    decide(session, tick())
    assert first.state is TaskState.NEEDS_CONTINUATION
    assert ordered(session, "take_in_base")


def test_a_task_others_have_built_upon_is_not_cut() -> None:
    first, second = sharing(verifying("T001"), running("T002"))
    assert not next_step.may_be_split(delivering(first, second), first)


def test_one_branch_is_one_pull_request_in_the_session() -> None:
    first, second = sharing(task("T001", TaskState.COMPLETED), shipped("T002", 7))
    session = delivering(first, second)
    watch = ordered(session, "watch_pulls")
    assert watch.key == "watch:7"
    assert [plan.is_last_on_branch(session, one) for one in session.tasks] == [False, True]
    assert pull(7).number == 7
    assert list(due(session))

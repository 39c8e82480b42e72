"""A task that is too large is cut: smaller ones serve the same, whoever waited for it waits for them, and it ends some day."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed, StopRun
from bot.core.choices import Verb
from bot.core.events import OrderFailed, TaskReplanned
from bot.core.evidence import Judgement
from bot.core.session import Session
from bot.core.spec_kit.drafts import TaskType
from bot.core.states import TaskState
from bot.core.talk import Affected, Change, ChangeStage
from bot.core.task import Acceptance, Counters, SmallerTask, Task, drafts_of
from bot.steps.change import effects as change_effects
from bot.steps.decisions import decide
from bot.steps.execute import next_step
from tests.steps.scenes import (
    ANN,
    by_default,
    delivering,
    executing,
    gets_place,
    judge_says,
    kinds,
    later,
    looked,
    needs,
    ordered,
    press,
    ran_tests,
    run,
    running,
    shipped,
    task,
    titles,
    verifying,
    work,
)

PARTS = (
    SmallerTask(name="Read", acceptance=(Acceptance(id="A1", text="It reads."),), files=("r.py",)),
    SmallerTask(name="Write", after=(0,)),
    SmallerTask(name="Tell", after=(0, 1)),
)


def too_large(*others: Task, **changes: object) -> Session:
    session = executing(
        verifying("T001", requirements=("FR-001",), agent="codex", **changes), *others
    )
    looked(session, work("feat: x"))
    ran_tests(session, 1, "E")
    by_default(session, "cut")
    return session


def cut(session: Session, *parts: SmallerTask) -> list[Deed]:
    order = ordered(session, "replan_task")
    event = TaskReplanned(id="r", at=later(), answers=order.key, task_id="id-T001", smaller=parts)
    return decide(session, event)


def refused(session: Session) -> list[Deed]:
    order = ordered(session, "replan_task")
    event = OrderFailed(
        id="r", at=later(), answers=order.key, what="replan_task", task_id="id-T001", reason="no"
    )
    return decide(session, event)


def of(session: Session, name: str) -> Task:
    return next(one for one in session.tasks if one.name == name)


def test_a_cut_is_asked_for_and_nothing_else_happens_to_the_task_meanwhile() -> None:
    session = too_large()
    assert kinds(session) == ["replan_task"]
    assert session.tasks[0].state is TaskState.VERIFYING


@pytest.mark.covers(
    "B-STATE-REPLACED_BY_REPLAN", "B-MOVE-5", "B-OP-markTaskAsReplanned", "R-RULE-TASK-1"
)
def test_smaller_tasks_take_its_place_serve_the_same_and_keep_its_agent() -> None:
    session = too_large(number=1)
    shown = cut(session, *PARTS)
    old, *new = session.tasks
    assert old.state is TaskState.REPLACED
    assert old.replaced_by == tuple(one.id for one in new)
    assert [one.key for one in new] == ["T002", "T003", "T004"]
    assert {one.requirements for one in new} == {("FR-001",)}
    assert {one.agent for one in new} == {"codex"}
    assert {(one.parent, one.original) for one in new} == {("id-T001", "id-T001")}
    assert "T001 is cut into 3 smaller tasks" in titles(shown)


def test_they_come_after_each_other_as_was_proposed_and_after_what_it_came_after() -> None:
    session = executing(
        task("T000", TaskState.COMPLETED),
        verifying("T001", dependencies=("id-T000",), replan_reason="large"),
    )
    cut(session, *PARTS)
    assert of(session, "Read").dependencies == ("id-T000",)
    assert of(session, "Tell").dependencies == (
        "id-T000",
        of(session, "Read").id,
        of(session, "Write").id,
    )


def test_a_part_that_would_come_after_itself_or_a_later_one_does_not() -> None:
    session = too_large()
    cut(
        session,
        SmallerTask(name="One", after=(0, 1, 5, -1)),
        SmallerTask(name="Two", after=(-2, 1)),
    )
    assert of(session, "One").dependencies == ()
    assert of(session, "Two").dependencies == ()


@pytest.mark.covers("B-OP-markTaskAsReplanned")
def test_whoever_waited_for_it_waits_for_all_of_them() -> None:
    session = too_large(task("T002", dependencies=("id-T001", "id-T009")))
    cut(session, *PARTS)
    dependent = session.task("id-T002")
    assert dependent
    assert set(dependent.dependencies) == {"id-T009", *session.tasks[0].replaced_by}
    assert dependent.state is TaskState.PENDING


def test_what_was_free_already_waits_again() -> None:
    session = executing(
        verifying("T001", replan_reason="large"),
        task("T002", TaskState.READY, dependencies=("id-T001",)),
        plan__parallelism=1,
    )
    cut(session, *PARTS)
    dependent = session.task("id-T002")
    assert dependent
    assert dependent.state is TaskState.PENDING


def test_what_a_failure_held_up_goes_on_after_the_parts() -> None:
    session = too_large(task("T002", dependencies=("id-T001",)))
    [card] = needs(refused(session))
    assert session.tasks[1].blocked == "waits for T001"
    decide(session, press(card, Verb.RETRY))
    assert session.tasks[1].state is TaskState.PENDING


def test_what_was_tried_is_named_to_those_who_do_it_now() -> None:
    session = too_large()
    cut(session, *PARTS)
    assert "agent/t001" in of(session, "Read").description


def test_what_cannot_be_cut_is_a_persons() -> None:
    session = too_large()
    [card] = needs(cut(session, SmallerTask(name="One")))
    assert "could not be cut" in card.reason
    assert session.tasks[0].replan_reason == ""


def test_a_model_that_refuses_to_cut_leaves_it_to_a_person_and_a_retry_looks_again() -> None:
    session = too_large()
    [card] = needs(refused(session))
    decide(session, press(card, Verb.RETRY))
    gets_place(session)
    assert kinds(session) == ["look_at_work"]


def test_a_cut_that_is_told_twice_is_made_once() -> None:
    session = too_large()
    order = ordered(session, "replan_task")
    event = TaskReplanned(id="r", at=later(), answers=order.key, task_id="id-T001", smaller=PARTS)
    decide(session, event)
    decide(session, event)
    assert len(session.tasks) == 4


@pytest.mark.covers("B-OP-replanFailedTask")
def test_a_task_and_what_it_was_cut_into_are_cut_three_times_in_all() -> None:
    old = [
        task(f"T00{n}", TaskState.REPLACED, original=None if n == 1 else "id-T001")
        for n in (1, 2, 3)
    ]
    part = task("T009", original="id-T001", parent="id-T002", counters=Counters(replans=1))
    session = executing(*old, part)
    assert not next_step.may_be_split(session, part)
    session.tasks.remove(old[2])
    assert next_step.may_be_split(session, part)


def test_the_judge_may_ask_for_a_cut_and_beyond_the_bound_a_person_is_asked() -> None:
    for cuts, kind in ((0, "choose_step"), (3, "")):
        old = [task(f"T01{n}", TaskState.REPLACED, original="id-T001") for n in range(cuts)]
        session = executing(verifying("T001"), *old)
        looked(session, work("feat: x"))
        ran_tests(session)
        shown = judge_says(session, Judgement.REPLAN)
        assert kinds(session) == ([kind] if kind else [])
        assert bool(needs(shown)) is not bool(kind)


def test_what_people_see_or_others_have_built_upon_is_not_cut() -> None:
    alone, done = task("T001"), shipped("T002", 7)
    session = delivering(alone, done)
    assert next_step.may_be_split(session, alone)
    assert not next_step.may_be_split(session, done)
    session.tasks.append(running("T003", dependencies=("id-T001",)))
    assert not next_step.may_be_split(session, alone)
    assert not next_step.may_be_split(session, task("T004", type=TaskType.INTEGRATION))


def test_a_change_that_puts_it_differently_takes_the_cut_back() -> None:
    session = too_large()
    change = Change(
        id="c1",
        text="smaller",
        by=ANN,
        at=later(),
        revision=2,
        stage=ChangeStage.AWAITING,
        affected=(Affected(task_id="id-T001", why="w"),),
    )
    deeds = list(change_effects.hold_affected(session, change, later()))
    held = session.change
    assert held
    assert not any(isinstance(deed, StopRun) for deed in deeds)
    [draft] = drafts_of(session.tasks)
    drafts = (draft.model_copy(update={"description": "only read"}),)
    change_effects.apply_change(session, held.model_copy(update={"drafts": drafts}), later())
    [one] = session.tasks
    assert one.state is TaskState.NEEDS_CONTINUATION
    assert one.replan_reason == ""


def test_a_change_that_is_forgotten_lets_the_cut_go_on() -> None:
    session = too_large()
    change = Change(
        id="c1",
        text="smaller",
        by=ANN,
        at=later(),
        revision=2,
        affected=(Affected(task_id="id-T001", why="w"),),
    )
    list(change_effects.hold_affected(session, change, later()))
    change_effects.release(session, ["id-T001"])
    session.change = None
    assert kinds(session) == ["replan_task"]


def test_numbers_and_keys_go_on_after_the_highest() -> None:
    session = too_large(task("T007", number=9))
    cut(session, *PARTS)
    assert [one.key for one in session.tasks] == ["T001", "T008", "T009", "T010", "T007"]
    assert [one.number for one in session.tasks[1:4]] == [10, 11, 12]


def test_runs_of_the_parts_are_their_own() -> None:
    session = too_large()
    cut(session, *PARTS)
    assert all(not one.runs for one in session.tasks[1:])
    assert session.tasks[0].runs == [run("T001", 1, session.tasks[0].runs[0].state)]

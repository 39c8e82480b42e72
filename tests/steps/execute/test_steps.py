"""The next step: what is legal is worked out, the model chooses among it, and never gets anything else."""

from __future__ import annotations

import pytest

from bot.core.cards import NeedsYouCard
from bot.core.events import StepChosen, Ticked
from bot.core.runs import Why
from bot.core.session import Session
from bot.core.states import Outcome, TaskState
from bot.steps.decisions import decide, due
from bot.steps.execute import next_step
from tests.steps.execute.test_execute import checked, ended, ends, seen
from tests.steps.scenes import (
    by_default,
    cards,
    executing,
    keys,
    later,
    running,
    task,
    verifying,
    work,
)


def failed_once() -> Session:
    session = executing(verifying("T001"))
    decide(session, seen("T001", work("feat: x")))
    decide(session, checked("T001", 1, 1, "AssertionError"))
    return session


def step_of(session: Session) -> str:
    step = session.tasks[0].choice or session.execution.choice
    assert step
    return step.id


def chosen(session: Session, option: str, reason: str = "") -> StepChosen:
    id = step_of(session)
    return StepChosen(
        id="s", at=later(), answers=f"step:{id}", step_id=id, option=option, reason=reason
    )


@pytest.mark.covers("G-US6.2", "G-RULE-LOOP-6")
def test_after_a_failed_check_the_model_is_asked_and_nothing_else_happens_to_the_task() -> None:
    session = failed_once()
    assert session.tasks[0].state is TaskState.VERIFYING
    assert keys(list(due(session)))[1:] == [f"step:{step_of(session)}"]
    step = session.tasks[0].choice
    assert step
    assert [option.id for option in step.options] == ["again", "fresh", "cut", "ask"]


@pytest.mark.covers("G-US6.1", "G-RULE-LOOP-9")
def test_its_reason_is_shown_with_what_is_done() -> None:
    session = failed_once()
    shown = cards(decide(session, chosen(session, "again", "A typing slip.")))
    assert "A typing slip." in shown[0].model_dump_json()
    assert session.tasks[0].runs[-1].why is Why.CHECK_FAILED


def test_a_fresh_try_is_a_new_conversation_that_is_told_of_the_failure() -> None:
    session = failed_once()
    decide(session, chosen(session, "fresh"))
    first, second = session.tasks[0].runs
    assert second.conversation != first.conversation
    assert second.why is Why.RETRY
    assert "AssertionError" in second.feedback


@pytest.mark.covers("G-RULE-LOOP-9")
def test_it_may_bring_the_task_before_a_person() -> None:
    session = failed_once()
    shown = cards(decide(session, chosen(session, "ask", "Two rules contradict each other.")))
    assert session.tasks[0].state is TaskState.BLOCKED
    assert "contradict" in session.tasks[0].blocked
    assert any(isinstance(card, NeedsYouCard) for card in shown)


@pytest.mark.covers("G-RULE-LOOP-6")
@pytest.mark.parametrize("nonsense", ["", "merge", "T999", "push --force", "FRESH"])
def test_whatever_else_it_says_the_default_is_done(nonsense: str) -> None:
    session = failed_once()
    decide(session, chosen(session, nonsense, "because I say so"))
    assert session.tasks[0].runs[-1].why is Why.CHECK_FAILED
    assert len(session.tasks[0].runs) == 2


def test_a_choice_that_comes_twice_or_late_counts_once() -> None:
    session = failed_once()
    choice = chosen(session, "again")
    decide(session, choice)
    before = session.copied()
    decide(session, choice.model_copy(update={"option": "ask"}))
    assert session.tasks == before.tasks


def test_the_bound_holds_whatever_the_model_would_like() -> None:
    session = failed_once()
    for number in (2, 3, 4):
        by_default(session, "again")
        decide(session, seen("T001", work("feat: x"), ends(session)))
        decide(session, checked("T001", number, 1, f"failure {number}"))
    assert session.tasks[0].state is TaskState.FAILED
    assert session.tasks[0].choice is None


@pytest.mark.covers("G-RULE-LOOP-6")
def test_which_of_more_tasks_than_there_is_room_for_starts_first_is_a_choice() -> None:
    session = executing(task("T001"), task("T002"), task("T003"), plan__parallelism=1)
    decide(session, Ticked(id="t", at=later()))
    assert session.execution.choice
    assert [option.id for option in session.execution.choice.options] == [
        "T001",
        "T002",
        "T003",
        "more",
    ]
    assert not session.in_state(TaskState.RUNNING)

    decide(session, chosen(session, "T003"))

    assert [t.key for t in session.in_state(TaskState.RUNNING)] == ["T003"]
    assert session.execution.choice is None


@pytest.mark.covers("G-RULE-LOOP-6")
def test_one_task_for_one_place_is_no_choice_and_nobody_is_asked() -> None:
    session = executing(task("T001"), task("T002"), plan__parallelism=2)
    decide(session, Ticked(id="t", at=later()))
    assert session.execution.choice is None
    assert len(session.in_state(TaskState.RUNNING)) == 2


@pytest.mark.covers("G-RULE-PARALLEL-4")
def test_more_may_start_at_once_than_planned_if_the_model_thinks_so() -> None:
    session = executing(task("T001"), task("T002"), plan__parallelism=1)
    decide(session, Ticked(id="t", at=later()))
    decide(session, chosen(session, "more"))
    assert session.plan.parallelism == 2
    assert len(session.in_state(TaskState.RUNNING)) == 2


@pytest.mark.covers("G-RULE-PARALLEL-1")
def test_no_more_start_at_once_than_the_operator_lets_whatever_plan_and_model_say() -> None:
    session = executing(task("T001"), task("T002"), plan__parallelism=1, agents__most_at_once=1)
    decide(session, Ticked(id="t", at=later()))
    assert session.execution.choice
    assert [option.id for option in session.execution.choice.options] == ["T001", "T002"]
    decide(session, chosen(session, "more"))
    assert len(session.in_state(TaskState.RUNNING)) == 1


def test_it_is_asked_once_and_not_again_for_those_it_has_put_in_order() -> None:
    session = executing(task("T001"), task("T002"), task("T003"), plan__parallelism=1)
    decide(session, Ticked(id="t", at=later()))
    decide(session, chosen(session, "T002"))
    running_task = session.in_state(TaskState.RUNNING)[0]
    running_task.update_run(running_task.runs[-1].end(Outcome.FINISHED, later()))
    for state in (TaskState.VERIFYING, TaskState.INTEGRATING, TaskState.COMPLETED):
        running_task.become(state)
    decide(session, Ticked(id="t", at=later()))
    assert session.execution.choice is None
    assert [t.key for t in session.in_state(TaskState.RUNNING)] == ["T001"]


@pytest.mark.covers("G-US6.1")
def test_a_failing_run_may_be_told_to_go_on_to_begin_anew_or_to_ask() -> None:
    session = executing(running("T001"))
    decide(session, ended("T001-r1", Outcome.FAILED, 2))
    step = session.tasks[0].choice
    assert step
    assert "exit code 2" in step.happened
    decide(session, chosen(session, "again"))
    assert session.tasks[0].runs[-1].why is Why.RESUMED


def test_going_in_circles_is_brought_before_a_person() -> None:
    session = executing(running("T001"))
    for _ in range(2):
        decide(session, seen("T001", work(), ends(session)))
        by_default(session)
        ends(session, Outcome.FAILED, 2)
        by_default(session)
    assert session.tasks[0].state is TaskState.BLOCKED
    assert "same order before" in session.tasks[0].blocked


@pytest.mark.parametrize(
    ("past", "kind", "happened", "circling"),
    [
        ([], "a", "x", False),
        (["a>again: one"], "b", "two", False),
        (["a>again: one", "b>again: two", "a>again: three"], "b", "four", True),
        (["a>again: one", "a>fresh: zwei"], "a", "drei", False),
        (["a>again: the same words", "a>fresh: the same words"], "a", "the same words", True),
        (["check_failed>again: x", "check_failed>again: x"], "check_failed", "x", False),
        ([f"k{n}>again: {n * 'x'}" for n in range(next_step.MOST_STEPS)], "z", "new", True),
    ],
)
def test_circles_are_steps_without_end_patterns_that_repeat_and_the_same_words(
    past: list[str], kind: str, happened: str, circling: bool
) -> None:
    assert bool(next_step.why_stuck(past, kind, happened)) is circling

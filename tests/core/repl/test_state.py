"""repl.json follows the tasks: what runs is current, what ended last is last, and nothing that ended stays current."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bot.core.projections.records import ReplState, repl_after_decision, repl_after_restart
from bot.core.session import Session
from bot.core.states import Status, TaskState
from tests.steps.scenes import executing, running, task

FIRST = ReplState.first()


def at(state: TaskState, key: str = "T001", status: Status = Status.ACTIVE) -> Session:
    one = running(key) if state is TaskState.RUNNING else task(key, state)
    return executing(one, status=status)


def state(current: str | None = None, last: str | None = None) -> ReplState:
    return FIRST.model_copy(update={"current_task_id": current, "last_task_id": last})


ID = running("T001").id


@pytest.mark.covers("R-ENTITY-ReplState", "R-REPL-STATE-2")
def test_at_first_everything_is_null() -> None:
    assert set(FIRST.model_dump().values()) == {None}
    assert list(FIRST.model_dump()) == [
        "selected_provider",
        "selected_model",
        "updated_at",
        "current_task_id",
        "last_task_id",
    ]


@pytest.mark.covers("R-REPL-STATE-9")
def test_the_start_of_a_task_makes_it_current_and_leaves_the_last() -> None:
    seen = repl_after_decision(state(last="other"), at(TaskState.READY), at(TaskState.RUNNING))
    assert (seen.current_task_id, seen.last_task_id) == (ID, "other")


@pytest.mark.covers("R-REPL-STATE-7", "R-REPL-STATE-10")
@pytest.mark.parametrize("end", [TaskState.COMPLETED, TaskState.FAILED, TaskState.BLOCKED])
def test_the_end_of_a_task_makes_it_the_last_and_clears_the_current(end: TaskState) -> None:
    seen = repl_after_decision(state(current=ID), at(TaskState.RUNNING), at(end))
    assert (seen.current_task_id, seen.last_task_id) == (None, ID)


@pytest.mark.covers("R-REPL-STATE-6", "R-REPL-STATE-11")
@pytest.mark.parametrize("status", [Status.PAUSED, Status.FAILED, Status.DISCARDED])
def test_a_task_of_a_session_that_does_not_work_is_not_current(status: Status) -> None:
    after = at(TaskState.RUNNING, status=status)
    assert (
        repl_after_decision(state(current=ID), at(TaskState.RUNNING), after).current_task_id is None
    )


@pytest.mark.covers("R-REPL-STATE-6")
def test_of_several_that_run_one_that_still_does_is_current() -> None:
    one, two = running("T001"), running("T002")
    seen = repl_after_decision(
        state(), executing(task("T001", TaskState.READY), two), executing(one, two)
    )
    assert seen.current_task_id == one.id
    over = executing(task("T001", TaskState.COMPLETED), two)
    seen = repl_after_decision(seen, executing(one, two), over)
    assert (seen.current_task_id, seen.last_task_id) == (two.id, one.id)


@pytest.mark.covers("R-REPL-STATE-7")
def test_a_task_that_runs_again_is_not_the_last_any_more() -> None:
    seen = repl_after_decision(state(last=ID), at(TaskState.FAILED), at(TaskState.RUNNING))
    assert (seen.current_task_id, seen.last_task_id) == (ID, None)


@pytest.mark.covers("R-REPL-STATE-11")
def test_after_a_crash_what_does_not_run_is_not_current() -> None:
    assert repl_after_restart(state(current="gone"), []).current_task_id is None
    seen = repl_after_restart(state(current=ID), [at(TaskState.COMPLETED)])
    assert (seen.current_task_id, seen.last_task_id) == (None, ID)
    assert repl_after_restart(state(), [at(TaskState.RUNNING)]).current_task_id == ID


@pytest.mark.covers("R-REPL-STATE-1", "R-REPL-STATE-3", "R-REPL-STATE-4")
@pytest.mark.parametrize(
    "wrong",
    [
        {"selected_provider": "gemini"},
        {"selected_model": ""},
        {"updated_at": "yesterday"},
        {"current_task_id": ""},
        {"more": 1},
    ],
)
def test_what_may_not_stand_there_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ReplState.model_validate(FIRST.model_dump() | wrong)
    fine = {"selected_provider": "codex-like"}
    assert ReplState.model_validate(
        FIRST.model_dump() | {"selected_model": fine["selected_provider"]}
    )

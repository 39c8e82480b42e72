"""The forecast is what finished sessions took: nothing else counts, and nothing is made up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.core.approval import forecast
from bot.core.llm import Usage
from bot.core.people import Person, Thread
from bot.core.plan import Forecast, Spread
from bot.core.session import Session
from bot.core.session_parts import Approval, SessionApproval, SessionPlan, SessionRepository
from bot.core.states import Status, TaskState
from bot.core.task import Task

START = datetime(2025, 1, 2, 3, 4, tzinfo=UTC)
ANNA = Person(platform="console", id="anna", name="Anna")


def task(number: int, state: TaskState = TaskState.COMPLETED, minutes: float | None = 10) -> Task:
    end = START + timedelta(minutes=minutes) if minutes is not None else None
    return Task(
        id=f"t{number}",
        key=f"T{number:03}",
        name="x",
        state=state,
        created_at=START,
        started_at=START + timedelta(minutes=2),
        completed_at=end if state is TaskState.COMPLETED else None,
    )


def session(
    *tasks: Task,
    status: Status = Status.COMPLETED,
    tokens: int = 1000,
    parallelism: int = 2,
    approved: bool = True,
) -> Session:
    return Session(
        id="s",
        created_at=START,
        updated_at=START,
        status=status,
        thread=Thread(platform="console", workspace="w", channel="c", root="r"),
        owner=ANNA,
        repository=SessionRepository(path="/r"),
        tasks=list(tasks),
        plan=SessionPlan(parallelism=parallelism),
        usage=Usage(calls=3, prompt_tokens=tokens, reply_tokens=0),
        approval=SessionApproval(
            granted=Approval(by=ANNA, at=START, digest="", revision=1) if approved else None
        ),
    )


def same(value: float) -> Spread:
    return Spread(median=value, low=value, high=value)


def test_without_history_nothing_is_foretold() -> None:
    assert forecast([]) == Forecast()


def test_one_session_is_told_as_it_was() -> None:
    assert forecast([session(task(1, minutes=5), task(2, minutes=30), parallelism=3)]) == Forecast(
        sessions=1, tasks=same(2), parallelism=same(3), minutes=same(30), tokens=same(1000)
    )


@pytest.mark.parametrize("status", [one for one in Status if one is not Status.COMPLETED])
def test_only_completed_sessions_count(status: Status) -> None:
    assert forecast([session(task(1), status=status)]) == Forecast()


def test_sessions_in_which_nothing_was_completed_do_not_count() -> None:
    assert forecast([session(), session(task(1, TaskState.CANCELLED))]) == Forecast()


def test_only_completed_tasks_count() -> None:
    found = forecast([session(task(1), task(2, TaskState.FAILED), task(3, TaskState.REPLACED))])
    assert found.tasks == same(1)


def test_few_sessions_reach_from_the_least_to_the_most() -> None:
    found = forecast([session(task(1), tokens=tokens) for tokens in (400, 100, 300, 200)])
    assert found.tokens == Spread(median=250, low=100, high=400)


def test_of_many_sessions_the_outermost_tenths_are_left_out() -> None:
    found = forecast([session(task(1, minutes=minutes)) for minutes in range(100, 0, -10)])
    assert found.sessions == 10
    assert found.minutes is not None
    spread = found.minutes.median, found.minutes.low, found.minutes.high
    assert spread == pytest.approx((55, 19, 91))


def test_five_sessions_are_many() -> None:
    found = forecast([session(task(1), tokens=tokens) for tokens in (10, 20, 30, 40, 1000)])
    assert found.tokens is not None
    assert (found.tokens.median, found.tokens.low) == pytest.approx((30, 14))
    assert found.tokens.high == pytest.approx(616)


def test_where_nobody_had_to_approve_time_runs_from_the_first_start() -> None:
    assert forecast([session(task(1, minutes=12), approved=False)]).minutes == same(10)


def test_what_was_not_recorded_is_left_out_and_the_rest_is_told() -> None:
    unknown = session(task(1, minutes=None), tokens=0)
    assert forecast([unknown]) == Forecast(sessions=1, tasks=same(1), parallelism=same(2))
    both = forecast([unknown, session(task(1, minutes=7))])
    assert (both.sessions, both.minutes, both.tokens) == (2, same(7), same(1000))


def test_an_end_before_the_approval_is_no_duration() -> None:
    assert forecast([session(task(1, minutes=-5))]).minutes is None

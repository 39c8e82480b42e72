"""Limits of a task are asked about with the work kept; limits of an agent's account are waited for, and nobody is to blame."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from bot.core.actions import Deed, WaitUntil
from bot.core.choices import Verb, Word
from bot.core.events import DialogClosed, DialogOpened, OrderFailed, Ticked, TimeCame, Woken
from bot.core.evidence import TaskLimits
from bot.core.projections.task_log_views import task_log
from bot.core.projections.task_logs import BlockedReason, TerminatedBy
from bot.core.runs import Dialog, DialogKind, DialogOption, Why
from bot.core.session import Session
from bot.core.states import Outcome, RunState, Status, TaskState
from bot.core.task import Hold, Task
from bot.steps import plan
from bot.steps.blocked import limits
from bot.steps.decisions import decide, due
from bot.steps.messages import seconds_worked_on
from tests.steps.scenes import (
    HOSTED,
    T0,
    commanded,
    ended,
    executing,
    gets_place,
    judge_says,
    kinds,
    later,
    looked,
    needs,
    ordered,
    out_of_tokens,
    press,
    pressed,
    ran_tests,
    running,
    shipped,
    task,
    tick,
    verbs,
    verifying,
    whispers,
    work,
)
from tests.steps.verify.test_verify import FLAG

AT = later(600)
YES_NO = Dialog(
    id="d",
    kind=DialogKind.MENU,
    title="Run it?",
    options=(DialogOption(id="1", label="Yes", keys=("1",)),),
)
RESETS = AT + timedelta(hours=3)


def waits(*others: Task, **changes: object) -> Session:
    """T001's agent has used up its account."""
    session = executing(running("T001"), *others, agents__others={"codex": "--yolo"}, **changes)
    decide(session, out_of_tokens("T001-r1", AT, RESETS))
    return session


def time_comes(session: Session, key: str = "T001") -> list[Deed]:
    order = ordered(session, "wait_until", f"id-{key}")
    event = TimeCame(id="t", at=RESETS, answers=order.key, task_id=f"id-{key}")
    return decide(session, event)


@pytest.mark.covers("O-X14")
def test_an_empty_account_is_no_failed_run_and_is_waited_for() -> None:
    session = waits()
    [one] = session.tasks
    assert one.counters.failed_runs == 0
    assert one.choice is None
    [order] = due(session)
    assert isinstance(order, WaitUntil)
    assert RESETS < order.at <= RESETS + timedelta(minutes=5)


@pytest.mark.parametrize("said", [None, AT - timedelta(hours=1)])
def test_without_a_time_that_can_be_it_is_tried_again_after_an_hour(said: datetime | None) -> None:
    session = executing(running("T001"))
    decide(session, out_of_tokens("T001-r1", AT, said))
    [order] = due(session)
    assert isinstance(order, WaitUntil)
    assert order.at >= AT + timedelta(hours=1)


def test_people_are_told_why_and_until_when() -> None:
    session = executing(running("T001"))
    [card] = needs(decide(session, out_of_tokens("T001-r1", AT, RESETS)))
    assert "You have hit your limit." in card.reason
    assert "12:1" in card.reason


def test_nobody_else_is_kept_from_the_place_while_only_time_is_waited_for() -> None:
    session = waits()
    assert not session.queue.has_place
    assert session.status is Status.ACTIVE


@pytest.mark.covers("O-X14")
def test_it_goes_on_by_itself_in_the_same_conversation_when_its_turn_has_come() -> None:
    session = waits()
    [card] = needs(time_comes(session))
    assert card.choices == ()
    assert session.status is Status.QUEUED
    gets_place(session)
    second = session.tasks[0].runs[1]
    assert (second.why, second.resumes) == (Why.LIMITED, True)


def test_a_clock_that_refuses_lets_it_go_on() -> None:
    session = waits()
    order = ordered(session, "wait_until")
    failed = OrderFailed(
        id="f", at=RESETS, answers=order.key, what="wait_until", task_id="id-T001", reason="r"
    )
    decide(session, failed)
    assert session.queue.since


def test_no_other_task_is_started_with_an_account_that_is_known_to_be_empty() -> None:
    session = waits(task("T002"))
    assert session.tasks[1].state in (TaskState.PENDING, TaskState.READY)
    assert not session.queue.has_place
    assert not plan.can_move(session)


def test_a_task_of_another_agent_goes_on() -> None:
    session = waits(task("T002", agent="codex"), agents__allowed=("codex",))
    assert session.tasks[1].state is TaskState.RUNNING


def test_who_may_approve_lets_another_agent_go_on_with_the_flags_that_stand_on_the_button() -> None:
    session = executing(running("T001"), agents__others={"codex": "--yolo"})
    [card] = needs(decide(session, out_of_tokens("T001-r1", AT, RESETS)))
    other = next(choice for choice in card.choices if choice.verb is Verb.USE_AGENT)
    assert "codex" in other.label
    assert "--yolo" in other.label
    [answered] = needs(decide(session, press(card, Verb.USE_AGENT)))
    assert "played" in answered.title, "it says whose account it was"
    assert session.agents.allowed == ("codex",)
    assert answered.choices == ()
    gets_place(session)
    second = session.tasks[0].runs[1]
    assert (second.agent, second.resumes, second.auto_flag) == ("codex", False, "--yolo")
    assert "Another agent worked on this" in second.feedback


def test_an_agent_that_is_not_offered_is_not_let_work() -> None:
    session = waits()
    event = press(needs(limit_cards(session))[0], Verb.USE_AGENT)
    forged = event.model_copy(update={"about": event.about.replace("codex", "evil")})
    assert whispers(decide(session, forged))
    assert session.agents.allowed == ()


def limit_cards(session: Session) -> list[Deed]:
    return decide(session, Woken(id="w", at=later(), restarted=True))


def test_whoever_wants_can_have_it_tried_now() -> None:
    session = waits()
    [card] = needs(limit_cards(session))
    [answered] = needs(decide(session, press(card, Verb.CHECK_AGAIN)))
    assert answered.choices == ()
    gets_place(session)
    assert len(session.tasks[0].runs) == 2


def test_what_is_held_for_a_change_cannot_be_tried_now() -> None:
    session = waits()
    [card] = needs(limit_cards(session))
    session.tasks[0].become(TaskState.BLOCKED, "waits for the change")
    assert whispers(decide(session, press(card, Verb.CHECK_AGAIN)))
    assert session.tasks[0].next_run.not_before


def test_taking_the_base_in_needs_no_account() -> None:
    base = shipped("T002", 7, state=TaskState.NEEDS_CONTINUATION, base_to_merge=("m1",))
    session = waits(base, pulls__host=HOSTED)
    assert session.queue.has_place
    assert "take_in_base" in kinds(session)


def test_all_that_wait_for_the_same_account_are_tried_with_it() -> None:
    session = executing(running("T001"), running("T002"))
    decide(session, out_of_tokens("T001-r1", AT, RESETS))
    decide(session, out_of_tokens("T002-r1", AT, RESETS + timedelta(hours=1)))
    cards = needs(limit_cards(session))
    answered = needs(decide(session, press(cards[0], Verb.CHECK_AGAIN)))
    assert {card.key for card in answered} == {card.key for card in cards}
    gets_place(session)
    assert [len(one.runs) for one in session.tasks] == [2, 2]


def test_a_press_on_the_card_of_an_earlier_wait_does_nothing() -> None:
    session = waits()
    [card] = needs(limit_cards(session))
    time_comes(session)
    gets_place(session)
    assert whispers(decide(session, press(card, Verb.CHECK_AGAIN)))
    run = session.tasks[0].runs[-1]
    session.tasks[0].update_run(run.become(RunState.RUNNING))
    [second] = needs(decide(session, out_of_tokens(run.id, AT, RESETS)))
    assert second.key != card.key
    assert whispers(decide(session, press(card, Verb.CHECK_AGAIN)))
    assert session.tasks[0].next_run.not_before


def test_what_a_run_was_for_is_told_once_however_often_it_had_to_wait() -> None:
    session = waits()
    session.tasks[0].runs[0] = session.tasks[0].runs[0].model_copy(update={"feedback": "Mend it."})
    for _ in range(3):
        time_comes(session)
        gets_place(session)
        run = session.tasks[0].runs[-1]
        session.tasks[0].update_run(run.become(RunState.RUNNING))
        decide(session, out_of_tokens(run.id, AT, RESETS))
    assert session.tasks[0].next_run.feedback.count("renewed") == 1


def test_stopped_and_resumed_it_waits_on() -> None:
    session = waits()
    decide(session, commanded(Word.STOP))
    assert list(due(session)) == []
    shown = needs(decide(session, commanded(Word.RESUME)))
    assert verbs(shown[0])[0] is Verb.CHECK_AGAIN
    assert kinds(session) == ["wait_until"]


def test_discarded_its_card_has_no_buttons() -> None:
    session = waits()
    [card] = needs(decide(session, commanded(Word.DISCARD)))
    assert card.key.startswith("limit:")
    assert card.choices == ()


def test_a_run_that_has_finished_all_the_same_has_finished() -> None:
    session = executing(running("T001"))
    event = out_of_tokens("T001-r1", AT, RESETS)
    end = event.end.model_copy(update={"outcome": Outcome.FINISHED})
    decide(session, event.model_copy(update={"end": end}))
    assert session.tasks[0].state is TaskState.VERIFYING


# Limits of a task.


def limited(**limits: int) -> Session:
    return executing(verifying("T001"), agents__limits=TaskLimits(**limits))


@pytest.mark.covers("R-ENTITY-TaskLimits", "R-ENTITY-LimitViolation")
def test_too_many_files_are_asked_about_and_the_violation_is_kept() -> None:
    session = limited(max_files=1)
    many = work("feat: x").model_copy(update={"created_files": ("b.py", "c.py")})
    [card] = needs(looked(session, many))
    assert "3 files changed, 1 were allowed" in card.reason
    [one] = session.tasks
    assert (one.state, one.hold) == (TaskState.BLOCKED, Hold.LIMIT)
    [violation] = one.violations
    assert (violation.limit_type, violation.limit_value, violation.actual_value) == (
        "max_files",
        1,
        3,
    )


@pytest.mark.covers("R-ENTITY-LimitViolation")
def test_who_lets_a_limit_pass_is_not_asked_again() -> None:
    session = limited(max_files=1)
    many = work("feat: x").model_copy(update={"created_files": ("b.py", "c.py")})
    [card] = needs(looked(session, many))
    decide(session, press(card, Verb.ACCEPT))
    gets_place(session)
    ran_tests(session)
    judge_says(session)
    assert session.tasks[0].state is TaskState.COMPLETED


def test_the_files_are_counted_of_what_was_flagged_and_let_pass_too() -> None:
    session = limited(max_files=1)
    many = work("feat: x").model_copy(update={"created_files": ("b.py", "c.py")})
    [card] = needs(looked(session, many, FLAG))
    decide(session, press(card, Verb.ACCEPT))
    assert session.tasks[0].hold is Hold.LIMIT


@pytest.mark.covers("R-ENTITY-TaskLimits")
def test_too_many_test_runs_are_asked_about_once_they_pass() -> None:
    session = limited(max_tests=0)
    looked(session, work("feat: x"))
    [card] = needs(ran_tests(session))
    assert "1 test runs, 0 were allowed" in card.reason
    decide(session, press(card, Verb.ACCEPT))
    gets_place(session)
    assert kinds(session) == ["judge_work"], "what was tested is not tested again"


@pytest.mark.covers("R-ENTITY-TaskLimits", "R-ENUM-BlockedReason", "R-ENUM-TerminatedBy")
def test_an_agent_that_works_too_long_is_ended_and_goes_on_where_it_was_if_somebody_lets_it() -> (
    None
):
    session = executing(running("T001"), agents__limits=TaskLimits(max_seconds=100))
    [card] = needs(decide(session, tick(later(101))))
    assert not session.tasks[0].runs[0].alive
    log = task_log(session, session.tasks[0])
    assert log.blocked_reason is BlockedReason.TIMEOUT
    assert (log.terminated_by, log.timeout_ms) == (TerminatedBy.TIMEOUT, 101_000)
    decide(session, press(card, Verb.ACCEPT))
    gets_place(session)
    assert session.tasks[0].runs[1].why is Why.RESUMED
    assert session.tasks[0].runs[1].resumes


def test_all_runs_of_a_task_count_together_and_waiting_does_not() -> None:
    session = executing(running("T001"), agents__limits=TaskLimits(max_seconds=500))
    decide(session, out_of_tokens("T001-r1", later(300), later(4_000)))
    time_comes(session)
    gets_place(session)
    run = session.tasks[0].runs[1]
    session.tasks[0].update_run(run.become(RunState.RUNNING))
    assert not needs(decide(session, tick(run.started_at + timedelta(seconds=100))))
    assert needs(decide(session, tick(run.started_at + timedelta(seconds=400))))


@pytest.mark.covers("R-ENTITY-TaskLimits")
def test_a_tasks_own_limit_goes_before_the_general_one() -> None:
    own = running("T001", limits=TaskLimits(max_seconds=1_000))
    session = executing(own, agents__limits=TaskLimits(max_seconds=100))
    assert not needs(decide(session, tick(later(500))))


@pytest.mark.covers("G-RULE-COST-3", "G-LIMIT-3", "G-OUT-2")
def test_within_its_limits_nobody_is_asked() -> None:
    session = limited(max_files=5, max_tests=5)
    looked(session, work("feat: x"))
    ran_tests(session)
    judge_says(session)
    assert session.tasks[0].state is TaskState.COMPLETED
    assert session.tasks[0].violations == ()


def test_the_end_of_a_run_that_was_ended_for_a_limit_changes_nothing_any_more() -> None:
    session = executing(running("T001"), agents__limits=TaskLimits(max_seconds=100))
    decide(session, tick(later(101)))
    decide(session, ended("T001-r1"))
    assert session.tasks[0].state is TaskState.BLOCKED


def test_the_time_of_a_task_stands_still_while_it_waits_for_a_person() -> None:
    """Asked after 5 minutes, answered after 65, stopped after 70, resumed after 170: 10 minutes of work."""
    session = executing(running("T001"), agents__limits=TaskLimits(max_seconds=1200))
    shown = {"T001-r1": "x"}

    def at(minutes: int) -> datetime:
        return T0 + timedelta(minutes=minutes)

    def seconds(minutes: int) -> int | None:
        return seconds_worked_on(session.tasks[0], at(minutes))

    asks = DialogOpened(id="d", at=at(5), answers="await:T001-r1", run_id="T001-r1", dialog=YES_NO)
    decide(session, asks)
    assert seconds(60) == 300
    gone = DialogClosed(id="g", at=at(65), answers="await:T001-r1", run_id="T001-r1")
    decide(session, gone)
    for minutes in (66, 68):
        decide(session, Ticked(id=f"t{minutes}", at=at(minutes), tails=shown))
    assert session.tasks[0].state is TaskState.RUNNING, "its limit is about work"
    decide(session, pressed(Verb.STOP).model_copy(update={"at": at(70)}))
    assert seconds(160) == 600
    decide(session, pressed(Verb.RESUME).model_copy(update={"at": at(170)}))
    assert seconds(170) == 600
    assert limits.seconds_worked(session.tasks[0], at(170)) == 600


def test_the_time_of_a_task_that_is_taken_up_again_after_a_review_leaves_the_review_out() -> None:
    done = verifying("T001", idle_seconds=0.0, completed_at=later(600))
    done.state = TaskState.COMPLETED
    session = executing(done, running("T002"))
    decide(session, tick(later(700)))
    assert seconds_worked_on(done, later(90_000)) == 600
    done.state, done.completed_at = TaskState.VERIFYING, None
    decide(session, tick(later(90_000)))
    decide(session, tick(later(90_060)))
    assert seconds_worked_on(done, later(90_060)) == 660

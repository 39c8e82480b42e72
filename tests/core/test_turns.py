"""A session told in turns: what set each off, how it ended, and how far it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.core.choices import Command, Verb, Word
from bot.core.events import Broke, Commanded, Event, Pressed, RunEnded, Said, Ticked, Woken
from bot.core.people import Person
from bot.core.projections.records import DecidedEvent, SessionStates
from bot.core.projections.task_log_views import RunTrigger, session_log, session_turns
from bot.core.projections.task_logs import RunStatus, SessionPhase, ThreadType, phase_of
from bot.core.runs import CompletionSource, RunEnd
from bot.core.states import Outcome, Phase, TaskState
from tests.steps import scenes

AT = datetime(2026, 1, 1, tzinfo=UTC)
ANNA = Person(platform="memory", id="U1")


def step(event: Event, status: str = "Active") -> DecidedEvent:
    return DecidedEvent(
        event=event, stand=SessionStates(status=status, phase="executing", tasks={}, runs={})
    )


def said(number: int = 0) -> Said:
    return Said(id=f"s{number}", at=AT + timedelta(minutes=number), by=ANNA, text="x")


def pressed(verb: Verb, number: int = 1) -> Pressed:
    return Pressed(id=f"p{number}", at=AT + timedelta(minutes=number), by=ANNA, verb=verb)


def ended(number: int = 2) -> RunEnded:
    end = RunEnd(outcome=Outcome.FINISHED, source=CompletionSource.PROCESS_EXIT)
    return RunEnded(
        id=f"e{number}", at=AT + timedelta(minutes=number), answers="a", run_id="r", end=end
    )


@pytest.mark.covers("R-ENTITY-Run", "R-ENUM-RunTrigger")
def test_what_people_say_press_and_agents_do_sets_off_a_turn() -> None:
    events: list[Event] = [said(), pressed(Verb.DEFAULTS), ended(), pressed(Verb.MORE, 3)]
    found = session_turns("s", [step(event) for event in events])
    assert [one.trigger for one in found] == [
        RunTrigger.USER_INPUT,
        RunTrigger.USER_RESPONSE,
        RunTrigger.EXECUTOR,
        RunTrigger.CONTINUATION,
    ]
    assert [one.run_id for one in found] == ["run_001", "run_002", "run_003", "run_004"]
    assert [one.thread_id for one in found] == ["thr_001", "thr_001", "thr_002", "thr_003"]


def test_what_follows_belongs_to_the_turn() -> None:
    tick = Ticked(id="t", at=AT + timedelta(minutes=5), tails={})
    [one] = session_turns("s", [step(said()), step(tick, "Completed")])
    assert (one.status, one.completed_at) == (RunStatus.COMPLETED, tick.at)


@pytest.mark.covers("R-ENUM-RunStatus")
@pytest.mark.parametrize(
    ("event", "status", "wanted"),
    [
        (said(), "Active", RunStatus.RUNNING),
        (said(), "Completed", RunStatus.COMPLETED),
        (said(), "Failed", RunStatus.FAILED),
        (pressed(Verb.STOP), "Paused", RunStatus.CANCELLED),
        (pressed(Verb.DISCARD), "Discarded", RunStatus.CANCELLED),
        (
            Commanded(id="c", at=AT, by=ANNA, command=Command(word=Word.STOP)),
            "Paused",
            RunStatus.CANCELLED,
        ),
        (Woken(id="w", at=AT, restarted=True), "Active", RunStatus.RUNNING),
    ],
)
def test_a_turn_ends_as_the_session_stands(event: Event, status: str, wanted: RunStatus) -> None:
    [one] = session_turns("s", [step(event, status)])
    assert one.status is wanted
    assert (one.completed_at is None) is (wanted is RunStatus.RUNNING)


def test_a_bug_is_a_failed_turn() -> None:
    broke = Broke(id="b", at=AT, reason="deciding failed")
    assert session_turns("s", [step(said()), step(broke)])[0].status is RunStatus.FAILED


@pytest.mark.covers("R-ENUM-Phase")
@pytest.mark.parametrize(
    ("phase", "wanted"),
    [
        (Phase.INTAKE, SessionPhase.REQUIREMENT_ANALYSIS),
        (Phase.CLARIFYING, SessionPhase.REQUIREMENT_ANALYSIS),
        (Phase.SPECIFYING, SessionPhase.TASK_DECOMPOSITION),
        (Phase.APPROVING, SessionPhase.PLANNING),
        (Phase.EXECUTING, SessionPhase.EXECUTION),
        (Phase.FINISHING, SessionPhase.COMPLETION_VALIDATION),
        (Phase.DONE, SessionPhase.REPORT),
    ],
)
def test_every_phase_has_its_word(phase: Phase, wanted: SessionPhase) -> None:
    session = scenes.executing()
    session.phase = phase
    assert phase_of(session) is wanted


@pytest.mark.covers("R-ENUM-Phase")
def test_while_everything_is_tested_it_is_quality_assurance() -> None:
    session = scenes.executing()
    for task in session.tasks:
        task.state = TaskState.VERIFYING
    assert phase_of(session) is SessionPhase.QA


@pytest.mark.covers("R-ENUM-ThreadType")
def test_the_chat_is_the_main_thread_and_the_rest_stands_behind() -> None:
    kinds = [one.thread_type for one in session_log(scenes.executing()).threads]
    assert kinds == [ThreadType.MAIN, ThreadType.BACKGROUND, ThreadType.SYSTEM]

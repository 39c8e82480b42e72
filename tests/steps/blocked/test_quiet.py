"""Agents that do not come to an end: asked once, looked at in git, then a person decides. Nothing is ended unasked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.core.actions import Deed, LookIn, StopRun
from bot.core.cards import NeedsYouCard
from bot.core.choices import Verb, Word
from bot.core.events import LookedIn, OrderFailed, Pressed, RunEnded, RunStopped, Ticked
from bot.core.evidence import TaskLimits
from bot.core.runs import CompletionSource, Run, RunEnd
from bot.core.session import Session
from bot.core.states import Outcome, RunState, TaskState
from bot.steps.decisions import decide, due
from tests.steps.scenes import ANN, T0, cards, commanded, executing, later, running, task

LIMITS = TaskLimits(quiet_seconds=900, long_seconds=7200)
RUN = "T001-r1"


def at_work(**limits: int | None) -> Session:
    return executing(running("T001"), task("T002"), agents__limits=LIMITS.model_copy(update=limits))


def tick(session: Session, minutes: int, screen: str = "the same") -> list[Deed]:
    at = T0 + timedelta(minutes=minutes)
    return decide(session, Ticked(id=f"t{minutes}", at=at, tails={RUN: screen}))


def looks(session: Session) -> list[LookIn]:
    return [order for order in due(session) if isinstance(order, LookIn)]


def looked_in(session: Session, minutes: int, *, asked: bool = False, why: str = "") -> list[Deed]:
    [order] = looks(session)
    event = LookedIn(
        id=f"l{minutes}",
        at=T0 + timedelta(minutes=minutes),
        answers=order.key,
        run_id=RUN,
        asked=asked,
        why=why,
        commits=2,
    )
    return decide(session, event)


def needs(deeds: list[Deed]) -> list[NeedsYouCard]:
    return [card for card in cards(deeds) if isinstance(card, NeedsYouCard)]


def is_asked_about(session: Session) -> NeedsYouCard:
    """Silent since minute 2, asked at 18, silent again."""
    tick(session, 2)
    tick(session, 18)
    looked_in(session, 18, asked=True)
    tick(session, 20, "the question")
    tick(session, 36, "the question")
    [card] = needs(looked_in(session, 36))
    return card


def press(card: NeedsYouCard, verb: Verb, minutes: int = 40) -> Pressed:
    [about] = [choice.about for choice in card.choices if choice.verb is verb]
    at = T0 + timedelta(minutes=minutes)
    return Pressed(id=f"p{verb}{minutes}", at=at, by=ANN, verb=verb, about=about)


def run_of(session: Session) -> Run:
    run = session.tasks[0].run
    assert run
    return run


def test_a_silent_agent_is_asked_once_and_only_then_a_person() -> None:
    session = at_work()
    for minutes in (2, 6, 16):
        tick(session, minutes)
        assert looks(session) == []
    tick(session, 18)
    [order] = looks(session)
    assert order.ask
    assert needs(looked_in(session, 18, asked=True)) == []
    assert looks(session) == []
    tick(session, 20, "the question")
    tick(session, 34, "the question")
    assert looks(session) == []
    tick(session, 36, "the question")
    [order] = looks(session)
    assert not order.ask, "it is asked once"
    [card] = needs(looked_in(session, 36))
    assert {choice.verb for choice in card.choices} == {
        Verb.TAKE_AS_DONE,
        Verb.NUDGE,
        Verb.STOP_TASK,
    }
    assert "2 commits" in card.reason
    assert "everything is committed" in card.reason
    for minutes in range(60, 600, 60):
        tick(session, minutes, "the question")
        assert looks(session) == [], "asked is asked"
    assert run_of(session).alive, "nothing is ended by itself"


def test_an_agent_that_shows_something_new_is_left_alone() -> None:
    session = at_work(long_seconds=None)
    for minutes in range(2, 300, 2):
        assert needs(tick(session, minutes, f"step {minutes}")) == []
        assert looks(session) == []


def test_one_that_moves_again_takes_its_card_along() -> None:
    session = at_work()
    asked = is_asked_about(session)
    [card] = needs(tick(session, 42, "working"))
    assert card.key == asked.key
    assert card.decided
    tick(session, 58, "working")
    [again] = needs(looked_in(session, 58))
    assert again.key != asked.key


@pytest.mark.parametrize("refused", [False, True])
def test_an_agent_that_cannot_be_asked_is_brought_before_a_person_at_once(refused: bool) -> None:
    session = at_work()
    tick(session, 2)
    tick(session, 18)
    if refused:
        [order] = looks(session)
        failed = OrderFailed(
            id="f",
            at=later(1100),
            answers=order.key,
            what="look_in",
            task_id="id-T001",
            reason="no",
        )
        [card] = needs(decide(session, failed))
    else:
        [card] = needs(looked_in(session, 18, why="This agent does not read its terminal."))
        assert "does not read its terminal" in card.reason
    assert "could not ask" in card.reason
    assert run_of(session).alive


def test_what_is_taken_as_done_is_ended_and_then_looked_at_like_any_other() -> None:
    session = at_work()
    card = is_asked_about(session)
    deeds = decide(session, press(card, Verb.TAKE_AS_DONE))
    assert StopRun(run_id=RUN) in deeds
    assert session.tasks[0].state is TaskState.VERIFYING
    assert run_of(session).outcome is Outcome.FINISHED
    assert not [o for o in due(session) if o.kind == "look_at_work"], "it may still be writing"
    decide(session, RunStopped(id="s", at=later(2500), answers="x", run_id=RUN))
    assert [o for o in due(session) if o.kind == "look_at_work"]


def test_one_that_is_asked_again_gets_the_same_time_again() -> None:
    session = at_work()
    decide(session, press(is_asked_about(session), Verb.NUDGE))
    [order] = looks(session)
    assert order.ask
    assert needs(looked_in(session, 40, asked=True)) == []
    tick(session, 42, "asked twice")
    tick(session, 58, "asked twice")
    assert needs(looked_in(session, 58))


def test_one_that_is_stopped_waits_for_a_person_with_its_work_kept() -> None:
    session = at_work()
    deeds = decide(session, press(is_asked_about(session), Verb.STOP_TASK))
    assert StopRun(run_id=RUN) in deeds
    assert session.tasks[0].state is TaskState.BLOCKED
    assert Verb.RETRY in {choice.verb for card in needs(deeds) for choice in card.choices}


def test_one_that_works_for_hours_is_told_to_a_person_and_again_after_twice_the_time() -> None:
    session = at_work()
    asked: list[int] = []
    for minutes in range(2, 1500, 2):
        tick(session, minutes, f"step {minutes}")
        if looks(session):
            [card] = needs(looked_in(session, minutes))
            assert "hours" in card.title
            asked.append(minutes)
            decide(session, press(card, Verb.NUDGE, minutes))
            looked_in(session, minutes, asked=True)
    assert asked == [120, 240, 480, 960]


def test_without_the_limits_nobody_is_asked() -> None:
    session = at_work(quiet_seconds=None, long_seconds=None)
    for minutes in (2, 60, 6000):
        assert needs(tick(session, minutes)) == []
        assert looks(session) == []


@pytest.mark.parametrize("how", ["ended", "taken over", "stopped"])
def test_a_card_goes_when_nobody_has_to_decide_any_more(how: str) -> None:
    session = at_work()
    card = is_asked_about(session)
    at = later(2500)
    if how == "ended":
        end = RunEnd(outcome=Outcome.FINISHED, source=CompletionSource.HOOK)
        deeds = decide(
            session, RunEnded(id="e", at=at, answers=f"await:{RUN}", run_id=RUN, end=end)
        )
    else:
        run = run_of(session).model_copy(update={"attach": "tmux attach"})
        session.tasks[0].update_run(run)
        word = Word.TAKEOVER if how == "taken over" else Word.STOP
        deeds = decide(session, commanded(word, "T001" if word is Word.TAKEOVER else ""))
    closed = [one for one in needs(deeds) if one.key == card.key]
    assert [bool(one.decided) for one in closed] == [True]
    stale = decide(session, press(card, Verb.TAKE_AS_DONE, 50))
    assert session.tasks[0].state is not TaskState.VERIFYING or how == "ended"
    assert StopRun(run_id=RUN) not in stale


def test_an_agent_that_asks_a_person_is_not_asked_whether_it_is_done() -> None:
    session = at_work()
    run = run_of(session)
    session.tasks[0].update_run(run.become(RunState.WAITING_INPUT))
    for minutes in (2, 30, 300):
        tick(session, minutes)
        assert looks(session) == []

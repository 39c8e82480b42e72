"""How much is said in a thread, whom a log is shown to, and what people thought of the result."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed, ShowLogs, StopRun, Whisper
from bot.core.cards import NewsCard, ProblemCard, StatusCard, SummaryCard
from bot.core.choices import Verb, Word
from bot.core.events import Broke, Event, OrderFailed, Pressed, RunStopped, TroubleBegan
from bot.core.people import Person, Verbosity
from bot.core.session import Session
from bot.core.sheets import Tone
from bot.core.states import Phase, Status, TaskState
from bot.core.talk import Feedback, WordKind
from bot.steps.decisions import decide, due, is_held_back
from bot.steps.talk.rules import MOST_LISTENERS, VERBOSITY_SET
from tests.steps.finish.test_finish import cleaned, finishing, merged
from tests.steps.scenes import (
    ANN,
    asked,
    awaiting_approval,
    cards,
    choice,
    commanded,
    ended,
    executing,
    fresh,
    is_verified,
    judged,
    later,
    looked,
    needs,
    ordered,
    pressed,
    ran_tests,
    running,
    said,
    surveyed,
    task,
    tick,
    titles,
    verifying,
    whispers,
    whole_judged,
    work,
)

BEA = Person(platform="memory", id="T1/U2", name="Bea")
LEVELS = tuple(Verbosity)


def news(deeds: list[Deed]) -> list[NewsCard]:
    return [card for card in cards(deeds) if isinstance(card, NewsCard)]


def at_work(verbosity: Verbosity) -> Session:
    return executing(verifying("T001"), task("T002"), talk__verbosity=verbosity)


def over(status: Status = Status.COMPLETED) -> Session:
    phase = Phase.EXECUTING if status is Status.FAILED else Phase.DONE
    return surveyed(phase=phase, status=status, ending__cleaned=True, ending__summary="")


@pytest.mark.parametrize("level", LEVELS)
def test_how_much_is_said_can_be_chosen_and_is_confirmed_to_one_person_only(
    level: Verbosity,
) -> None:
    session = executing(running("T001"))
    deeds = decide(session, commanded(Word.VERBOSITY, level.upper()))
    assert session.talk.verbosity is level
    assert whispers(deeds) == [VERBOSITY_SET[level]]
    assert cards(deeds) == []


@pytest.mark.parametrize("argument", ["", "loud", "１"])
def test_without_a_level_there_is_it_is_told_how_much_is_said_now(argument: str) -> None:
    session = executing(running("T001"), talk__verbosity=Verbosity.QUIET)
    deeds = decide(session, commanded(Word.VERBOSITY, argument))
    assert whispers(deeds) == [
        "This thread is quiet. verbosity quiet, normal or full changes that."
    ]
    assert session.talk.verbosity is Verbosity.QUIET


@pytest.mark.parametrize("status", [Status.PAUSED, Status.COMPLETED, Status.FAILED])
def test_it_can_be_chosen_also_while_nothing_goes_on(status: Status) -> None:
    session = over(status)
    decide(session, commanded(Word.VERBOSITY, "quiet"))
    assert session.talk.verbosity is Verbosity.QUIET


def test_a_quiet_thread_does_not_hear_of_what_was_finished() -> None:
    told = {level: news(is_verified(at_work(level), work("feat: x"))) for level in LEVELS}
    assert [card.title for card in told[Verbosity.NORMAL]] == ["T001 is done: Task T001"]
    assert told[Verbosity.QUIET] == []


def test_a_quiet_thread_still_sees_the_live_status() -> None:
    session = at_work(Verbosity.QUIET)
    deeds = looked(session, work("feat: x"))
    assert [type(card) for card in cards(deeds)] == [StatusCard]
    assert [type(card) for card in cards(decide(session, tick()))] == [StatusCard]


def test_a_quiet_thread_hears_what_went_wrong() -> None:
    session = at_work(Verbosity.QUIET)
    looked(session, work("feat: x"))
    assert "Some processes would not end" in titles(
        decide(session, RunStopped(id="r", at=later(), answers="", run_id="r", survivors=(7,)))
    )
    order = next(iter(due(session))).key
    away = TroubleBegan(id="t", at=later(), reason="tmux is gone", order=order)
    assert titles(decide(session, away)) == ["tmux is gone"]
    broken = cards(decide(session, Broke(id="b", at=later(), reason="a bug")))
    assert ProblemCard in [type(card) for card in broken]


@pytest.mark.parametrize(
    ("session", "event"),
    [
        (fresh(), said("Add discounts")),
        (asked(), pressed(Verb.STOP)),
        (executing(task("T001", TaskState.BLOCKED, blocked="b")), commanded(Word.STATUS)),
        (awaiting_approval(), commanded(Word.STATUS)),
        (over(), commanded(Word.INFO)),
    ],
    ids=["request", "stop", "blocked", "approval", "over"],
)
def test_what_waits_for_somebody_and_what_is_asked_for_is_shown_in_any_thread(
    session: Session, event: Event
) -> None:
    shown: dict[Verbosity, list[str]] = {}
    for level in LEVELS:
        copy = session.copied()
        copy.talk.verbosity = level
        shown[level] = titles(decide(copy, event))
    assert shown[Verbosity.QUIET] == shown[Verbosity.NORMAL] == shown[Verbosity.FULL] != []


def test_a_quiet_thread_is_asked_when_a_task_has_failed() -> None:
    session = executing(running("T001"), talk__verbosity=Verbosity.QUIET)
    session.tasks[0].counters = session.tasks[0].counters.model_copy(update={"failed_checks": 3})
    decide(session, ended("T001-r1"))
    looked(session, work("feat: x"))
    assert [card.title for card in needs(ran_tests(session, 1, "E"))] != []


def test_a_quiet_thread_is_told_that_a_change_is_not_made() -> None:
    session = executing(running("T001"), talk__verbosity=Verbosity.QUIET)
    decide(session, said("make it blue"))
    assert news(decide(session, judged("make it blue", WordKind.CHANGE))) == []
    order = ordered(session, "judge_impact")
    refused = OrderFailed(
        id="f", at=later(), answers=order.key, what="judge_impact", reason="The model refuses."
    )
    assert "The change was not made." in titles(decide(session, refused))


def test_a_quiet_thread_is_told_how_it_ends() -> None:
    session = finishing()
    session.talk.verbosity = Verbosity.QUIET
    decide(session, pressed(Verb.MERGE))
    assert cards(decide(session, merged())) == []
    decide(session, whole_judged())
    assert SummaryCard in [type(card) for card in cards(decide(session, cleaned()))]


def test_a_full_thread_hears_of_every_change_of_a_task_once() -> None:
    session = executing(running("T001"), talk__verbosity=Verbosity.FULL)
    [moved] = news(decide(session, ended("T001-r1")))
    assert moved.title == "T001 Task T001: Running → Verifying"
    assert (moved.tone, moved.lines) == (Tone.PLAIN, ())
    assert news(decide(session, ended("T001-r1"))) == []
    assert news(decide(session, tick())) == []


def test_several_changes_at_once_are_told_in_one_word_line_by_line() -> None:
    session = executing(running("T001"), task("T002"), talk__verbosity=Verbosity.FULL)
    told = [card for card in news(decide(session, pressed(Verb.DISCARD))) if "→" in card.title]
    [moved] = told
    assert moved.title == "T001 Task T001: Running → Cancelled"
    assert moved.lines == ("T002 Task T002: Pending → Cancelled",)


def test_neither_a_quiet_nor_a_usual_thread_hears_of_every_change() -> None:
    for level in (Verbosity.QUIET, Verbosity.NORMAL):
        session = executing(running("T001"), talk__verbosity=level)
        assert news(decide(session, ended("T001-r1"))) == []


def test_whatever_is_done_besides_showing_is_done_in_a_quiet_thread_too() -> None:
    session = executing(running("T001"), talk__verbosity=Verbosity.QUIET)
    deeds = decide(session, pressed(Verb.STOP))
    assert [deed.run_id for deed in deeds if isinstance(deed, StopRun)] == ["T001-r1"]


# the log, for one person


@pytest.mark.parametrize(
    "status", [Status.ACTIVE, Status.PAUSED, Status.COMPLETED, Status.FAILED, Status.DISCARDED]
)
def test_a_log_is_shown_to_the_one_who_presses_and_never_to_the_thread(status: Status) -> None:
    session = over(status)
    event = pressed(Verb.LOG, "T001", by=BEA)
    assert not is_held_back(session, event)
    before = session.model_copy(update={"updated_at": event.at})
    deeds = decide(session, event)
    assert deeds == [ShowLogs(about=event.id, task="T001", level="full", to=BEA)]
    assert session == before


def test_where_no_task_is_meant_the_log_of_each_is_named() -> None:
    [deed] = decide(executing(running("T001")), pressed(Verb.LOG))
    assert deed == ShowLogs(about="press:log:", task="", level="", to=ANN)


def test_whose_agent_was_at_work_that_task_has_a_log_to_show() -> None:
    begun = executing(task("T001", TaskState.BLOCKED, blocked="b", runs=running("T001").runs))
    [card] = needs(decide(begun, commanded(Word.STATUS)))
    assert choice(card, Verb.LOG).about == "T001"
    untouched = executing(task("T001", TaskState.BLOCKED, blocked="b"))
    [card] = needs(decide(untouched, commanded(Word.STATUS)))
    assert not {Verb.LOG, Verb.HINT} & {one.verb for one in card.choices}


# feedback


def feedback(verb: Verb, by: Person = ANN, minutes: int = 1) -> Pressed:
    event = pressed(verb, by=by)
    return event.model_copy(update={"id": f"{verb}-{minutes}", "at": later(60 * minutes)})


@pytest.mark.parametrize(
    "status", [Status.ACTIVE, Status.PAUSED, Status.COMPLETED, Status.FAILED, Status.DISCARDED]
)
def test_what_somebody_thought_of_it_is_kept_whenever_they_say_so(status: Status) -> None:
    session = over(status)
    deeds = decide(session, feedback(Verb.HELPFUL))
    assert session.talk.feedback == (Feedback(by=ANN.id, helpful=True, at=later()),)
    assert [deed.to for deed in deeds if isinstance(deed, Whisper)] == [ANN]
    assert cards(deeds) == []
    assert session.status is status


def test_of_each_person_the_last_word_counts() -> None:
    session = over()
    for number, verb in enumerate([Verb.HELPFUL, Verb.UNHELPFUL, Verb.UNHELPFUL], 1):
        decide(session, feedback(verb, minutes=number))
    decide(session, feedback(Verb.HELPFUL, BEA, 4))
    assert [(one.by, one.helpful) for one in session.talk.feedback] == [
        (ANN.id, False),
        (BEA.id, True),
    ]


def test_words_that_are_heard_late_do_not_count_as_the_last_ones() -> None:
    session = over()
    decide(session, feedback(Verb.HELPFUL, minutes=10))
    last = session.talk.last_spoken[ANN.id]
    decide(session, feedback(Verb.HELPFUL, minutes=5))
    assert session.talk.last_spoken[ANN.id] == last
    decide(session, feedback(Verb.HELPFUL, minutes=15))
    assert session.talk.last_spoken[ANN.id].at > last.at


def test_who_is_not_content_is_told_how_it_goes_on() -> None:
    [told] = whispers(decide(over(), feedback(Verb.UNHELPFUL)))
    assert "Say in this thread what should be different" in told


def test_what_very_many_people_thought_is_bounded() -> None:
    session = over()
    for number in range(MOST_LISTENERS * 2):
        person = BEA.model_copy(update={"id": f"T1/{number}"})
        decide(session, feedback(Verb.HELPFUL, person, number))
    assert len(session.talk.feedback) <= MOST_LISTENERS + 1
    assert session.talk.feedback[-1].by == f"T1/{MOST_LISTENERS * 2 - 1}"

"""What somebody missed: everything since their last word, for them alone, as often as they ask."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.core.actions import Deed, Whisper
from bot.core.cards import AnswerCard
from bot.core.choices import Verb, Word
from bot.core.events import Overheard
from bot.core.llm import Usage
from bot.core.people import Person
from bot.core.session import Session
from bot.core.session_parts import Approval
from bot.core.sheets import Bullets, Fields, Text
from bot.core.states import Outcome, Phase, RunState, Status, TaskState
from bot.core.task import Task
from bot.steps.control.commands import MOST_LINES as LINES
from bot.steps.decisions import decide, is_held_back
from bot.steps.talk.rules import MOST_LISTENERS
from tests.steps.scenes import (
    ANN,
    T0,
    asked,
    cards,
    check,
    commanded,
    executing,
    fresh,
    later,
    pressed,
    question,
    said,
    shipped,
    surveyed,
    task,
    verifying,
)

BEA = Person(platform="memory", id="T1/U2", name="Bea")
NOTHING = "Nothing was decided, finished or lost, and nothing waits for anybody."


def catches_up(session: Session, minutes: int = 60, by: Person = ANN) -> list[Deed]:
    asks = commanded(Word.CATCH_UP).model_copy(update={"by": by, "at": later(60 * minutes)})
    assert not is_held_back(session, asks)
    return decide(session, asks)


def card(session: Session, minutes: int = 60, by: Person = ANN) -> AnswerCard:
    """What one person is told; the thread is told nothing."""
    deeds = catches_up(session, minutes, by)
    assert cards(deeds) == []
    [told] = [deed for deed in deeds if isinstance(deed, Whisper)]
    assert told.to == by
    assert isinstance(told.card, AnswerCard)
    return told.card


def sections(told: AnswerCard) -> dict[str, tuple[str, ...]]:
    heads = [element.text for element in told.body if isinstance(element, Text) and element.strong]
    lines = [element.items for element in told.body if isinstance(element, Bullets)]
    return dict(zip(heads, lines, strict=True))


def figures(told: AnswerCard) -> dict[str, str]:
    return {n: v for element in told.body if isinstance(element, Fields) for n, v in element.pairs}


def texts(told: AnswerCard) -> list[str]:
    return [element.text for element in told.body if isinstance(element, Text)]


def speaks(session: Session, minutes: int, by: Person = ANN) -> None:
    decide(session, pressed(Verb.HELPFUL, by=by).model_copy(update={"at": later(60 * minutes)}))


def done(key: str, minutes: int) -> Task:
    return task(key, TaskState.COMPLETED, completed_at=later(60 * minutes), checks=[check(1, 0)])


def test_only_what_was_finished_since_ones_last_word_is_told() -> None:
    session = executing(done("T001", 5), done("T002", 20), task("T003"))
    speaks(session, 10)
    told = card(session)
    assert told.title == "Since you spoke last, 50 min ago"
    assert sections(told) == {"Finished": ("T002 Task T002 · tests pass",)}
    assert figures(told)["Tasks"] == "2 of 3 done"


def test_who_never_spoke_is_told_everything() -> None:
    session = executing(done("T001", 5), done("T002", 20))
    speaks(session, 10)
    told = card(session, by=BEA)
    assert told.title == "Since this began, 1 h 00 min ago"
    assert len(sections(told)["Finished"]) == 2


def test_asking_twice_tells_the_same_twice() -> None:
    session = executing(done("T001", 20))
    speaks(session, 10)
    before = session.talk.last_spoken
    assert card(session).body == card(session).body
    assert session.talk.last_spoken == before


@pytest.mark.parametrize(
    "word", [Word.STATUS, Word.LOGS, Word.TASKS, Word.INFO, Word.USAGE, Word.DECISIONS]
)
def test_only_to_look_is_not_to_speak(word: Word) -> None:
    session = executing(done("T001", 20))
    decide(session, commanded(word).model_copy(update={"at": later(1800)}))
    decide(session, pressed(Verb.LOG, "T001").model_copy(update={"at": later(1800)}))
    assert session.talk.last_spoken == {}
    assert "Finished" in sections(card(session))


def test_a_word_that_arrives_late_makes_nobody_miss_less() -> None:
    session = executing(done("T001", 20))
    speaks(session, 30)
    speaks(session, 10)
    assert sections(card(session)) == {}


def test_those_who_may_only_be_overheard_are_not_remembered() -> None:
    session = executing(task("T001"))
    decide(session, Overheard(id="o", at=later(), by=BEA, text="hm"))
    assert session.talk.last_spoken == {}


def test_the_last_words_of_very_many_people_are_bounded_and_the_latest_stay() -> None:
    session = executing(task("T001"))
    for number in range(MOST_LISTENERS + 10):
        speaks(session, number, BEA.model_copy(update={"id": f"T1/{number}"}))
    assert len(session.talk.last_spoken) == MOST_LISTENERS
    assert f"T1/{MOST_LISTENERS + 9}" in session.talk.last_spoken


def test_what_was_decided_since_is_told_with_who_decided_it() -> None:
    answers = [
        question(n, answer="first", answered_by="Bea", answered_at=later(60 * n)) for n in (5, 20)
    ]
    session = asked(*answers)
    session.approval.granted = Approval(by=BEA, at=later(60 * 30), digest="d", revision=2)
    speaks(session, 10)
    assert sections(card(session))["Decided"] == (
        "D20 Question 20? → first (Bea)",
        "The plan, revision 2, was approved by Bea",
    )


def test_what_failed_is_told_also_where_it_is_being_mended() -> None:
    mended = verifying("T001", checks=[check(1, 1)])
    mended.checks[0] = mended.checks[0].model_copy(update={"at": later(60 * 20)})
    session = executing(
        mended, task("T002", TaskState.FAILED, blocked="no commits", runs=verifying("T002").runs)
    )
    speaks(session, 10)
    told = sections(card(session))
    assert told["Failed"] == (
        "T001 Task T001: 1 failed check, being mended",
        "T002 Task T002: no commits",
    )
    assert told["Waits for somebody"] == ("T002 failed: no commits",)


def test_what_waits_for_somebody_waits_however_long_ago_they_spoke() -> None:
    session = asked()
    speaks(session, 59)
    assert list(sections(card(session))) == ["Waits for somebody"]


def test_where_nothing_happened_that_is_said() -> None:
    session = executing(verifying("T001"))
    speaks(session, 1)
    told = card(session)
    assert texts(told) == [NOTHING]


def test_open_pull_requests_wait_for_somebody_and_are_named() -> None:
    session = executing(shipped("T001", 7))
    speaks(session, 30)
    told = card(session)
    assert NOTHING not in texts(told)
    [waits] = sections(told)["Waits for somebody"]
    assert "Pull requests" in waits
    assert sections(told)["Pull requests"] == ("#7 T001 Task T001",)


def test_the_model_is_counted_since_ones_last_word() -> None:
    session = executing(task("T001"), usage=Usage(calls=2, prompt_tokens=100))
    speaks(session, 1)
    session.usage += Usage(calls=3, prompt_tokens=4000, reply_tokens=500)
    assert figures(card(session))["Model"] == "3 calls, about 4,500 tokens since"
    assert figures(card(session, by=BEA))["Model"] == "5 calls, about 4,600 tokens since"


def test_of_very_much_only_the_beginning_is_told_and_how_much_more_there_is() -> None:
    session = executing(*(done(f"T{n:03}", 5) for n in range(LINES + 4)))
    lines = sections(card(session))["Finished"]
    assert len(lines) == LINES + 1
    assert lines[-1] == "… and 4 more"


@pytest.mark.parametrize(
    ("session", "waits"),
    [
        (fresh(), None),
        (executing(done("T001", 5), status=Status.PAUSED, queue__has_place=False), "Paused"),
        (surveyed(phase=Phase.EXECUTING, status=Status.FAILED, control__failure="No disk."), "It failed: No disk."),
        (surveyed(phase=Phase.DONE, status=Status.COMPLETED, ending__cleaned=True, ending__summary=""), None),
        (surveyed(phase=Phase.EXECUTING, status=Status.DISCARDED, ending__cleaned=True), None),
    ],
    ids=["new", "paused", "failed", "over", "discarded"],
)  # fmt: skip
def test_one_can_catch_up_with_any_session(session: Session, waits: str | None) -> None:
    session = session.copied()
    status = session.status
    told = card(session)
    assert sections(told).get("Waits for somebody") == ((waits,) if waits else None)
    assert figures(told)["Now"] == f"{status} · {session.phase}"
    assert session.status is status


def test_a_clock_that_was_set_back_tells_of_no_time_to_come() -> None:
    session = executing(task("T001"), created_at=T0 + timedelta(hours=5))
    assert card(session, 1).title == "Since this began, 0 s ago"


def test_a_failed_task_that_was_done_after_all_is_no_failure() -> None:
    run = verifying("T001").runs[0].model_copy(update={"outcome": Outcome.FINISHED})
    finished = done("T001", 20)
    finished.runs, finished.checks = [run], [check(1, 1), check(2, 0)]
    assert run.state is RunState.ENDED
    assert list(sections(card(executing(finished, task("T002"))))) == ["Finished"]


def test_what_was_said_while_it_was_missed_is_not_repeated_to_who_said_it() -> None:
    session = executing(done("T001", 5))
    decide(session, said("and now?", at=later(60 * 30)))
    assert "Finished" not in sections(card(session))

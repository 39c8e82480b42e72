"""Checks that cannot be faked: the tests at the base, files that are put back for a test run, and signs that a person accepts."""

from __future__ import annotations

import pytest

from bot.core.actions import Deed, RunCheck
from bot.core.cards import Card, NewsCard
from bot.core.checks import Comparison
from bot.core.choices import Verb
from bot.core.events import BaseChecked, CheckRan
from bot.core.evidence import Check
from bot.core.layout import lay_out
from bot.core.session import Session
from bot.core.sheets import Tone
from bot.core.states import RunState, TaskState
from bot.core.tampering.signs import Flag, Sign
from bot.core.task import Hold
from bot.steps.decisions import decide
from bot.steps.verify import rules as verify
from tests.fields import put
from tests.steps.scenes import (
    cards,
    check,
    executing,
    gets_place,
    judge_says,
    kinds,
    later,
    looked,
    needs,
    ordered,
    press,
    running,
    task,
    verifying,
    work,
)

GONE = Flag(sign=Sign.TEST_DELETED, path="tests/test_a.py", says="It is gone.", tests=("test_a",))
SETTINGS = Flag(sign=Sign.TEST_SETTINGS_CHANGED, path="pytest.ini", says="The file is changed.")
PLANTED = Flag(sign=Sign.TEST_SETTINGS_CHANGED, path="unittest/__init__.py", says="It is new.")
RAN = Comparison(seen=True, ran=3, base_ran=3)
NONE_RAN = Comparison(seen=True, base_ran=3, signs=("No test ran; at the base 3 tests ran.",))
SKIPPED = Comparison(
    seen=True, ran=2, base_ran=3, signs=("1 test that ran at the base is skipped.",)
)


def at_base(exit_code: int | None, tests: Comparison | None = None) -> Check:
    return check(0, exit_code, "the output").model_copy(update={"tests": tests, "commit": "b" * 40})


def seen_at_base(*tasks: object, **changes: object) -> Session:
    session = executing(*(tasks or (verifying("T001"),)), **changes)  # pyright: ignore[reportArgumentType]
    session.tests.base_check = at_base(0, RAN)
    return session


def run_shows(session: Session, tests: Comparison) -> list[Deed]:
    order = ordered(session, "run_check")
    assert isinstance(order, RunCheck)
    ran = check(order.number, 0).model_copy(update={"tests": tests, "restored": order.restored})
    event = CheckRan(id="c", at=later(), answers=order.key, task_id="id-T001", check=ran)
    return decide(session, event)


def said(shown: list[Card]) -> str:
    return " ".join(str(lay_out(card)) for card in shown)


BASES: list[tuple[Check, str, str]] = [
    (at_base(0, RAN), "", ""),
    (at_base(0), "I cannot see which tests run", "only the exit code of this command counts"),
    (at_base(0, Comparison(seen=False)), "I cannot see which tests run", "passed"),
    (at_base(2), "The tests fail at the base already", "ended with 2. I cannot see which"),
    (at_base(None), "The tests fail at the base already", "reached its time limit"),
    (
        at_base(1, Comparison(seen=True, ran=3, failed=("t.py::a",), new_failures=1)),
        "The tests fail at the base already",
        "1 test fails (t.py::a). Only new failures count.",
    ),
    (at_base(2, RAN), "The tests fail at the base already", "something else in the command fails"),
]


@pytest.mark.parametrize(("base", "title", "means"), BASES)
def test_tests_at_the_base_are_told_only_where_they_do_not_prove_what_they_should(
    base: Check, title: str, means: str
) -> None:
    session = executing(running("T001", RunState.STARTING), tests__base_check=None)
    assert kinds(session) == ["check_base"], "no agent starts before"
    order = ordered(session, "check_base")
    deeds = decide(session, BaseChecked(id="b", at=later(), answers=order.key, check=base))
    told = [card for card in cards(deeds) if isinstance(card, NewsCard)]
    assert [card.title for card in told] == ([title] if title else [])
    # dots within names and sentences are drawn as they are said
    assert all(part in said(list(told)) for part in means.split(". "))
    assert all((card.tone is Tone.PLAIN) is base.passed for card in told)
    assert session.tests.base_check == base
    assert kinds(session) == ["start_run"]


def test_tests_that_cannot_be_run_at_the_base_stop_nobody_and_are_told() -> None:
    session = executing(running("T001", RunState.STARTING), tests__base_check=None)
    order = ordered(session, "check_base")
    event = BaseChecked(id="b", at=later(), answers=order.key, check=at_base(None), problem="No.")
    assert "every failure counts" in said(cards(decide(session, event)))
    assert kinds(session) == ["start_run"]


@pytest.mark.parametrize(
    "change", [{"repository__base_commit": "e" * 40}, {"tests__command": "make check"}]
)
def test_another_base_or_command_is_tested_anew_and_a_late_answer_is_not_taken_for_it(
    change: dict[str, str],
) -> None:
    session = executing(running("T001", RunState.STARTING), tests__base_check=None)
    late = ordered(session, "check_base").key
    put(session, change)
    decide(session, BaseChecked(id="b", at=later(), answers=late, check=at_base(0, RAN)))
    assert session.tests.base_check is None
    assert kinds(session) == ["check_base"]


def planned(*files: str) -> Session:
    return seen_at_base(verifying("T001", files=files))


RESTORED: list[tuple[Session, tuple[Flag, ...], tuple[str, ...]]] = [
    (planned(), (SETTINGS,), ("pytest.ini",)),
    (planned(), (SETTINGS, PLANTED, SETTINGS), ("pytest.ini", "unittest/__init__.py")),
    (planned("pytest.ini"), (SETTINGS, PLANTED), ("unittest/__init__.py",)),
    (seen_at_base(verifying("T001"), task("T002", files=("pytest.ini",))), (SETTINGS,), ()),
    (
        seen_at_base(verifying("T001"), task("T002", files=("pytest.ini",), parent="id-T001")),
        (SETTINGS,),
        ("pytest.ini",),
    ),
    (planned(), (GONE,), ()),
    (executing(verifying("T001")), (SETTINGS,), ()),
]


@pytest.mark.parametrize(("session", "flags", "files"), RESTORED)
def test_what_decides_how_tests_are_run_is_put_back_where_no_approved_plan_names_it(
    session: Session, flags: tuple[Flag, ...], files: tuple[str, ...]
) -> None:
    one = session.tasks[0]
    one.work, one.flags = work("feat: x"), flags
    assert verify.restored_files(session, one) == files
    one.accepted = (one.work.head,)
    assert verify.restored_files(session, one) == ()


def test_a_person_sees_what_was_put_back_with_what_the_tests_showed_and_then_they_run_as_they_are() -> (
    None
):
    session = seen_at_base()
    looked(session, work("feat: x"), PLANTED)
    [card] = needs(run_shows(session, SKIPPED))
    assert "unittest/__init__.py: It is new." in card.reason
    assert "is skipped" in card.reason
    decide(session, press(card, Verb.ACCEPT))
    gets_place(session)
    order = ordered(session, "run_check")
    assert isinstance(order, RunCheck)
    assert order.restored == ()
    # what the next run shows nobody has seen yet
    [again] = needs(run_shows(session, NONE_RAN))
    assert "No test ran" in again.reason
    assert session.tasks[0].hold is Hold.FLAGS


def test_a_run_without_tests_waits_for_a_person_and_what_was_accepted_is_judged() -> None:
    session = seen_at_base()
    looked(session, work("feat: x"))
    [card] = needs(run_shows(session, NONE_RAN))
    assert "No test ran; at the base 3 tests ran." in card.reason
    decide(session, press(card, Verb.ACCEPT))
    gets_place(session)
    judge_says(session)
    assert session.tasks[0].state is TaskState.COMPLETED


def test_accepted_deletions_hold_for_all_that_builds_on_them_and_for_nothing_else() -> None:
    first, second, third = verifying("T001"), task("T002"), task("T003")
    second.dependencies, other = ("id-T001",), task("T004")
    third.dependencies = ("id-T002",)
    session = seen_at_base(first, second, third, other)
    [card] = needs(looked(session, work("feat: x"), GONE))
    assert verify.accepted_flags(session, first) == []
    decide(session, press(card, Verb.ACCEPT))
    accepted = [verify.accepted_flags(session, one) for one in session.tasks]
    assert accepted == [[GONE], [GONE], [GONE], []]
    assert first.work
    first.work = first.work.model_copy(update={"head": "f" * 40})
    assert verify.accepted_flags(session, third) == []

"""What stands on which card."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.domain.cards import Card, Decided, OfferCard, ProblemCard, ReceivedCard, Shown, SummaryCard
from bot.domain.choices import Style, Verb
from bot.domain.evidence import ExecutionResult
from bot.domain.intent import Question
from bot.domain.layout import counted, duration, sheet
from bot.domain.sheets import Bullets, Fields, Prose, Sheet, Table, Text, Tone
from bot.domain.states import OverallStatus, TaskState
from tests.fakes import cards

DECIDED = Decided(what="Approved", by="Mika", at=cards.AT)
WAITING = (cards.QUESTIONS, cards.APPROVAL, cards.NEEDS_YOU, cards.OFFER, cards.STOPPED)


def texts(laid: Sheet) -> str:
    return laid.model_dump_json()


def table(laid: Sheet) -> Table:
    return next(element for element in laid.body if isinstance(element, Table))


def bullets(laid: Sheet) -> list[str]:
    return [item for element in laid.body if isinstance(element, Bullets) for item in element.items]


def facts(laid: Sheet) -> dict[str, str]:
    return {n: v for element in laid.body if isinstance(element, Fields) for n, v in element.pairs}


def test_there_is_a_sample_of_every_kind_of_card() -> None:
    kinds = set(Shown.__subclasses__())
    assert {type(card) for card in cards.EVERY_KIND} == kinds


@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_every_card_has_a_title_and_says_something(card: Card) -> None:
    laid = sheet(card)
    assert laid.title.strip()
    assert laid.body


@pytest.mark.parametrize("card", WAITING, ids=lambda card: card.kind)
def test_what_waits_for_a_person_can_be_pressed_until_it_is_decided(card: Card) -> None:
    assert sheet(card).choices
    assert sheet(card).tone is Tone.NEEDS_YOU
    decided = sheet(card.model_copy(update={"decided": DECIDED}))
    assert decided.choices == ()
    assert decided.tone is not Tone.NEEDS_YOU
    assert "Approved by Mika, 2026-11-18 12:03 UTC" in decided.footer


@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_at_most_one_choice_is_the_primary_one_and_it_comes_first(card: Card) -> None:
    styles = [choice.style for choice in sheet(card).choices]
    assert Style.PRIMARY not in styles[1:]


def test_discarding_and_merging_ask_once_more() -> None:
    for card in (cards.APPROVAL, cards.STOPPED, cards.OFFER):
        for choice in sheet(card).choices:
            assert bool(choice.confirm) is (choice.verb in (Verb.DISCARD, Verb.MERGE))


def test_an_approval_is_bound_to_the_digest_that_was_shown() -> None:
    approve, change, _ = sheet(cards.APPROVAL).choices
    assert (approve.verb, approve.about) == (Verb.APPROVE, cards.DIGEST)
    assert (change.verb, change.about) == (Verb.CHANGE, cards.DIGEST)
    assert change.asks
    assert cards.DIGEST[:12] in sheet(cards.APPROVAL).footer


def test_an_approval_shows_every_task_base_flags_tests_and_when_it_expires() -> None:
    laid = sheet(cards.APPROVAL)
    assert [row[0] for row in table(laid).rows] == ["T001", "T002", "T003"]
    assert table(laid).rows[2][2] == "T001, T002"
    assert facts(laid)["Base"] == "main at 1234567890"
    assert facts(laid)["Agent flags"] == "--dangerously-skip-permissions"
    assert facts(laid)["Tests"] == "python -m pytest -q"
    assert "2026-11-19 12:03" in laid.footer


def test_the_default_of_a_question_is_always_among_its_options() -> None:
    questions = (
        Question(number=1, text="A?", options=("x", "y"), default="y"),
        Question(number=2, text="B?", options=("x",), default="z"),
        Question(number=3, text="C?", default="w"),
    )
    laid = sheet(cards.QUESTIONS.model_copy(update={"questions": questions}))
    assert bullets(laid) == ["x", "y (default)", "z (default)", "x", "w (default)"]
    assert [choice.verb for choice in laid.choices] == [Verb.DEFAULTS]


def test_an_answered_question_shows_its_answer_only() -> None:
    answered = cards.QUESTIONS.questions[0].model_copy(update={"answer": "Nowhere"})
    update = {"questions": (answered,), "decided": DECIDED}
    assert bullets(sheet(cards.QUESTIONS.model_copy(update=update))) == ["Nowhere"]


def test_the_first_card_says_which_repository_branch_and_commit_are_used() -> None:
    laid = sheet(cards.RECEIVED)
    assert facts(laid)["Repository"] == cards.RECEIVED.repository
    assert facts(laid)["From"] == "main at 1234567890"
    assert "without a sandbox" in facts(laid)["Agents"]
    assert "3 uncommitted files of yours" in bullets(laid)[-1]
    sandboxed = cards.RECEIVED.model_copy(update={"sandboxed": True, "uncommitted": 1})
    assert facts(sheet(sandboxed))["Agents"] == "claude"
    assert "1 uncommitted file of yours" in bullets(sheet(sandboxed))[-1]


def test_before_the_repository_is_known_the_card_says_that_it_is_looked_at() -> None:
    shown = sheet(ReceivedCard(key="received", session="7682b3a8", request="Add discounts"))
    assert shown.title == "Got it, looking at the repository …"
    assert shown.body == ()


def test_a_document_is_shown_in_full() -> None:
    laid = sheet(cards.DOCUMENT)
    assert laid.title == "spec.md · revision 1"
    assert laid.body == (Prose(name="specs/SPEC-1a2b3c4d/spec.md", markdown=cards.DOCUMENT.text),)


def test_the_status_shows_state_time_note_and_the_last_lines_of_each_pane() -> None:
    laid = sheet(cards.STATUS)
    assert table(laid).rows[0] == (
        "✓ T001",
        "Set up the theme module",
        "Completed",
        "1 min 15 s",
        "",
    )
    assert table(laid).rows[1][3:] == ("1 h 02 min", "tests failed 1×, being mended")
    assert cards.STATUS.tasks[1].tail in [getattr(e, "text", "") for e in laid.body]
    assert "7 model calls, about 22,211 tokens" in laid.footer


def test_columns_in_which_nothing_stands_are_left_out() -> None:
    tasks = tuple(t.model_copy(update={"note": "", "seconds": None}) for t in cards.STATUS.tasks)
    laid = sheet(cards.STATUS.model_copy(update={"tasks": tasks}))
    assert table(laid).head == ("Task", "What", "State")
    assert {len(row) for row in table(laid).rows} == {3}


def test_the_status_says_the_place_in_the_queue_and_what_it_waits_for() -> None:
    update = {"queue_position": 2, "waiting": 3, "trouble": "The model does not answer"}
    laid = sheet(cards.STATUS.model_copy(update=update))
    assert facts(laid)["Queue"] == "place 2 of 3"
    assert facts(laid)["Waiting"] == "The model does not answer"


def test_every_state_of_a_task_has_a_mark_of_its_own() -> None:
    marks = [
        table(sheet(cards.STATUS.model_copy(update={"tasks": (line,)}))).rows[0][0][0]
        for line in (cards.STATUS.tasks[0].model_copy(update={"state": s}) for s in TaskState)
    ]
    assert len(set(marks)) == len(TaskState)
    assert " " not in marks


def test_an_offer_counts_its_branches_in_good_english() -> None:
    one = OfferCard(key="offer", base="main", branches=("agent/a",))
    assert sheet(one).choices[0].confirm == "Merge 1 branch into your local main?"
    assert sheet(cards.OFFER).choices[0].confirm == "Merge 2 branches into your local main?"


def test_a_failed_merge_says_why_and_can_be_tried_again() -> None:
    laid = sheet(cards.OFFER.model_copy(update={"problem": "main has moved."}))
    assert "main has moved." in texts(laid)
    assert laid.choices[0].label == "Try again to merge into main"


def test_a_stop_names_the_processes_that_would_not_end() -> None:
    assert "123, 456" in texts(sheet(cards.STOPPED))
    quiet = cards.STOPPED.model_copy(update={"stopped_runs": 0, "survivors": ()})
    assert "No agent was running" in texts(sheet(quiet))


def test_a_summary_leaves_out_what_there_is_none_of() -> None:
    bare = SummaryCard(
        key="summary",
        title="Nothing done",
        result=ExecutionResult(overall_status=OverallStatus.NO_EVIDENCE, session_id="x"),
        tasks=(),
        checks=(),
        usage=cards.STATUS.usage,
        agent_runs=1,
        seconds=3,
    )
    laid = sheet(bare)
    assert laid.title == "NO_EVIDENCE: Nothing done"
    assert laid.tone is Tone.FAILURE
    assert [type(element) for element in laid.body] == [Fields]
    assert facts(laid)["Agents"] == "1 run"
    assert sheet(cards.SUMMARY).tone is Tone.SUCCESS


def test_a_problem_says_what_to_do_and_when_it_is_over() -> None:
    laid = sheet(
        ProblemCard(key="p", title="No model", reason="", remedy="Start it.", retrying=True)
    )
    assert laid.body == (Text(text="Start it."),)
    assert "keep trying" in laid.footer
    over = sheet(ProblemCard(key="p", title="No model", reason="It works again.", over=True))
    assert over.title == "Over: No model"
    assert over.tone is Tone.PLAIN


def test_times_and_numbers_are_said_as_people_say_them() -> None:
    assert [duration(n) for n in (None, 0, 59, 60, 3599, 3600)] == [
        "",
        "0 s",
        "59 s",
        "1 min 00 s",
        "59 min 59 s",
        "1 h 00 min",
    ]
    assert duration(int(timedelta(days=2, minutes=5).total_seconds())) == "48 h 05 min"
    assert [counted(n, "branch") for n in (0, 1, 2)] == ["0 branches", "1 branch", "2 branches"]

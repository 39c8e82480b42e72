"""How the played model reads a request, and the answers people give in their own words."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.demo.texts import REQUEST, Texts, english, japanese
from tests.adapters.played.conftest import replied

LARGE = {"English": "Build everything at once", "Japanese": "全部まとめて作ってください"}


@pytest.mark.covers("G-RULE-QUESTIONS-3")
def test_it_asks_three_questions_with_a_reason_and_a_default() -> None:
    reply = replied("clarify")
    assert reply["title"]
    assert len(reply["questions"]) == 3
    for question in reply["questions"]:
        assert question["text"].endswith("?")
        assert question["why"]
        assert question["options"][0] == question["default"]


def test_an_ordinary_request_is_of_low_risk_whole_and_to_be_carried_out() -> None:
    reply = replied("clarify")
    assert (reply["risk"], reply["vague"], reply["dry_run"]) == ("low", "", False)
    assert reply["risk_reasons"]
    assert (reply["parts"], reply["continues"], reply["continues_reason"]) == ([], "", "")


@pytest.mark.parametrize(
    "words", ["Only the plan, please", "Just show me the plan", "plan only", "計画だけ見せて"]
)
def test_who_wants_only_the_plan_gets_a_dry_run(words: str) -> None:
    assert replied("clarify", request=f"{REQUEST}. {words}")["dry_run"] is True


def test_what_is_decided_is_not_asked_again() -> None:
    decided = [{"id": "D1", "question": japanese().questions[1].text, "answer": "四捨五入"}]
    asked = [q["text"] for q in replied("clarify", decisions=decided)["questions"]]
    assert asked == [english().questions[0].text, english().questions[2].text]


@pytest.mark.parametrize("texts", [english(), japanese()], ids=lambda texts: texts.language)
def test_what_is_too_large_comes_in_parts_that_are_each_a_request_of_its_own(texts: Texts) -> None:
    parts = replied("clarify", request=LARGE[texts.language])["parts"]
    assert [part["title"] for part in parts] == [part.title for part in texts.parts]
    planned = [[t["files"][0] for t in tasks(part["body"])] for part in parts]
    assert planned == [
        ["basket/discount.py", "basket/checkout.py"],
        ["basket/receipt.py"],
        ["basket/history.py"],
    ]
    for part in parts:
        assert replied("clarify", request=part["body"])["parts"] == []
        assert replied("clarify", request=part["body"])["title"] == part["title"]


def test_a_request_that_names_a_finished_session_goes_on_with_it() -> None:
    earlier = [
        {"id": "s-1", "title": "Receipts", "spec": "SPEC-1"},
        {"id": "s-2", "title": "Receipts in colour", "spec": "SPEC-2"},
        {"id": "s-3", "title": "", "spec": ""},
    ]
    reply = replied("clarify", request="More of receipts in colour, please", earlier=earlier)
    assert reply["continues"] == "s-2"
    assert "Receipts in colour" in reply["continues_reason"]
    assert replied("clarify", request="More colour", earlier=earlier)["continues"] == ""


def tasks(request: str) -> list[dict[str, Any]]:
    return replied("tasks", request=request)["tasks"]


ONE_CODE, AFTER_THE_OTHER = english().questions[0].options
DROPPED, ROUNDED = english().questions[1].options
STOPS, GOES_ON = english().questions[2].options
SAID: list[tuple[str, dict[str, str]]] = [
    ("the second one for the first question", {"D1": AFTER_THE_OTHER}),
    ("For the third question the first option.", {"D3": STOPS}),
    (
        "First question: the second. Second question: rounded.",
        {"D1": AFTER_THE_OTHER, "D2": ROUNDED},
    ),
    ("one code, rounded, and no discount", {"D1": ONE_CODE, "D2": ROUNDED, "D3": GOES_ON}),
    ("D2 the second one", {"D2": ROUNDED}),
    ("d2: rounded d3: it stops", {"D2": ROUNDED, "D3": STOPS}),
    ("D1 is up to four codes", {"D1": "up to four codes"}),
    ("1つ目は2つ目、２番目の質問は四捨五入", {"D1": AFTER_THE_OTHER, "D2": ROUNDED}),
    ("1つ目は併用。端数は四捨五入で。", {"D1": AFTER_THE_OTHER, "D2": ROUNDED}),
    ("it is dropped, in the shop's favour", {"D2": DROPPED}),
    ("割引なしで", {"D3": GOES_ON}),
    ("I like tea", {}),
]


@pytest.mark.parametrize(("said", "expected"), SAID, ids=[said for said, _ in SAID])
def test_answers_in_free_words_are_mapped_to_the_questions(
    said: str, expected: dict[str, str]
) -> None:
    reply = replied("answers", questions=asked(english()), said=said)
    assert {a["id"]: a["answer"] for a in reply["answers"]} == expected
    assert (reply["defaults"], reply["unclear"]) == (False, [])


@pytest.mark.parametrize("said", ["Rounded, the rest as you like", "四捨五入、あとはおまかせ"])
def test_the_rest_may_be_left_to_the_bot(said: str) -> None:
    reply = replied("answers", questions=asked(english()), said=said)
    assert reply["answers"] == [{"id": "D2", "answer": ROUNDED}]
    assert reply["defaults"] is True


@pytest.mark.parametrize(
    ("said", "unclear"),
    [("the second question: hmm", ["D2"]), ("drop it or rounded half up", ["D2"]), ("D7 yes", [])],
)
def test_what_cannot_be_mapped_stays_open(said: str, unclear: list[str]) -> None:
    reply = replied("answers", questions=asked(english()), said=said)
    assert (reply["answers"], reply["unclear"]) == ([], unclear)


def asked(texts: Texts) -> list[dict[str, object]]:
    return [
        {"id": f"D{n}", "text": q.text, "options": list(q.options), "default": q.options[0]}
        for n, q in enumerate(texts.questions, 1)
    ]

"""Modal forms: what they ask for, and how their answers are read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.slack.blocks import forms
from adapters.slack.blocks.forms import FormPurpose
from bot.core.cards import QuestionsCard
from bot.core.choices import Verb
from bot.core.intent import Question
from bot.core.people import Thread
from tests.adapters.slack import content
from tests.beds.slack.validation import wrong_in_view
from tests.fakes import cards

PURPOSE = FormPurpose(
    thread=Thread(platform="slack", workspace="T0001", channel="C0001", root="1794988193.000100"),
    verb=Verb.HINT,
    about=cards.DIGEST,
    key="approval:1",
)
_any = settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def wrong_in(view: dict[str, Any]) -> list[str]:
    blank = [text for text in content.texts_of(view) if not text.strip()]
    return [*wrong_in_view(view), *blank]


def inputs(view: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {block["block_id"]: block for block in view["blocks"] if block["type"] == "input"}


def written(block: str, text: str | None) -> dict[str, Any]:
    return {block: {block: {"type": "plain_text_input", "value": text}}}


def chosen(view: dict[str, Any], block: str, place: int = 0) -> dict[str, Any]:
    element = inputs(view)[block]["element"]
    option = element["options"][place]
    return {block: {element["action_id"]: {"type": "static_select", "selected_option": option}}}


@pytest.mark.parametrize("text", content.HOSTILE, ids=lambda text: ascii(text[:12]))
def test_slack_takes_any_text_in_a_form(text: str) -> None:
    assert wrong_in(forms.ask_form(text, text, PURPOSE)) == []
    assert wrong_in(forms.notice_form(text, text)) == []


@_any
@given(content.question_cards(), content.words)
def test_slack_takes_any_questions_in_a_form(card: QuestionsCard, title: str) -> None:
    view = forms.questions_form(card.questions, PURPOSE, title)
    assert wrong_in(view) == []
    assert len(view["blocks"]) <= 100


def test_a_form_asks_for_one_text() -> None:
    view = forms.ask_form("Request changes to the plan", "What should be different?", PURPOSE)
    assert view["title"]["text"] == "Request changes to the …"
    (block,) = inputs(view).values()
    assert block["label"]["text"] == "What should be different?"
    assert block["element"]["multiline"] is True
    assert block["element"]["max_length"] == 3_000
    assert block["optional"] is False
    assert view["callback_id"] == forms.ASKING


def test_what_is_to_be_different_can_be_said_of_single_documents() -> None:
    view = forms.ask_form(
        "Request changes", "What?", PURPOSE.model_copy(update={"verb": Verb.CHANGE})
    )
    assert wrong_in(view) == []
    text, about = inputs(view).values()
    assert about["optional"]
    options = about["element"]["options"]
    assert [one["text"]["text"] for one in options] == ["spec.md", "plan.md", "tasks.md"]
    ticked = {
        about["block_id"]: {"about": {"type": "checkboxes", "selected_options": options[::-2]}}
    }
    said = written(text["block_id"], "Smaller steps")
    assert forms.asked_text(said | ticked) == "About spec.md, tasks.md: Smaller steps"
    none: list[object] = []
    assert (
        forms.asked_text(said | {"about": {"about": {"selected_options": none}}}) == "Smaller steps"
    )
    assert list(forms.text_errors(ticked)) == [text["block_id"]], "a box alone says nothing"


def test_boxes_nobody_offered_are_not_read() -> None:
    strange = {"about": {"about": {"selected_options": [{"value": "<!channel>"}, "x", None]}}}
    assert forms.asked_text(written("said", "x") | strange) == "x"


def test_what_was_written_is_read_without_the_blanks_around_it() -> None:
    assert forms.asked_text(written("said", "  Use sqlite.\n")) == "Use sqlite."
    assert forms.text_errors(written("said", "x")) == {}


@pytest.mark.parametrize("text", [None, "", "  \n", "\u200b"])
def test_an_empty_form_is_not_taken(text: str | None) -> None:
    values = written("said", text)
    assert forms.asked_text(values) == ""
    (block,) = inputs(forms.ask_form("t", "q", PURPOSE))
    assert list(forms.text_errors(values)) == [block]
    assert list(forms.text_errors({})) == [block]


def test_every_open_question_has_a_select_and_a_line_for_something_else() -> None:
    view = forms.questions_form(cards.QUESTIONS.questions, PURPOSE)
    assert list(inputs(view)) == ["pick:1", "else:1", "else:2"]
    pick, free, only = inputs(view).values()
    assert pick["label"]["text"] == "D1 Where shall the setting be kept?"
    assert pick["hint"]["text"].startswith("It decides whether")
    assert pick["element"]["initial_option"]["text"]["text"] == "In the browser (default)"
    assert free["optional"]
    assert only["element"]["placeholder"]["text"] == "設定画面"
    assert only["optional"]


def test_more_questions_than_a_form_holds_are_counted() -> None:
    long = ("a", "something " * 20)
    asked = [Question(number=n, text="Which?", options=long, default="a") for n in range(1, 61)]
    view = forms.questions_form(asked, PURPOSE)
    assert wrong_in(view) == []
    assert "28 more" in view["blocks"][-1]["elements"][0]["text"]


def test_settled_questions_are_not_asked_again() -> None:
    first, second = cards.QUESTIONS.questions
    view = forms.questions_form((first.model_copy(update={"answer": "x"}), second), PURPOSE)
    assert list(inputs(view)) == ["else:2"]
    assert wrong_in(forms.questions_form((), PURPOSE)) == []


def test_long_options_are_listed_in_full_above_their_select() -> None:
    long = "something " * 20
    question = Question(number=1, text="Which?", options=("a", long.strip()), default="a")
    view = forms.questions_form((question,), PURPOSE)
    assert view["blocks"][0]["text"]["text"] == f"1. a (default)\n2. {long.strip()}"
    assert forms.answers_given(chosen(view, "pick:1", 1), (question,)) == {1: long.strip()}


def test_answers_are_what_was_picked_unless_something_else_was_written() -> None:
    asked = cards.QUESTIONS.questions
    view = forms.questions_form(asked, PURPOSE)
    values = chosen(view, "pick:1", 1) | written("else:1", None) | written("else:2", "")
    assert forms.answers_given(values, asked) == {1: "In the user's profile on the server"}
    values |= written("else:1", "In a file") | written("else:2", " ここ ")
    assert forms.answers_given(values, asked) == {1: "In a file", 2: "ここ"}


def test_what_was_picked_is_looked_up_unless_something_else_was_written() -> None:
    long = ("a", "something " * 20)
    asked = [Question(number=n, text="Which?", options=long, default="a") for n in (1, 2)]
    view = forms.questions_form(asked, PURPOSE)
    values = chosen(view, "pick:1", 1) | chosen(view, "pick:2", 0)
    assert forms.answers_given(values, asked) == {1: long[1], 2: "a"}
    assert forms.answers_given(values | written("else:2", "b")) == {}
    both = written("else:1", "b") | written("else:2", "c")
    assert forms.answers_given(values | both) == {1: "b", 2: "c"}


def test_a_form_of_another_program_has_no_answers() -> None:
    assert forms.answers_given(written("else:x", "a") | written("other:1", "b")) == {}
    assert forms.answers_given({"else:1": {}}) == {}


def test_a_form_carries_what_it_was_opened_for() -> None:
    view = forms.ask_form("t", "q", PURPOSE)
    assert FormPurpose.read(view["private_metadata"]) == PURPOSE


@given(st.text(max_size=100), st.text(max_size=100))
def test_a_purpose_comes_back_as_it_was(about: str, key: str) -> None:
    purpose = PURPOSE.model_copy(update={"about": about, "key": key})
    assert FormPurpose.read(purpose.json_text) == purpose


@pytest.mark.parametrize("text", ["", "{}", "null", "[" * 2_000, '{"thread":1}', '{"verb":"stop"}'])
def test_a_broken_purpose_is_none(text: str) -> None:
    assert FormPurpose.read(text) is None


def test_a_purpose_too_large_for_slack_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="ids only"):
        forms.ask_form("t", "q", PURPOSE.model_copy(update={"about": "x" * 3_000}))


def test_a_form_that_only_says_something_has_nothing_to_send() -> None:
    view = forms.notice_form("Looking …")
    assert "submit" not in view
    assert view["blocks"][0]["text"]["text"] == "Looking …"

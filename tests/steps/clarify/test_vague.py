"""Requests that nobody could plan get one fixed question; all others are left to the model."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.intent import Vague, fixed_question, vague_request


@pytest.mark.covers("R-RULE-CLARIFY-4")
@pytest.mark.parametrize(
    "text",
    [
        "fix it",
        "Fix this please.",
        "change this",
        "Could you fix the bug?",
        "modify",
        "FIX",
        "fix bugs",
        "Make it better",
        "\n    please fix the error now",
        "it's broken",
        "修正して",
        "直して",
        "直してください。",
        "これを直して",
        "バグを修正してください",
        "\n    変更して",
        "変えて",
        "修正をお願いします",
        "なおして",
        "改善したい",
        "修正",
        "ｆｉｘ\u3000ｉｔ",
    ],
)
def test_a_change_of_nothing_is_asked_which_place(text: str) -> None:
    assert vague_request(text) is Vague.CHANGE


@pytest.mark.covers("R-RULE-CLARIFY-3")
@pytest.mark.parametrize(
    "text",
    [
        "create",
        "add a file",
        "Add it!",
        "update",
        "make something",
        "Can you write some code",
        "build a new feature, please",
        "追加して",
        "\n    ファイルを追加して",
        "作って",
        "作成してください",
        "更新して",
        "書いて",
        "新しい機能を実装して",
        "つくって",
        "追加",
    ],
)
def test_making_nothing_is_asked_which_file(text: str) -> None:
    assert vague_request(text) is Vague.CREATE


@pytest.mark.parametrize(
    "text",
    [
        "fix the login",
        "ログインを直して",
        "Add discounts",
        "Add a file docs/x.md",
        "create a page",
        "update dependencies",
        "\n    fix it in src/login.py",
        "add it to the README",
        "make tests pass",
        "テストを追加して",
        "直してほしいのはログイン",
        "\n    追加料金を計算する",
        "バグ報告フォームを追加して",
        "書式を直して",
        "作品",
        "修正履歴を表示",
        "hello",
        "",
        "\n    fix the bug that the total is wrong when two codes are given",
    ],
)
def test_whatever_names_something_is_left_to_the_model(text: str) -> None:
    assert vague_request(text) is None


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    assert vague_request(text) in {None, *Vague}
    assert vague_request(text * 10_000) in {None, *Vague}


def test_the_fixed_questions_have_no_default_and_no_options() -> None:
    for kind in Vague:
        for language in ("Japanese", "English", ""):
            question = fixed_question(kind, language)
            assert (question.number, question.options, question.default) == (1, (), "")


@pytest.mark.covers("R-RULE-CLARIFY-3", "R-RULE-CLARIFY-4")
def test_the_fixed_questions_are_put_in_the_language_of_the_request() -> None:
    assert (
        fixed_question(Vague.CREATE, "Japanese").text
        == "対象のファイル名またはパスを指定してください。"
    )
    assert (
        fixed_question(Vague.CHANGE, "Japanese").text
        == "どの機能/箇所を修正しますか？（例: コマンド名、エラー文、対象ファイル）"
    )
    assert fixed_question(Vague.CREATE, "English").text == "Which file or path is it about?"
    assert fixed_question(Vague.CHANGE, "").text.startswith("Which feature or place")


@pytest.mark.covers("R-RULE-CLARIFY-2")
def test_the_fixed_questions_are_short_and_guess_nothing() -> None:
    for kind in Vague:
        for language in ("Japanese", "English"):
            text = fixed_question(kind, language).text
            assert len(text.splitlines()) <= 2
            assert not re.search(
                r"maybe|perhaps|probably|i think|たぶん|おそらく|かもしれ", text.lower()
            )

"""In which language people are answered: that of their request, as far as it can be told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.text import is_in_language, language_of

SPEC = """# Feature Specification: 割引コード

**Feature Branch**: `agent/spec-1a2b3c4d`

## User Scenarios & Testing

### User Story 1 - コードを入力する (Priority: P1)

買い物客が割引コードを入力すると合計が下がります。

1. **Given** かごに商品がある, **When** コードを入力する, **Then** 合計が下がる

## Requirements

- **FR-001**: `POST /basket/codes` は割引コードを受け取り MUST 合計を計算し直す。
"""


@pytest.mark.parametrize(
    "text",
    [
        "ログインを直して",
        "OAuth2 を使って GitHub Login を実装してください",
        "src/auth/login.py の LoginForm を修正して",
        "ボタンのラベルを `Submit order` に変更する",
        SPEC,
    ],
)
def test_japanese_is_known_by_its_kana_also_among_foreign_names(text: str) -> None:
    assert language_of(text) == "Japanese"
    assert is_in_language(text, "Japanese")


@pytest.mark.parametrize(
    "text",
    [
        "Add discounts",
        "Fix the login, please",
        "Rename the button 送信 to Send in every form of the shop",
        "Use `utf8mb4` in src/db.py",
    ],
)
def test_english_is_known_by_its_letters_also_where_a_word_is_quoted(text: str) -> None:
    assert language_of(text) == "English"
    assert is_in_language(text, "English")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12345 !!",
        "请修复登录页面的错误并添加测试",
        "로그인 오류를 수정해 주세요",
        "Исправь вход в систему",
        "Bitte füge das Suchfeld für die Kunden hinzu",
        "Ajoute un champ de recherche pour les clients",
        "Añade un buscador para los clientes",
    ],
)
def test_of_other_languages_nothing_is_wanted(text: str) -> None:
    assert language_of(text) == ""
    assert is_in_language("Anything that the model may have written", language_of(text))


def test_an_answer_in_the_other_language_does_not_fit() -> None:
    assert not is_in_language("Shall discount codes be combined with each other?", "Japanese")
    assert not is_in_language("割引コードは同時に使えるようにしますか？", "English")
    assert not is_in_language("是否允许同时使用多个优惠码？请说明原因。", "Japanese")


def test_a_document_of_headings_and_labels_in_english_may_be_japanese_all_the_same() -> None:
    assert is_in_language(SPEC, "Japanese")
    assert not is_in_language(SPEC, "English")


@pytest.mark.parametrize(
    "text", ["OK", "JWT", "OAuth2", "T001", "`npm run build --workspaces`", ""]
)
def test_a_few_letters_and_code_fit_everywhere(text: str) -> None:
    assert is_in_language(text, "Japanese")
    assert is_in_language(text, "English")


def test_code_is_not_read() -> None:
    code = "```python\ndef combined_codes_are_refused(basket): raise ValueError\n```\n"
    assert language_of(f"{code}このコードを直して") == "Japanese"
    assert is_in_language(code, "Japanese")
    assert is_in_language("```\n" + "never closed " * 50, "Japanese")


@given(st.text())
def test_any_text_can_be_told_or_not(text: str) -> None:
    assert language_of(text) in {"Japanese", "English", ""}
    assert is_in_language(text, "")


def test_a_long_line_of_one_sign_is_read_in_one_go() -> None:
    for sign in "`*./_#aA1-あ":
        assert language_of(sign * 200_000) in {"Japanese", "English", ""}

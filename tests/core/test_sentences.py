"""What ports say is wrong, as people read it."""

from __future__ import annotations

import pytest

from bot.core.text import capitalized, sentences, shortened


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (
            ("there is no branch x here", "branches lists them."),
            "there is no branch x here. branches lists them.",
        ),
        (
            ("The token is worth nothing.", "Set another"),
            "The token is worth nothing. Set another.",
        ),
        (("disk full", ""), "disk full."),
        (("Whatever next?", "Try again!"), "Whatever next? Try again!"),
        (("使えません。", "直してください"), "使えません。 直してください."),
        ((".forge/intents/a.yaml cannot be read",), ".forge/intents/a.yaml cannot be read."),
        (("git-lfs is not there", " "), "git-lfs is not there."),
        (("", ""), ""),
    ],
)
def test_they_are_joined_as_sentences(said: tuple[str, ...], read: str) -> None:
    assert sentences(*said) == read


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("the model does not answer", "The model does not answer"),
        ("there, now", "There, now"),
        ("git is missing", "git is missing"),
        ("agent/codes is gone", "agent/codes is gone"),
        ("snake_case stays", "snake_case stays"),
        ("iOS first", "iOS first"),
        ("モデルがありません", "モデルがありません"),
        ("", ""),
    ],
)
def test_an_ordinary_first_word_has_a_capital_letter(text: str, begun: str) -> None:
    assert capitalized(text) == begun


def test_a_shortened_text_says_how_much_of_it_is_missing() -> None:
    assert shortened("a" * 10_900, 2_000) == f"{'a' * 2_000} … (8,900 more characters)"
    assert shortened("short", 2_000) == "short"

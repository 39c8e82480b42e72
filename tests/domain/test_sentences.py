"""What ports say is wrong, as people read it."""

from __future__ import annotations

import pytest

from bot.domain.sentences import sentences


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

"""The texts of a pull request: what the bot may change, and what a model may not do with them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.github.pulls import (
    body_of,
    digest,
    lines_of,
    part_in,
    title_of,
    with_part,
    without_references,
)

CLOSES = re.compile(r"(?:close|fix|resolve)[sd]?\s*:?\s+(?:[\w./-]*#|https?://)", re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    [
        "closes #12",
        "Fixes: #3",
        "RESOLVED acme/shop#4",
        "fix https://github.com/acme/shop/issues/4",
        "This closed\n#5",
        "fixes GH-7",
    ],
)
def test_a_text_of_a_models_closes_nothing(text: str) -> None:
    calm = without_references(text)
    assert not CLOSES.search(calm)
    assert calm.replace("\u2060", "") == text


def test_a_text_of_a_models_mentions_nobody() -> None:
    assert not re.search(r"@[A-Za-z0-9]", without_references("@mika and @acme/team, a@b.example"))
    assert "depends on #3" in without_references("depends on #3")
    assert without_references("@pytest.mark\n") != "@pytest.mark\n"


@given(st.text(max_size=300))
def test_whatever_a_model_writes_mentions_and_closes_nothing(text: str) -> None:
    for calm in (without_references(text), body_of(text, title_of(text), draft=False)):
        assert not re.search(r"@[A-Za-z0-9]", calm)
        assert not re.search(r"(?i)\bcloses\s+#\d", calm)


@given(st.text(max_size=300), st.booleans())
def test_what_the_bot_wrote_is_known_again(text: str, draft: bool) -> None:
    body = body_of(text, "title", draft=draft)
    for shown in (body, f"Above\n\n{body}\n\nBelow", lines_of(body.replace("\n", "\r\n"))):
        part = part_in(shown)
        assert part is not None
        assert (part.untouched, part.draft) == (True, draft)
        assert part.title_digest == digest("title")


def test_a_text_full_of_line_ends_is_gone_through_once() -> None:
    """Again and again it would take hours."""
    assert "x" in body_of(f"x{chr(10) * 300_000}x", "feat: x", draft=False)


def test_a_model_cannot_make_a_mark() -> None:
    forged = body_of("mine", "t", draft=False)
    body = body_of(f"{forged}\n\n<!-- hidden -->", "t", draft=True)
    part = part_in(body)
    assert part is not None
    assert (part.start, part.end, part.draft) == (0, len(body), True)


def test_the_mark_at_the_end_of_the_bots_own_text_stays_a_mark() -> None:
    body = body_of("Text\n\n<!-- gwt-bot task=task-1 -->\n", "t", draft=False)
    assert "Text\n\n<!-- gwt-bot task=task-1 -->\n<!-- /gwt-bot -->" in body
    inside = body_of("<!-- gwt-bot task=task-1 -->\nText", "t", draft=False)
    assert "<!-- gwt-bot task=" not in inside


def test_what_people_write_around_it_is_kept() -> None:
    old, new = body_of("old", "t", draft=False), body_of("new", "t", draft=False)
    shown = f"Above\n{old}\nBelow"
    part = part_in(shown)
    assert part is not None
    assert with_part(shown, part, new) == f"Above\n{new}\nBelow"


def test_a_part_that_people_have_changed_is_theirs() -> None:
    body = body_of("The bot's words", "t", draft=False)
    part = part_in(body.replace("words", "words, and ours"))
    assert part is not None
    assert not part.untouched
    assert part_in("Only their words") is None


def test_texts_are_no_longer_than_github_takes_them() -> None:
    assert len(body_of("@" + "a@" * 60_000, "t", draft=False)) <= 65_000
    cut = body_of("x" * 100_000 + "\n\n<!-- gwt-bot task=t1 -->", "t", draft=False)
    assert cut.endswith("(shortened)\n\n<!-- gwt-bot task=t1 -->\n<!-- /gwt-bot -->")
    assert len(title_of("word " * 200)) <= 256
    assert title_of("  one\ntwo  ") == "one two"

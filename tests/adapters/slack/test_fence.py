"""Output of a program between two fences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.blocks.text import code_fence
from tests.adapters.slack.content import HOSTILE, words


@pytest.mark.parametrize("limit", [240, 1_000, 2_900])
@pytest.mark.parametrize(
    "text", [*HOSTILE, "y" * 150 + "\n" + "x" * 100], ids=lambda t: ascii(t)[:12]
)
def test_any_output_fits_and_is_closed(text: str, limit: int) -> None:
    shown = code_fence(text, limit)
    assert len(shown) <= limit
    assert shown.startswith("```\n")
    assert shown.endswith("\n```")
    assert shown.count("```") == 2


@given(words | st.text("ab\n", max_size=600), st.integers(240, 400))
def test_what_fits_is_all_there_and_what_does_not_says_so(text: str, limit: int) -> None:
    shown = code_fence(text, limit)
    assert len(shown) <= limit
    assert ("left out)" in shown) == (len(code_fence(text, 1_000_000)) > limit)


def test_no_cut_goes_through_an_entity() -> None:
    for length in range(1_000, 1_006):
        line = code_fence("<>&" * length, 240 + length % 6).split("\n")[2]
        assert line.startswith(("&lt;", "&gt;", "&amp;"))

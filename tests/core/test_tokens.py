"""What a text costs, how the endpoint's figures correct that, and when talk has grown too old."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.llm import (
    BUDGET_IF_UNKNOWN,
    Usage,
    corrected_scale,
    estimate_tokens,
    seems_truncated,
    token_budget,
)
from bot.core.session import KEPT_VERBATIM, Session, Speaker, messages_to_summarise
from tests.steps.scenes import fresh, later


def reported(tokens: int, estimated: int = 100) -> Usage:
    return Usage(calls=1, prompt_tokens=tokens, estimated=estimated)


def talking(messages: int, size: int, first: Speaker = Speaker.USER) -> Session:
    session = fresh()
    for number in range(messages):
        role = first if number == 0 else Speaker.USER
        session.say(role, "x" * size, later(number))
    return session


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("修正", 2), ("🙂", 2)]
)
def test_three_bytes_are_one_token(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_the_scale_makes_a_text_cheaper_or_dearer() -> None:
    assert (estimate_tokens("x" * 300, 0.5), estimate_tokens("x" * 300, 2.0)) == (50, 200)


@given(st.text())
def test_any_text_can_be_estimated(text: str) -> None:
    assert estimate_tokens(text) >= 0
    assert estimate_tokens("half a pair: \ud83d") > 0


def test_an_endpoint_that_reports_nothing_teaches_nothing() -> None:
    assert corrected_scale(reported(0), 1.2) == 1.2
    assert corrected_scale(reported(50, 0), 1.2) == 1.2


def test_the_scale_goes_towards_what_is_reported_step_by_step() -> None:
    first = corrected_scale(reported(50), 1.0)
    assert 0.5 < first < 1.0
    scale = first
    for _ in range(30):
        scale = corrected_scale(reported(50), scale)
    assert scale == pytest.approx(0.5, abs=0.01)


def test_a_server_that_cuts_what_it_is_sent_does_not_teach_that_tokens_are_cheap() -> None:
    """Its window is 4,096 tokens, whatever it is sent; more would be sent each time the scale sinks."""
    scale, sent = 1.0, 0
    for _ in range(12):
        sent = int(BUDGET_IF_UNKNOWN / scale)
        scale = corrected_scale(reported(4096, sent), scale)
    assert (scale, sent) == (1.0, BUDGET_IF_UNKNOWN)
    assert seems_truncated(reported(4096, BUDGET_IF_UNKNOWN))
    assert not seems_truncated(reported(0, BUDGET_IF_UNKNOWN)), "it reports nothing"


@given(
    st.integers(min_value=0, max_value=10**9),
    st.integers(min_value=0, max_value=10**9),
    st.floats(min_value=0.3, max_value=2.0),
)
def test_no_figure_drives_the_scale_out_of_its_bounds(tokens: int, sent: int, old: float) -> None:
    assert 0.3 <= corrected_scale(reported(tokens, sent), old) <= 2.0


@pytest.mark.covers("G-RULE-CONTEXT-2", "G-RULE-CONTEXT-3")
@pytest.mark.parametrize(
    ("window", "tokens"),
    [(0, BUDGET_IF_UNKNOWN), (-1, BUDGET_IF_UNKNOWN), (16_000, 12_800), (128_000, 102_400)],
)
def test_four_fifths_of_a_window_may_be_filled(window: int, tokens: int) -> None:
    assert token_budget(window) == tokens


@pytest.mark.covers("G-RULE-CONTEXT-1")
def test_a_short_conversation_is_not_summarised_however_long_its_messages_are() -> None:
    assert messages_to_summarise(talking(KEPT_VERBATIM, 50_000), 0) == 0


def test_many_short_messages_are_not_summarised() -> None:
    assert messages_to_summarise(talking(60, 30), 0) == 0


@pytest.mark.covers("G-US8.1", "G-RULE-CONTEXT-1", "G-RULE-CONTEXT-3", "G-FR-012")
def test_all_but_the_last_messages_are_summarised_when_half_of_what_may_be_sent_is_talk() -> None:
    assert messages_to_summarise(talking(25, 900), 0) == 5
    assert messages_to_summarise(talking(25, 900), 128_000) == 0


def test_a_model_that_counts_more_tokens_gets_its_summary_earlier() -> None:
    session = talking(25, 600)
    assert messages_to_summarise(session, 0) == 0
    session.llm.token_scale = 1.5
    assert messages_to_summarise(session, 0) == 5


def test_a_summary_alone_is_not_summarised_again() -> None:
    assert messages_to_summarise(talking(KEPT_VERBATIM + 1, 3_000, Speaker.SYSTEM), 0) == 0
    assert messages_to_summarise(talking(KEPT_VERBATIM + 2, 3_000, Speaker.SYSTEM), 0) == 2

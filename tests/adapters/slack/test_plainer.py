"""Simpler forms of a message say the same words and keep the buttons, and Slack takes them whatever the card says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.blocks.cards import draw_card, plainer_forms
from adapters.slack.blocks.kit import Block, SlackMessage, plain_text, section
from bot.core.cards import Card
from tests.beds.slack.messages import texts_in, weight
from tests.beds.slack.methods.chat import LONGEST_UPDATE
from tests.beds.slack.validation import wrong_in_blocks
from tests.fakes import cards

HOSTILE = (
    cards.NEWS.model_copy(update={"title": "<!channel> & <@U1>", "output": "```<!here>" * 900}),
    cards.DOCUMENT.model_copy(update={"text": "# <!channel>\n" + "利用者 <@U1> &amp; " * 2_000}),
    cards.NEEDS_YOU.model_copy(update={"title": "", "reason": "x" * 20_000, "output": ""}),
)


def forms(message: SlackMessage) -> Iterator[tuple[str, list[Block]]]:
    """As drawn, and what is sent where that is not taken."""
    yield message.text, message.blocks
    yield from plainer_forms(message)


def messages() -> Iterator[SlackMessage]:
    for card in (*cards.EVERY_KIND, *HOSTILE):
        yield from draw_card(card)


@pytest.mark.parametrize("message", list(messages()))
def test_every_form_is_one_that_slack_takes(message: SlackMessage) -> None:
    for text, blocks in forms(message):
        assert 0 < len(text) <= LONGEST_UPDATE
        assert wrong_in_blocks(blocks) == []
        assert weight(blocks) <= 13_000


@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_the_buttons_are_the_same_in_sections(card: Card) -> None:
    for message in draw_card(card):
        _, (_, plain), (_, bare) = forms(message)
        assert actions(plain) == actions(message.blocks)
        assert bare == []


@pytest.mark.parametrize("message", list(messages()))
def test_only_sections_and_buttons_are_left(message: SlackMessage) -> None:
    _, (_, blocks), _ = forms(message)
    assert {block["type"] for block in blocks} <= {"section", "actions", "context_actions"}
    assert all(set(block) == {"type", "text"} for block in blocks if block["type"] == "section")


def test_what_could_be_read_can_be_read_in_every_form() -> None:
    (message,) = draw_card(cards.NEEDS_YOU)
    for text, blocks in forms(message):
        words = "\n".join(texts_in(blocks)) if blocks else text
        assert "T002 failed three times" in words
        assert "E  assert 1 == 2" in words


def test_questions_keep_their_options() -> None:
    (message,) = draw_card(cards.QUESTIONS)
    for text, blocks in forms(message):
        words = "\n".join(texts_in(blocks)) if blocks else text
        assert "In the user's profile on the server" in words


def test_plain_text_stays_plain_where_slack_reads_markup() -> None:
    message = SlackMessage("hello", [section(plain_text("<!channel> & <@U1>"))])
    *_, (bare, _) = forms(message)
    assert "<" not in bare
    assert "&lt;!channel&gt; &amp; &lt;@U1&gt;" in bare


@given(st.text(max_size=6_000))
def test_no_text_makes_a_form_that_slack_refuses(text: str) -> None:
    card = cards.NEWS.model_copy(update={"title": text[:500], "output": text, "lines": (text,)})
    for message in draw_card(card):
        for words, blocks in forms(message):
            assert 0 < len(words) <= LONGEST_UPDATE
            assert wrong_in_blocks(blocks) == []


def actions(blocks: list[Block]) -> list[Block]:
    return [block for block in blocks if block["type"] in ("actions", "context_actions")]

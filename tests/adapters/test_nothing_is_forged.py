"""Ten thousand texts that want to mention, link or forge: in Slack nothing of them is live, in Matrix nobody is mentioned."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from adapters.matrix.cards import draw_card as drawn_for_matrix
from adapters.matrix.sending import edit_content, message_content
from adapters.slack.blocks.cards import draw_card as drawn_for_slack
from adapters.slack.blocks.text import escaped, harmless_markdown
from bot.core.cards import NewsCard
from tests.fakes import hostile

TEXTS = hostile.texts()
A_CARD = 25
"""Texts on one card."""
LIVE = re.compile(r"<[@!#a-zA-Z][^>]*>|(?i:@(?:here|channel|everyone)\b)")


def test_there_are_ten_thousand_and_hardly_two_are_the_same() -> None:
    assert len(TEXTS) == 10_000
    assert len(set(TEXTS)) > 9_000


def test_nothing_that_is_escaped_for_slack_is_live() -> None:
    for text in TEXTS:
        safe = escaped(text)
        assert not set("<>") & set(safe)
        assert not LIVE.search(safe)
        assert not re.search(r"<[@#]\w|<!\w", harmless_markdown(text))


def cards() -> Iterator[NewsCard]:
    for start in range(0, len(TEXTS), A_CARD):
        some = tuple(TEXTS[start : start + A_CARD])
        yield NewsCard(key=f"n{start}", title=some[0], lines=some[1:])


def markdown_in(blocks: object) -> Iterator[str]:
    """Every text in them that Slack reads markup in."""
    if isinstance(blocks, dict):
        found = cast("dict[str, Any]", blocks)
        if found.get("type") == "mrkdwn":
            yield found["text"]
        for value in found.values():
            yield from markdown_in(value)
    if isinstance(blocks, list):
        for one in cast("list[Any]", blocks):
            yield from markdown_in(one)


def test_no_card_of_them_is_live_in_slack_or_has_a_button_of_theirs() -> None:
    for card in cards():
        for message in drawn_for_slack(card):
            assert not re.search(r"<[@#]\w|<!\w", message.text)
            assert not [text for text in markdown_in(message.blocks) if LIVE.search(text)]
            assert '"type": "button"' not in json.dumps(message.blocks)


def test_every_event_of_them_in_matrix_says_that_it_mentions_nobody() -> None:
    for card in cards():
        for message in drawn_for_matrix(card):
            event, edit = message_content(message, "$root"), edit_content(message, "$event")
            assert event["m.mentions"] == edit["m.mentions"] == {}
            assert edit["m.new_content"]["m.mentions"] == {}
            assert "<mx-reply" not in message.html
            assert "data-mx" not in re.sub(r"&[a-z]+;|>[^<]*<", "", message.html)
            assert not re.search(r"<a [^>]*matrix\.to", message.html)

"""Every card people meet, with every sort of words on it, is taken by every chat: within limits, whole, and forging nothing."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from io import StringIO
from typing import get_args

import pytest

from adapters.console.rendering import ConsoleScreen
from adapters.console.rendering import render_sheet as drawn_in_terminal
from adapters.matrix.cards import draw_card as drawn_in_matrix
from adapters.matrix.sending import edit_content, message_content
from adapters.slack.blocks.cards import draw_card, simpler_forms
from adapters.slack.blocks.kit import EVERY_BLOCK_KIND, BlockKind, SlackMessage
from adapters.slack.blocks.surfaces import home_view
from bot.core import cards
from bot.core.cards import Card, HomeCard
from bot.core.layout import lay_out
from bot.core.text import clean
from tests.adapters.slack.content import texts_in_markup, texts_of, wrong_in
from tests.beds.slack.validation import wrong_in_blocks, wrong_in_view
from tests.looks.catalogue import VARIANTS, entries
from tests.looks.gallery import SITE
from tests.looks.page.blocks import LONG

LARGEST_EVENT = 65_536
ALL = entries()
_LIVE = re.compile(r"<(?:[@#]\w|![a-zA-Z])|@(?:here|channel)\b")
_LINK = re.compile(r"<(https?:[^|>\n]*)")
_OURS = ("https://acme.slack.example/", "https://github.example/acme/webshop/pull/")
GROUPS = tuple(dict.fromkeys(one.group for one in ALL))
everything = pytest.mark.parametrize("group", GROUPS)


def cards_of(group: str) -> list[tuple[str, Card]]:
    """With every sort of words on it; each with the name of its state and of these words."""
    found = [one for one in ALL if one.group == group]
    return [(f"{one.state}, {how.name}", how.of(one.card)) for how in VARIANTS for one in found]


def in_slack(card: Card) -> list[SlackMessage]:
    """As workspaces see it that take everything, and as those do that take nothing new."""
    if isinstance(card, HomeCard):
        return []
    kinds = (EVERY_BLOCK_KIND, frozenset[BlockKind]())
    return [message for taken in kinds for message in draw_card(card, SITE, taken)]


def test_every_kind_of_card_is_in_the_catalogue() -> None:
    union, _ = get_args(cards.Card)
    kinds = {kind.model_fields["kind"].default for kind in get_args(union)}
    assert kinds - {one.card.kind for one in ALL} == set()


def test_no_two_states_have_the_same_name() -> None:
    names = [one.name for one in ALL]
    assert len(set(names)) == len(names)


def test_every_card_that_can_be_decided_is_shown_open_and_decided() -> None:
    for kind in {one.card.kind for one in ALL if hasattr(one.card, "decided")}:
        states = {
            getattr(one.card, "decided", None) is None for one in ALL if one.card.kind == kind
        }
        assert states == {True, False}, kind


@everything
def test_slack_takes_it_in_full_and_mentions_nobody(group: str) -> None:
    """And links lead where we say, and nothing is folded away."""
    for state, card in cards_of(group):
        for message in in_slack(card):
            assert wrong_in(message) == [], state
            for text, blocks in simpler_forms(message):
                assert wrong_in_blocks(blocks) == [], state
                assert 1 <= len(text) <= 4_000, state
            for text in (message.text, *texts_in_markup(message.blocks)):
                assert not _LIVE.search(text), state
                assert all(link.startswith(_OURS) for link in _LINK.findall(text)), state
            for block in message.blocks:
                long = block["type"] == "section" and len(str(block.get("text"))) > LONG
                assert not long or block["expand"] is True, state


def test_slack_takes_it_as_a_page_of_its_own() -> None:
    for state, card in cards_of("home"):
        assert isinstance(card, HomeCard)
        view = home_view(card, site=SITE)
        assert wrong_in_view(view) == [], state
        assert all(text.strip() for text in texts_of(view)), state


class Tags(HTMLParser):
    """Fails where a tag is closed that is not open; in the end `open` must be empty."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag not in ("br", "hr", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@everything
def test_matrix_takes_it_whole_and_nothing_on_it_acts(group: str) -> None:
    for state, card in cards_of(group):
        for message in drawn_in_matrix(card):
            sent = (message_content(message, "$root", "@a:b"), edit_content(message, "$event"))
            sizes = [len(json.dumps(one, ensure_ascii=False).encode()) for one in sent]
            assert max(sizes) < LARGEST_EVENT, state
            tags = Tags(message.html)
            assert tags.open == [], state
            assert not tags.seen & {"script", "img", "div", "font", "details"}, state
            assert all(link.startswith(("http", "#")) for link in tags.links), state


@everything
def test_a_terminal_shows_it_with_its_title(group: str) -> None:
    for state, card in cards_of(group):
        laid = lay_out(card)
        shown = ConsoleScreen(StringIO()).rendered(drawn_in_terminal(laid))
        assert " ".join(clean(laid.title).split()[:3]) in " ".join(shown.split()), state

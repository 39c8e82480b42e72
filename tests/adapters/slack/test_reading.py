"""How cards read: what belongs together stands together, figures have names, and pull requests can be followed."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.blocks.cards import draw_card
from adapters.slack.blocks.kit import EVERY_BLOCK_KIND, BlockKind
from adapters.slack.blocks.text import has_pull_address, is_pull_address, link_pull_requests
from bot.core.cards import AnswerCard, PullsCard
from bot.core.sheets import Bullets, Code, Element, Fields, Table, Text
from tests.adapters.slack import content
from tests.fakes import cards

PULL = "https://forge.example/acme/shop/pull/7"


def body(
    *elements: Element, kinds: frozenset[BlockKind] = EVERY_BLOCK_KIND
) -> list[dict[str, Any]]:
    (message,) = draw_card(AnswerCard(key="a", title="Title", body=elements), rich=kinds)
    assert content.wrong_in(message) == []
    return message.blocks[1:]


def text_of(block: dict[str, Any]) -> str:
    return block["text"]["text"]


def test_facts_are_lines_each_with_its_name_before_it() -> None:
    (block,) = body(Fields(pairs=(("Base", "main"), ("Tests", "npm *test*"))))
    assert text_of(block).startswith("*Base*  main\n*Tests*  npm ")
    assert "*test*" not in text_of(block), "what a value says is no markup"


def test_many_long_facts_are_parted_and_counted_rather_than_cut_off() -> None:
    blocks = body(Fields(pairs=tuple((f"Name {n}", "value " * 40) for n in range(100))))
    assert all(len(text_of(block)) <= 3_000 for block in blocks[:-1])
    assert "more" in str(blocks[-1])


@pytest.mark.parametrize(
    ("below", "text"),
    [
        (Text(text="what follows"), "*Head*\nwhat follows"),
        (Bullets(items=("one", "two")), "*Head*\n• one\n• two"),
        (Fields(pairs=(("Name", "value"),)), "*Head*\n*Name*  value"),
        (Code(text="output"), "*Head*\n```\noutput\n```"),
    ],
    ids=lambda one: one.kind if not isinstance(one, str) else "",
)
def test_a_heading_stands_with_what_it_heads(below: Element, text: str) -> None:
    (block,) = body(Text(text="Head", strong=True), below)
    assert text_of(block) == text


def test_a_heading_stands_alone_above_what_would_have_to_be_changed_for_it() -> None:
    head, below = body(Text(text="Head", strong=True), Text(text="a `command` to copy"))
    assert text_of(head) == "*Head*"
    assert below["text"] == {"type": "plain_text", "text": "a `command` to copy", "emoji": False}


def test_two_headings_are_two() -> None:
    assert len(body(Text(text="A", strong=True), Text(text="B", strong=True))) == 2


def test_what_belongs_to_a_line_stands_further_in_below_it() -> None:
    (block,) = body(Bullets(items=("changed: spec.md", "↳ FR-003 is new")))
    first, second = text_of(block).split("\n")
    assert first == "• changed: spec.md"
    assert second.strip() == "↳ FR-003 is new"
    assert second[0].isspace()


def test_in_lines_a_figure_and_what_stands_in_few_rows_have_a_name() -> None:
    table = Table(
        head=("Task", "What", "After", "Tries", "Note"),
        rows=(("T001", "Theme", "–", "1", ""), ("T002", "Switch", "T001", "2", "waits")),
    )
    (block,) = body(table, kinds=frozenset())
    assert text_of(block).split("\n") == [
        "• *T001* Theme — tries 1",
        "• *T002* Switch — after T001 · tries 2 · waits",
    ]


def test_a_long_column_of_a_table_wraps_and_a_short_one_does_not() -> None:
    long = "In full and in part, by the staff; the customer is told"
    (block,) = body(Table(head=("Part", "It asks for"), rows=(("1", long),)))
    assert block["column_settings"] == [{"is_wrapped": False}, {"is_wrapped": True}]


@pytest.mark.parametrize("kinds", [EVERY_BLOCK_KIND, frozenset[BlockKind]()], ids=["rich", "plain"])
def test_pull_requests_can_be_followed_from_their_card_and_are_not_told_twice(
    kinds: frozenset[BlockKind],
) -> None:
    (message,) = draw_card(cards.PULLS, rich=kinds)
    assert content.wrong_in(message) == []
    told = str(message.blocks)
    assert told.count(cards.PULLS.pulls[0].url) == 1
    assert (f"<{cards.PULLS.pulls[0].url}|#7>" in told) is (BlockKind.TABLE not in kinds)


def test_an_address_that_is_none_of_a_pull_request_is_no_link_on_their_card() -> None:
    pull = cards.PULLS.pulls[0].model_copy(update={"url": "https://evil.example/login"})
    card = PullsCard(key="p", base="main", repository="acme/shop", pulls=(pull,))
    (message,) = draw_card(card)
    assert "'link'" not in str(message.blocks)
    assert "#7: https://evil.example/login" in str(message.blocks)


def test_in_a_line_the_address_of_a_pull_request_is_a_link_that_shows_itself() -> None:
    assert link_pull_requests(f"T001: #7 merged {PULL}") == f"T001: #7 merged <{PULL}>"
    assert link_pull_requests(f"*a* <b> {PULL}\n{PULL}").endswith(f"&lt;b&gt; <{PULL}>\n<{PULL}>")
    (block,) = body(Bullets(items=(f"T001: #7 merged {PULL}",)))
    assert block["text"]["type"] == "mrkdwn"


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/",
        "javascript://x/a/b/pull/1",
        f"{PULL}|words",
        f"{PULL}>",
        f"<{PULL}",
        "https://a.b/c/d/pull/1/../../x",
        "https://user@a.b/c/d/pull/1",
    ],
)
def test_nothing_else_is_an_address(text: str) -> None:
    assert not is_pull_address(text)
    assert not has_pull_address(text)

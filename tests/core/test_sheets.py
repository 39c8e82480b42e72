"""A sheet as Markdown: what was plain text is plain text afterwards, whatever is in it."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.core.choices import Choice, Verb
from bot.core.layout import lay_out
from bot.core.sheets import Bullets, Code, Element, Fields, Prose, Sheet, Table, Text, markdown
from bot.core.text import clean
from tests.fakes import cards

NASTY = (
    "*a* _b_ `c` [d](http://e) <f> ![g](h) # i\n# j\n- k\n+ l\n1. m\n2) n\n> o\n=== \n---\n"
    "~~~p\n```q\n&amp; \\ | r |\n    indented\n***\n<script>alert(1)</script>"
)
words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60) | st.text(
    "*_`[]()<>#|~&\\-+=:!.)1 \n\tab", max_size=40
)


def read(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def blocks(text: str) -> list[list[Token]]:
    return [token.children for token in read(text) if token.children]


def leaves(text: str) -> list[Token]:
    return [leaf for block in blocks(text) for leaf in block]


def plain(text: str) -> str:
    return " ".join(clean(text).split())


def shown(block: list[Token]) -> str:
    """What a reader sees of a block."""
    return "".join("\n" if leaf.type.endswith("break") else leaf.content for leaf in block)


@given(words)
@example(NASTY)
@example("1. \n\\")
@example("a\n=\nb")
def test_plain_text_stays_what_it_is(text: str) -> None:
    written = markdown(Sheet(title="t", body=(Text(text=text), Text(text="end"))))
    found = blocks(written)[1:]
    assert plain("\n".join(shown(block) for block in found)) == f"{plain(text)} end".strip()
    assert {leaf.type for block in found for leaf in block} <= {"text", "softbreak", "hardbreak"}


@given(words)
@example(NASTY)
def test_a_title_a_choice_and_a_footer_are_one_line_of_plain_text(text: str) -> None:
    text = f"x {text} x"
    choice = Choice(label=text, verb=Verb.KEEP)
    found = blocks(markdown(Sheet(title=text, choices=(choice,), footer=text)))
    assert [plain(shown(block)) for block in found] == [plain(text)] * 3
    kinds = [leaf.type for block in found for leaf in block if leaf.type != "text"]
    assert kinds == ["strong_open", "strong_close", "em_open", "em_close"]


@given(st.lists(words.map(lambda word: f"x{word}"), min_size=1, max_size=3))
def test_items_and_facts_stay_in_their_list(items: list[str]) -> None:
    body: tuple[Element, ...] = (Bullets(items=tuple(items)),)
    assert [t.type for t in read(markdown(Sheet(title="t", body=body)))].count(
        "list_item_open"
    ) == len(items)
    body = (Fields(pairs=tuple((item, item) for item in items)),)
    assert [t.type for t in read(markdown(Sheet(title="t", body=body)))].count(
        "list_item_open"
    ) == len(items)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=3))
def test_a_cell_never_becomes_two(rows: list[tuple[str, str]]) -> None:
    written = markdown(Sheet(title="t", body=(Table(head=("a", "b"), rows=tuple(rows)),)))
    kinds = [token.type for token in read(written)]
    assert kinds.count("tr_open") == len(rows) + 1
    assert kinds.count("td_open") == 2 * len(rows)


@given(words)
@example("````\n# no heading")
def test_output_of_a_program_is_shown_letter_for_letter(text: str) -> None:
    text = f"x{text}x"
    written = markdown(Sheet(title="t", body=(Code(text=text), Text(text="end"))))
    fence = next(token for token in read(written) if token.type == "fence")
    assert fence.content.rstrip("\n") == clean(text).rstrip("\n")


def test_a_document_stays_the_markdown_that_somebody_wrote() -> None:
    prose = Prose(name="spec.md", markdown="# A\n\n*b*\u202e")
    assert markdown(Sheet(title="t", body=(prose,))) == "**t**\n\n# A\n\n*b*"


def test_lines_of_a_text_stay_lines() -> None:
    written = markdown(Sheet(title="t", body=(Text(text="one\ntwo"),)))
    assert "hardbreak" in {leaf.type for leaf in leaves(written)}


@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_every_card_can_be_written_as_markdown(card: cards.Card) -> None:
    laid = lay_out(card)
    written = markdown(laid)
    assert read(written)
    numbers = re.findall(r"^(\d+)\. ", written, re.MULTILINE)
    assert [int(number) for number in numbers] == list(range(1, len(laid.choices) + 1))

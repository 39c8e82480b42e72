"""Long documents in parts: each stands alone, and together they are the document."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.slack.blocks.text import split_markdown
from tests.adapters.slack.content import words

_LINE = "Some words of no importance, in a line."
_MARKDOWN = MarkdownIt("commonmark").enable("table")
_any = settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

_lines = st.lists(st.text("abc |設定", max_size=60), max_size=30)
_blocks = st.one_of(
    st.integers(1, 4).map(lambda n: "#" * n + " Heading"),
    st.lists(st.just(_LINE), min_size=1, max_size=8).map("\n".join),
    st.text("ab ", min_size=1, max_size=900).map(lambda text: "x" + text),
    _lines.map(lambda lines: "\n".join(["```python", *lines, "# no heading", "```"])),
    _lines.map(lambda lines: "\n".join(["~~~~", *lines, "```", "~~~", "~~~~"])),
    st.integers(0, 40).map(lambda n: "| a | b |\n|---|:-:|" + "\n| one | two |" * n),
)
_documents = st.lists(_blocks, max_size=12).map("\n\n".join)


def tokens(markdown: str) -> Sequence[Token]:
    return _MARKDOWN.parse(markdown)


def code_in(markdown: str) -> str:
    return "".join(token.content for token in tokens(markdown) if token.type == "fence")


def body_rows(markdown: str) -> int:
    return markdown.count("| one | two |")


@_any
@given(_documents, st.sampled_from([300, 500, 2_000]))
def test_code_is_code_in_every_part_and_all_of_it_is_there(text: str, limit: int) -> None:
    cut = split_markdown(text, limit)
    assert all(len(part) <= limit for part in cut)
    assert "".join(map(code_in, cut)) == code_in(text)


@_any
@given(_documents, st.sampled_from([300, 500, 2_000]))
def test_every_row_is_in_a_table_with_a_head(text: str, limit: int) -> None:
    cut = split_markdown(text, limit)
    assert sum(map(body_rows, cut)) == body_rows(text)
    for part in cut:
        heads = sum(token.type == "thead_open" for token in tokens(part))
        rows = sum(token.type == "tr_open" for token in tokens(part))
        assert rows - heads == body_rows(part)


@_any
@given(words | st.text("`~|-#>\n ab", max_size=3_000), st.sampled_from([100, 300, 7_600]))
def test_no_part_is_too_long_and_nothing_is_lost(text: str, limit: int) -> None:
    cut = split_markdown(text, limit)
    assert all(len(part) <= limit for part in cut)
    assert all(part.strip() for part in cut) or cut == [""]
    # words after the name of a language are dropped where code is opened again
    if not re.search("```|~~~", text):
        assert re.sub(r"[-|:\s]", "", text) in re.sub(r"[-|:\s]", "", "".join(cut)) or "|" in text


def test_a_short_document_is_one_part_as_it_was_written() -> None:
    text = "# Title\n\n    indented\n\n- a\n  - b\n\n| a |\n|---|\n| b |"
    assert split_markdown(text, 1_000) == [text]
    assert split_markdown("", 1_000) == [""]
    assert split_markdown("\n \n", 1_000) == [""]


def test_parts_begin_at_headings_where_they_can() -> None:
    text = "\n\n".join(f"# Part {n}\n\n" + "\n".join([_LINE] * 12) for n in range(8))
    cut = split_markdown(text, 1_300)
    assert all(part.startswith("# Part") for part in cut)
    assert len(cut) == 4


def test_a_section_that_begins_late_is_not_begun_on_a_full_part() -> None:
    section = "\n\n".join(["## Section", *[_LINE] * 4])
    cut = split_markdown(f"{section}\n\n{section}\n\n{section}", 440)
    assert [part.count("## Section") for part in cut] == [2, 1]
    cut = split_markdown(f"{section}\n\n{section}\n\n{section}", 300)
    assert all(part.startswith("## Section") for part in cut)


def test_a_heading_goes_with_the_paragraph_below_it() -> None:
    text = f"{_LINE}\n\n## Title\n\n\n" + "\n".join([_LINE] * 7)
    assert split_markdown(text, 330)[0] == _LINE


def test_a_heading_is_never_the_last_of_a_part() -> None:
    text = "\n\n".join(f"## {n}\n\n" + "\n".join([_LINE] * (n % 9 + 1)) for n in range(40))
    for part in split_markdown(text, 700):
        assert not part.split("\n")[-1].startswith("#")


def test_what_only_looks_like_a_heading_inside_code_is_no_place_to_cut() -> None:
    code = "```sh\n" + "\n".join(["# a remark", _LINE] * 10) + "\n```"
    text = "\n".join([_LINE] * 10) + "\n\n" + code
    assert split_markdown(text, 700) == ["\n".join([_LINE] * 10), code]


def test_long_code_is_closed_and_opened_again_in_its_language() -> None:
    first, *_, last = split_markdown(
        "```python title=x\n" + f"{_LINE}\n" * 60 + "```\n\nafter", 700
    )
    assert first.startswith("```python\n")
    assert first.endswith("\n```")
    assert last.startswith("```python\n")
    assert last.endswith("```\n\nafter")


def test_code_in_a_list_or_a_quote_stays_in_it() -> None:
    for before in ("  ", "> "):
        text = f"{before}```\n" + f"{before}{_LINE}\n" * 60 + f"{before}```"
        for part in split_markdown(text, 700):
            assert all(line.startswith(before) for line in part.split("\n"))
            assert part.count("```") == 2


def test_a_quote_ends_the_code_in_it() -> None:
    text = "> ```\n> code\n\n" + "\n\n".join([_LINE] * 30)
    assert not any("```" in part for part in split_markdown(text, 300)[1:])


def test_a_single_endless_line_is_cut_hard() -> None:
    cut = split_markdown("x" * 20_000, 7_600)
    assert [len(part) for part in cut] == [7_599, 7_599, 4_802]


def test_a_long_table_has_its_head_in_every_part() -> None:
    text = "| Requirement | Task |\n|:--|--:|\n" + "| FR-001 | T001 |\n" * 100
    cut = split_markdown(text, 400)
    assert all(part.startswith("| Requirement | Task |\n|:--|--:|\n") for part in cut)
    assert sum(part.count("FR-001") for part in cut) == 100


def test_even_a_monstrous_document_is_read_once_only() -> None:
    # read again and again it would take hours
    for text in ("\n" * 50_000, "a\n\n" * 20_000, " " * 90_000 + "|\n" + " " * 90_000 + "|x"):
        assert sum(map(len, split_markdown(text, 7_600))) <= len(text)
    assert len(split_markdown("```\n" * 20_001, 7_600)) > 10

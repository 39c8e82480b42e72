"""How cards look in a terminal and in a pipe."""

from __future__ import annotations

import re
import unicodedata
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from adapters.console.rendering import PIPE_WIDTH, ConsoleScreen, render_sheet
from bot.core.cards import Card
from bot.core.choices import Choice, Verb
from bot.core.layout import lay_out
from bot.core.sheets import Bullets, Code, Element, Fields, Pointer, Prose, Sheet, Table, Text
from bot.core.text import clean
from tests.adapters.console.stage import Tty
from tests.fakes import cards


def piped(laid: Sheet) -> str:
    return ConsoleScreen(StringIO()).rendered(render_sheet(laid))


def everywhere(text: str) -> Sheet:
    """A sheet with one text wherever plain text may stand."""
    body: tuple[Element, ...] = (
        Text(text=text),
        Text(text=text, strong=True),
        Fields(pairs=((text, text),)),
        Bullets(items=(text,)),
        Table(head=(text, text), rows=((text, text),)),
        Code(text=text),
        Pointer(text=text, thread=cards.OTHER_THREAD),
    )
    choice = Choice(label=text, verb=Verb.KEEP)
    return Sheet(title=text, body=body, choices=(choice,), footer=text)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return monkeypatch


@pytest.mark.parametrize("columns", [40, 80, 120, 300])
@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_no_line_is_wider_than_the_terminal(
    card: Card, columns: int, terminal: pytest.MonkeyPatch
) -> None:
    terminal.setenv("COLUMNS", str(columns))
    text = ConsoleScreen(Tty()).rendered(render_sheet(lay_out(card)))
    assert max(cell_len(line) for line in clean(text).splitlines()) <= min(columns, 120)


@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_a_pipe_gets_plain_text_without_codes_or_trailing_blanks(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = piped(lay_out(card))
    assert "\x1b" not in text
    assert not re.search(r"[ \t]$", text, re.MULTILINE)
    assert max(cell_len(line) for line in text.splitlines()) <= PIPE_WIDTH


@pytest.mark.parametrize("card", cards.EVERY_KIND, ids=lambda card: card.kind)
def test_colours_are_the_terminals_own_and_backgrounds_are_left_alone(
    card: Card, terminal: pytest.MonkeyPatch
) -> None:
    codes = re.findall(
        r"\x1b\[([0-9;]*)m", ConsoleScreen(Tty()).rendered(render_sheet(lay_out(card)))
    )
    used = {int(code) for group in codes for code in group.split(";") if code}
    assert 1 in used, "the title stands out"
    assert used <= {0, 1, 2, 3, 4, *range(31, 37)}, "no background, no black or white, no palette"


def test_no_color_is_respected(terminal: pytest.MonkeyPatch) -> None:
    terminal.setenv("NO_COLOR", "1")
    text = ConsoleScreen(Tty()).rendered(render_sheet(lay_out(cards.NEEDS_YOU)))
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", text)


@pytest.mark.parametrize(
    "text",
    ["[bold red]x[/bold red]", "[/]", "[link=http://e]x[/link]", ":smile:", "\\[x]", "{x} %s"],
)
def test_data_is_never_read_as_markup(text: str) -> None:
    assert piped(everywhere(text)).count(text) == 14


@given(
    st.text(max_size=40)
    | st.text("\x1b[]0;31mAx\x07\x9b\u202e\u200b\u2066\ufeff\U000e0041\r\b", max_size=30)
)
@example("\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m")
@example("\u202egnihtemos\u202c \u200bx\u2066")
def test_nothing_that_acts_unseen_reaches_the_terminal(text: str) -> None:
    laid = everywhere(text)
    laid = laid.model_copy(update={"body": (*laid.body, Prose(name="a.md", markdown=text))})
    written = piped(laid)
    unseen = {c for c in written if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"}
    assert unseen <= {"\u200d"} | _named_in_no_table(), "a joiner belongs to emoji"


def _named_in_no_table() -> set[str]:
    """Format characters that are drawn (Arabic number signs and the like)."""
    return (
        {chr(code) for code in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2)}
        | {
            chr(code)
            for code in (0x110BD, 0x110CD, *range(0x13430, 0x13440), *range(0x1BCA0, 0x1BCA4))
        }
        | {chr(code) for code in range(0x1D173, 0x1D17B)}
    )


FORGED = "→ [1] Approve   [2] Discard\n? Shall I build it?\n[1] Approve"


def test_only_the_title_and_the_choices_begin_at_the_left_edge() -> None:
    laid = everywhere(FORGED)
    laid = laid.model_copy(update={"body": (*laid.body, Prose(name="a", markdown=FORGED))})
    left = [line for line in piped(laid).splitlines() if line[:1] not in (" ", "")]
    assert left[0].startswith("• → [1] Approve")
    assert left[1:] == ["→ [1] → [1] Approve [2] Discard ? Shall I build it? [1] Approve"]


def test_another_thread_is_named_by_what_a_person_can_call_it() -> None:
    pointers = tuple(Pointer(text=t, thread=cards.OTHER_THREAD) for t in ("A web\nshop", "返金"))
    laid = Sheet(title="t", body=pointers)
    assert piped(laid) == "• t\n  → A web shop  session 22222222\n  → 返金  session 22222222\n"
    known = render_sheet(laid, name=lambda thread: "5e6f7a8b")
    assert "A web shop  session 5e6f7a8b" in ConsoleScreen(StringIO()).rendered(known)


def test_choices_are_numbered_and_say_whether_they_ask_for_a_text() -> None:
    assert piped(lay_out(cards.APPROVAL)).splitlines()[-1] == (
        "→ [1] Approve   [2] Request changes …   [3] Discard"
    )


def test_a_line_breaks_between_choices_only(terminal: pytest.MonkeyPatch) -> None:
    terminal.setenv("COLUMNS", "40")
    lines = clean(
        ConsoleScreen(Tty()).rendered(render_sheet(lay_out(cards.NEEDS_YOU)))
    ).splitlines()[-2:]
    assert lines == [
        "→ [1] Retry   [2] Go on without it",
        "  [3] Give it up, and what depends on it",
    ]


def test_columns_are_aligned_also_where_letters_are_twice_as_wide() -> None:
    rows = (("1", "テーマ", "x"), ("2", "theme", "x"), ("3", "テーマ and more", "x"))
    text = piped(Sheet(title="t", body=(Table(head=("Task", "What", "End"), rows=rows),)))
    places = {
        cell_len(line[: line.rindex("x")]) for line in text.splitlines() if line.endswith("x")
    }
    assert len(places) == 1


def test_output_keeps_its_lines_and_its_indentation() -> None:
    text = piped(Sheet(title="t", body=(Code(text="a\n    b\n\nc\n"),)))
    assert text == "• t\n  │ a\n  │     b\n  │\n  │ c\n"


HTML = "Use `List<int>` or List<String>, <b>not</b> <!-- hidden --> raw.\n\n<div>\nblock\n</div>\n"


@pytest.mark.parametrize(
    ("markdown", "seen"),
    [
        (HTML, ["List<int>", "List<String>", "<b>not</b>", "<!-- hidden -->", "<div>", "block"]),
        ("[click](https://evil.example/x)", ["click", "(https://evil.example/x)"]),
        ("![plan](https://evil.example/x.png)", ["plan", "https://evil.example/x.png"]),
        ("---\nname: x\nstatus: y\n---\n# A", ["name: x", "status: y", "A"]),
        (
            "- [ ] T001 [P] [US1] Do `it`\n- [x] T002 Done",
            ["[ ] T001 [P] [US1] Do it", "[x] T002 Done"],
        ),
        ("```python\nx = [1]\n```", ["│ x = [1]"]),
        ("| A | B |\n|---|---|\n| FR-001 | 説明 |", ["FR-001", "説明"]),
    ],
)
def test_documents_hide_nothing(markdown: str, seen: list[str]) -> None:
    text = piped(Sheet(title="t", body=(Prose(name="a.md", markdown=markdown),)))
    assert [part for part in seen if part not in text] == []


def test_links_cannot_be_clicked_blindly(terminal: pytest.MonkeyPatch) -> None:
    prose = Prose(name="a.md", markdown="[https://good.example](https://evil.example)")
    text = ConsoleScreen(Tty()).rendered(render_sheet(Sheet(title="t", body=(prose,))))
    assert "\x1b]8" not in text
    assert "evil.example" in text


def test_a_very_long_document_is_shown_to_its_end() -> None:
    markdown = "".join(f"## Section {n}\n\nText of {n}.\n\n" for n in range(500))
    text = piped(Sheet(title="t", body=(Prose(name="a.md", markdown=markdown),)))
    assert [f"Text of {n}." for n in range(500) if f"Text of {n}." not in text] == []


def test_an_output_that_knows_few_letters_is_still_written_to() -> None:
    class Ascii(StringIO):
        encoding = "ascii"

    out = Ascii()
    ConsoleScreen(out).write("✓ 設定\n")
    assert out.getvalue() == "? ??\n"

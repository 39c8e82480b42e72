"""What a pane may put before a reader: text in colours, and nothing else."""

from __future__ import annotations

import pytest

from bot.core.masking import Masker
from bot.core.screens import Span, Style, coloured_rows, row_text

HIDDEN = "hunter2-hunter2"
MASK = Masker({"SHOP_PASSWORD": HIDDEN}).mask


def shown(text: str) -> str:
    return "\n".join(row_text(row) for row in coloured_rows(text, MASK))


@pytest.mark.parametrize(
    ("codes", "style"),
    [
        ("31", Style(foreground=1)),
        ("97;104", Style(foreground=15, background=12)),
        ("1;3;4;7;9", Style(bold=True, italic=True, underline=True, reverse=True, struck=True)),
        ("1;2;22;32", Style(foreground=2)),
        ("4:3", Style(underline=True)),
        ("38;5;203", Style(foreground=203)),
        ("48;2;18;53;31", Style(background=16 + 6)),
        ("38:2::255:0:0;1", Style(foreground=196, bold=True)),
        ("38;2;128;128;128", Style(foreground=244)),
        ("58;5;9;32", Style(foreground=2)),
        ("38;5;999", Style()),
        ("38;2;1", Style()),
        ("31;0;1", Style(bold=True)),
        ("8;5", Style()),
        ("41;49", Style()),
    ],
)
def test_colours_are_kept(codes: str, style: Style) -> None:
    assert coloured_rows(f"\x1b[{codes}mtext", MASK) == ((Span("text", style),),)


def test_a_colour_holds_until_it_is_ended() -> None:
    red = Style(foreground=1)
    assert coloured_rows("a\x1b[31mb\nb\x1b[39mc", MASK) == (
        (Span("a"), Span("b", red)),
        (Span("b", red), Span("c")),
    )


@pytest.mark.parametrize(
    "evil",
    [
        "\x1b]52;c;cm0gLXJmIC8=\x07",
        "\x1b]0;a title\x1b\\",
        "\x1b]8;;https://evil.example\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1b_Gf=24;AAAA\x1b\\",
        "\x1b[2J\x1b[H\x1b[5i\x1b[?1049h\x1b[6n",
        "\x1bc\x1b(0\x1b(B\x1b7",
        "\x9b1m\x9d0;title\x9c\x85",
        "\u202e\u2066\u200b\ufeff\u00ad",
        "\x00\x07\x08\x7f\x85",
        "\x1b[" + "9" * 100_000 + "m",
    ],
)
def test_nothing_else_has_an_effect(evil: str) -> None:
    assert shown(f"be{evil}fore\nafter") == "before\nafter"


def test_an_unterminated_sequence_ends_with_its_line() -> None:
    assert shown("one\x1b]0;title\ntwo") == "one\ntwo"


def test_a_flood_of_unterminated_sequences_shows_nothing() -> None:
    # with a scan of the rest for each of them this would take minutes
    assert shown("\x1b]8;;" * 100_000 + "\x1b[1;" * 100_000 + "\nend") == "\nend"


def test_line_drawing_letters_are_drawn() -> None:
    assert shown("\x0elqk\x0f q") == "┌─┐ q"


@pytest.mark.parametrize(
    "split",
    [
        HIDDEN,
        "\x1b[31mhunter2\x1b[32m-hunter2",
        "hun\x1b[1mter2\u200b-hun\x1b]0;x\x07ter2",
        "".join(f"\x1b[3{n % 8}m{letter}" for n, letter in enumerate(HIDDEN)),
    ],
)
def test_a_secret_is_masked_however_it_is_coloured(split: str) -> None:
    assert (
        shown(f"\x1b[33mkeep\nit is {split}!\nthis") == "keep\nit is [MASKED:SHOP_PASSWORD]!\nthis"
    )


def test_rows_without_a_secret_keep_their_colours() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END PRIVATE KEY-----"
    rows = coloured_rows(f"\x1b[31mred\n{key}\n\x1b[32mgreen", MASK)
    assert rows[0] == (Span("red", Style(foreground=1)),)
    assert rows[-1] == (Span("green", Style(foreground=2)),)
    assert "MIIE" not in "".join(map(row_text, rows))


def test_only_spaces_that_show_are_kept_at_the_end_of_a_row() -> None:
    rows = coloured_rows("a   \x1b[31m   \nb\x1b[41m  ", MASK)
    assert rows == (
        (Span("a"),),
        (Span("b", Style(foreground=1)), Span("  ", Style(foreground=1, background=1))),
    )

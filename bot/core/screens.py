"""What a pane shows: rows of text with colours. Nothing in them can control a terminal, and secrets are hidden."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bot.core.text import clean


class Style(NamedTuple):
    """Colours are numbers of the usual palette of 256; `None` is the terminal's own."""

    foreground: int | None = None
    background: int | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    struck: bool = False


class Span(NamedTuple):
    """Text in one style."""

    text: str
    style: Style = Style()


Row = tuple[Span, ...]


class PaneScreen(NamedTuple):
    rows: tuple[Row, ...] = ()
    columns: int = 0
    """The width of the pane; 0 if it is gone."""
    live: bool = False
    """Whether the pane is still there; if not, the rows are the end of its transcript."""


# An unterminated sequence ends with its line or at the next escape, so that a hundred thousand of them take no longer
# than as many letters. Longer numbers than a terminal knows are no colours.
_SEQUENCE = re.compile(
    r"\x1b\[([0-9;:]{0,64})m"
    r"|\x1b\[[0-?]*[ -/]*[@-~]?"
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|([\x0e\x0f])"
)
_DRAWN = str.maketrans("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
"""The letters that the line-drawing character set shows, between SO and SI."""
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "struck"}
_OFF = {
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("underline",),
    27: ("reverse",),
    29: ("struck",),
    39: ("foreground",),
    49: ("background",),
}
_EXTENDED = {38: "foreground", 48: "background", 58: ""}
"""Colours given as 38;5;n or 38;2;r;g;b. Those of underlines are not shown."""


def coloured_rows(text: str, mask: Callable[[str], str]) -> tuple[Row, ...]:
    """Return the captured screen, masked. Of its control sequences only colours and the like have an effect."""
    rows: list[list[Span]] = [[]]
    text = text.replace("\r", "").replace("\0", "")
    style, drawing, at = Style(), False, 0
    for found in _SEQUENCE.finditer(text):
        _write(rows, text[at : found.start()], style, drawing=drawing)
        at = found.end()
        if found[1] is not None:
            style = _restyled(style, found[1])
        elif found[2]:
            drawing = found[2] == "\x0e"
    _write(rows, text[at:], style, drawing=drawing)
    return _masked([_trimmed(row) for row in rows], mask) if text else ()


def _write(rows: list[list[Span]], text: str, style: Style, *, drawing: bool) -> None:
    if not text:
        return
    for number, line in enumerate(clean(text).split("\n")):
        if number:
            rows.append([])
        if not line:
            continue
        line = line.translate(_DRAWN) if drawing else line
        row = rows[-1]
        if row and row[-1].style == style:
            row[-1] = Span(row[-1].text + line, style)
        else:
            row.append(Span(line, style))


def _trimmed(row: list[Span]) -> Row:
    """Return the row without the spaces at its end that nobody sees."""
    row = [*row]
    while row:
        text, style = row.pop()
        if style.background is not None or style.reverse or style.underline:
            return (*row, Span(text, style))
        if text := text.rstrip():
            return (*row, Span(text, style))
    return ()


def _masked(rows: Sequence[Row], mask: Callable[[str], str]) -> tuple[Row, ...]:
    """Return the rows masked as one text, because colours may split a secret and lines a key.

    What is shown is always exactly the masked text: a row that differs from it loses its colours.
    """
    plain = [row_text(row) for row in rows]
    text = "\n".join(plain)
    masked = mask(text)
    if masked == text:
        return tuple(rows)
    lines = masked.split("\n")
    if len(lines) == len(plain):
        pairs = zip(rows, plain, lines, strict=True)
        return tuple(row if was == line else _uncoloured(line) for row, was, line in pairs)
    top = _common(plain, lines)
    bottom = _common(plain[top:][::-1], lines[top:][::-1])
    middle = lines[top : len(lines) - bottom]
    kept = tuple(rows[len(rows) - bottom :])
    return (*rows[:top], *(_uncoloured(line) for line in middle), *kept)


def row_text(row: Row) -> str:
    return "".join(span.text for span in row)


def _uncoloured(line: str) -> Row:
    return (Span(line),) if line else ()


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return with how many equal lines both begin."""
    number = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        number += 1
    return number


def _restyled(style: Style, parameters: str) -> Style:
    changes: dict[str, int | bool | None] = {}
    parts = parameters.split(";")
    while parts:
        code, *detail = (int(number or 0) for number in parts.pop(0).split(":"))
        if code == 0:
            style, changes = Style(), {}
        elif code in _EXTENDED:
            colour = _extended(detail) if detail else _extended_in(parts)
            if (what := _EXTENDED[code]) and colour is not None:
                changes[what] = colour
        elif code in _ON:
            changes[_ON[code]] = detail != [0]
        elif code in _OFF:
            defaults = Style()
            changes.update({name: getattr(defaults, name) for name in _OFF[code]})
        else:
            for start, first, what in (
                (30, 0, "foreground"),
                (40, 0, "background"),
                (90, 8, "foreground"),
                (100, 8, "background"),
            ):
                if start <= code < start + 8:
                    changes[what] = code - start + first
    return style._replace(**changes) if changes else style


def _extended_in(parts: list[str]) -> int | None:
    """Take the numbers of a colour off the parts that follow it."""
    taken = 2 if parts[:1] == ["5"] else 4 if parts[:1] == ["2"] else 0
    numbers = [int(part) for part in parts[:taken] if part.isdecimal()]
    del parts[:taken]
    return _extended(numbers) if len(numbers) == taken else None


def _extended(numbers: list[int]) -> int | None:
    match numbers:
        case [5, number] if number < 256:
            return number
        # 2::r:g:b names a colour space in between, 2;r;g;b does not
        case [2, *_, red, green, blue] if max(red, green, blue) < 256:
            return _nearest(red, green, blue)
        case _:
            return None


def _nearest(red: int, green: int, blue: int) -> int:
    """Return the number of the palette's colour that is most like this one: of its cube, or of its greys."""
    if max(red, green, blue) - min(red, green, blue) < 10:
        grey = round(((red + green + blue) / 3 - 8) / 10)
        return 16 if grey < 0 else 231 if grey > 23 else 232 + grey
    level = [0 if one < 48 else 1 if one < 115 else (one - 35) // 40 for one in (red, green, blue)]
    return 16 + 36 * level[0] + 6 * level[1] + level[2]

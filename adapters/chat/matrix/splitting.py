"""Cuts a long document into pieces that fit into a message each: at headings if it can, and never losing a letter.

The pieces, one after the other, are the document; only code and tables that are cut get their beginning and end again.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from adapters.chat.matrix.prose import tokens

Size = Callable[[str], int]
"""How much room a piece of Markdown takes. Pieces together take about the sum."""
_Finer = Callable[[str, Size, int], Iterable[str]]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r" {0,3}([-*+]|\d{1,9}[.)])\s")
_RULER = re.compile(r" {0,3}\|?[ \t]*:?-++:?[ \t|:-]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SLICE = 200
"""Characters of a line without an end: together they fill a message well."""


def split(markdown: str, size: Size, room: int) -> Iterator[str]:
    """Pieces no larger than `room`."""
    yield from _packed([markdown], size, room, (_sections, _blocks, _wrapped, _items, _lines))


def packed(units: Iterable[str], size: Size, room: int) -> Iterator[str]:
    """As many units together as fit."""
    yield from _packed(units, size, room, ())


def lines_of(text: str) -> list[str]:
    """With their ends. Only \\n ends one, as for the parser."""
    return _LINE.findall(text)


def slices(text: str) -> list[str]:
    """For what has no better place to be cut."""
    return [text[at : at + _SLICE] for at in range(0, len(text), _SLICE)]


def _packed(units: Iterable[str], size: Size, room: int, finer: Sequence[_Finer]) -> Iterator[str]:
    held, full = "", 0
    for unit in units:
        needs = size(unit)
        if full + needs <= room:
            held, full = held + unit, full + needs
            continue
        if held:
            yield held
        held, full = unit, needs
        if needs > room:
            smaller = finer[0](unit, size, room) if finer else slices(unit)
            *whole, held = _packed(smaller, size, room, finer[1:]) if len(unit) > 1 else (unit,)
            yield from whole
            full = size(held)
    if held:
        yield held


def _sections(markdown: str, size: Size, room: int) -> Iterator[str]:
    tops = [
        t.map[0] for t in tokens(markdown) if t.type == "heading_open" and not t.level and t.map
    ]
    yield from _cut(markdown, tops)


def _blocks(markdown: str, size: Size, room: int) -> Iterator[str]:
    tops = [t.map[0] for t in tokens(markdown) if t.nesting >= 0 and not t.level and t.map]
    yield from _cut(markdown, tops)


def _items(block: str, size: Size, room: int) -> Iterator[str]:
    lines = lines_of(block)
    yield from _cut(block, [n for n, line in enumerate(lines) if _ITEM.match(line)])


def _lines(block: str, size: Size, room: int) -> Iterator[str]:
    yield from lines_of(block)


def _wrapped(block: str, size: Size, room: int) -> Iterator[str]:
    """Code that is cut stays code, and a table keeps its head."""
    lines = lines_of(block)
    fence = _FENCE.match(block)
    table = len(lines) > 1 and "|" in lines[0] and _RULER.fullmatch(lines[1].rstrip("\n"))
    if not fence and not table:
        yield block
        return
    before = lines[:1] if fence else lines[:2]
    inner = lines[len(before) :]
    end = f"{fence[1]}\n" if fence else "\n"
    if fence and inner and inner[-1].strip().startswith(fence[1]):
        inner = inner[:-1]
    around = size("".join(before) + end)
    cut = [part for line in inner for part in _short(line)]
    for piece in packed(cut, size, max(_SLICE, room - around)):
        close = "" if piece.endswith("\n") else "\n"
        yield "".join(before) + piece + close + end


def _short(line: str) -> list[str]:
    return [line] if len(line) <= 10 * _SLICE else slices(line)


def _cut(markdown: str, tops: list[int]) -> Iterator[str]:
    """The text between the given lines."""
    lines = lines_of(markdown)
    borders = sorted({0, *tops, len(lines)})
    for begin, end in itertools.pairwise(borders):
        yield "".join(lines[begin:end])

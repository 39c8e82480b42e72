"""Says what a request is about within a budget: paths, tests, outlines, and the best pieces of code with line numbers."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from bot.core.context.outline import Definition, outline
from bot.core.context.ranking import Ranked
from bot.core.context.words import compounds, query_weights, words
from bot.core.facts import Fact
from bot.core.llm import BYTES_PER_TOKEN
from bot.core.text import counted

MOST_PATHS = 100
OUTLINED = 30
"""Files that are opened: their definitions are listed, and pieces are shown of them."""
PATHS_SHARE, TESTS_SHARE, OUTLINE_SHARE = 0.12, 0.03, 0.33
"""Shares of the budget; the rest is for code.

Measured: an outline names most definitions that a change touches, and whole files are too long to be worth their
tokens.
"""
LONGEST_PIECE = 60
AROUND = 6
"""Lines shown before and after a match in a long function."""
LONGEST_LINE = 200


class ContextFile(Fact):
    """A file that the request seems to be about, the lines of it that are shown, and why."""

    path: str
    ranges: tuple[tuple[int, int], ...] = ()
    score: float = 0.0
    why: str = ""


class RequestContext(Fact):
    """What was found for a request in a repository at one commit."""

    commit: str
    files: tuple[ContextFile, ...] = ()
    """The best matches first."""
    tests: tuple[str, ...] = ()
    text: str = ""
    """The context as the model reads it."""
    tokens: int = 0
    seconds: float = Field(default=0.0)
    searched: int = 0
    """How many source files were compared."""
    left_out: str = ""
    """Why something is missing, in a sentence."""


def compose(
    request: str,
    commit: str,
    ranked: Sequence[Ranked],
    tests: Sequence[str],
    texts: Mapping[str, str],
    *,
    tokens: int,
    searched: int = 0,
) -> RequestContext:
    """Return the context in at most `tokens` tokens. `texts`: the contents of the best files."""
    matcher = _Matcher(request)
    opened = [_OpenedFile.of(one, texts[one.path], matcher) for one in ranked if one.path in texts]
    room = tokens * BYTES_PER_TOKEN
    parts = [*_overview(ranked, tests, opened, room, searched)]
    left = room - sum(_size(part) + 2 for part in parts) - _HEADINGS
    pieces, more = _best_pieces(opened, left)
    if pieces:
        shown = [_rendered(one, pieces[one.path]) for one in opened if one.path in pieces]
        parts.append("## Code\n" + "\n\n".join(shown))
    left_out = f"{counted(more, 'more piece')} of code that match did not fit" if more else ""
    if left_out:
        parts.append(f"({left_out}.)")
    text = "\n\n".join(parts)
    return RequestContext(
        commit=commit,
        files=tuple(_described(one, pieces.get(one.path, ())) for one in ranked[:MOST_PATHS]),
        tests=tuple(tests),
        text=text,
        tokens=math.ceil(_size(text) / BYTES_PER_TOKEN),
        searched=searched,
        left_out=left_out,
    )


_HEADINGS = 200
"""Bytes kept free for the headings of the code."""


def _overview(
    ranked: Sequence[Ranked],
    tests: Sequence[str],
    opened: Sequence[_OpenedFile],
    room: int,
    searched: int,
) -> Iterator[str]:
    """Yield the paths, tests and definitions: everything but the code."""
    paths = _within(_path_lines(ranked), int(room * PATHS_SHARE))
    heading = f"## Files that match the request best, of {searched} source files"
    yield "\n".join([heading, *paths])
    if tests:
        shown = _within(tests, int(room * TESTS_SHARE))
        yield "\n".join(["## Tests that change together with them", *shown])
    if outlines := _outlines(opened, int(room * OUTLINE_SHARE)):
        yield "\n".join(["## Definitions in them (first and last line)", *outlines])


def _described(one: Ranked, ranges: Sequence[tuple[int, int]]) -> ContextFile:
    why = "; ".join(dict.fromkeys(one.why))
    return ContextFile(path=one.path, ranges=tuple(ranges), score=round(one.score, 2), why=why)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _within(lines: Iterable[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= _size(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _path_lines(ranked: Sequence[Ranked]) -> list[str]:
    return [
        f"{one.path} ({'; '.join(list(dict.fromkeys(one.why))[:3])})"
        if at < OUTLINED and one.why
        else one.path
        for at, one in enumerate(ranked[:MOST_PATHS])
    ]


class _Matcher:
    """Finds the words of a request in code."""

    def __init__(self, request: str) -> None:
        self.weights = query_weights(request)
        self.exact = compounds(request)
        sought = sorted({*self.weights, *self.exact}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, sought)) or r"(?!)")

    def hits(self, text: str) -> list[tuple[int, str]]:
        return [(found.start(), found[0]) for found in self._pattern.finditer(text.lower())]

    def value(self, found: Counter[str]) -> float:
        return sum(
            (self.weights.get(word, 0.0) + (2.0 if word in self.exact else 0.0))
            * math.log2(1 + times)
            for word, times in found.items()
        )


@dataclass(frozen=True)
class _Piece:
    value: float
    first: int
    last: int


@dataclass(frozen=True)
class _OpenedFile:
    path: str
    score: float
    lines: list[str]
    definitions: list[Definition]
    values: list[float]
    """What each definition is worth for the request."""
    hits: list[tuple[int, str]]
    """Line and word, in order."""
    matcher: _Matcher

    @classmethod
    def of(cls, ranked: Ranked, text: str, matcher: _Matcher) -> _OpenedFile:
        definitions = outline(text, ranked.path)
        starts = [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n")]
        hits = [(bisect_right(starts, at), word) for at, word in matcher.hits(text)]
        values = [_value_of(one, hits, matcher) for one in definitions]
        return cls(ranked.path, ranked.score, text.split("\n"), definitions, values, hits, matcher)


def _value_of(definition: Definition, hits: Sequence[tuple[int, str]], matcher: _Matcher) -> float:
    first = bisect_right(hits, (definition.first - 1, "\U0010ffff"))
    last = bisect_right(hits, (definition.last, "\U0010ffff"))
    inside = matcher.value(Counter(word for _, word in hits[first:last]))
    name = {*words(definition.name), definition.name.lower().rpartition(".")[2]}
    named = sum(matcher.weights.get(word, 0.0) for word in name) + (
        4.0 if name & matcher.exact else 0.0
    )
    # a long function mentions everything somewhere
    return 2 * named + inside / math.sqrt(4 + (definition.last - definition.first) / 10)


def _outlines(opened: Sequence[_OpenedFile], room: int) -> list[str]:
    """List the definitions of each file. If there is not enough room, the best matches are kept."""
    lines: list[str] = []
    for at, one in enumerate(opened):
        share = room * 2 // (len(opened) - at + 2)
        listed = {n: _entry(definition) for n, definition in enumerate(one.definitions)}
        heading = f"{one.path} ({len(one.lines)} lines)"
        left = min(share, room) - _size(heading) - 1
        chosen: set[int] = set()
        for n in sorted(listed, key=lambda n: (-one.values[n], one.definitions[n].indent, n)):
            left -= _size(listed[n]) + 1
            if left < 0:
                break
            chosen.add(n)
        if not chosen:
            continue
        block = [heading, *(listed[n] for n in sorted(chosen))]
        room -= sum(_size(line) + 1 for line in block)
        lines += block
    return lines


def _entry(definition: Definition) -> str:
    head = definition.head[: LONGEST_LINE // 2].rstrip("{ :")
    return f"  {' ' * min(definition.indent, 8)}{definition.first}-{definition.last} {head}"


def _best_pieces(
    opened: Sequence[_OpenedFile], room: int
) -> tuple[dict[str, list[tuple[int, int]]], int]:
    """Choose the lines to show of each file, within `room` bytes, and count the pieces for which there is none."""
    best = max((one.score for one in opened), default=0.0) or 1.0
    candidates = [
        (piece.value * (0.35 + one.score / best), at, piece)
        for at, one in enumerate(opened)
        for piece in _pieces(one)
    ]
    chosen: dict[str, list[tuple[int, int]]] = {}
    left_out = 0
    for value, at, piece in sorted(
        candidates, key=lambda found: (-found[0], found[1], found[2].first)
    ):
        one = opened[at]
        if value <= 0:
            break
        known = chosen.get(one.path, [])
        merged = _merged([*known, (piece.first, piece.last)])
        more = _cost(one, merged) - _cost(one, known)
        if more <= room:
            room -= more
            chosen[one.path] = merged
        else:
            left_out += 1
    return chosen, left_out


def _pieces(one: _OpenedFile) -> list[_Piece]:
    found: list[_Piece] = []
    for n, definition in enumerate(one.definitions):
        inner = n + 1 < len(one.definitions) and one.definitions[n + 1].first <= definition.last
        size = definition.last - definition.first + 1
        if size <= LONGEST_PIECE and not inner:
            found.append(_Piece(one.values[n], definition.first, definition.last))
        elif size > LONGEST_PIECE and not inner:
            found += _windows(one, definition, one.values[n])
        else:
            # of a definition that contains others only the head is shown
            last = min(one.definitions[n + 1].first - 1, definition.first + 12)
            found.append(_Piece(one.values[n] * 0.5, definition.first, max(definition.first, last)))
    outside = one.definitions[0].first - 1 if one.definitions else len(one.lines)
    if not one.definitions:
        found.append(
            _Piece(
                one.matcher.value(Counter(w for _, w in one.hits)) / 3,
                1,
                min(outside, LONGEST_PIECE),
            )
        )
    return found


def _windows(one: _OpenedFile, definition: Definition, value: float) -> list[_Piece]:
    """Return the head of a long function and the lines around its matches."""
    inside = [line for line, _ in one.hits if definition.first <= line <= definition.last]
    ranges = _merged(
        [
            (definition.first, min(definition.last, definition.first + AROUND)),
            *(
                (max(definition.first, at - AROUND), min(definition.last, at + AROUND))
                for at in inside
            ),
        ]
    )
    return [_Piece(value, first, min(last, first + LONGEST_PIECE)) for first, last in ranges[:4]]


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort the ranges and join those that touch."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 2:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def _cost(one: _OpenedFile, ranges: Sequence[tuple[int, int]]) -> int:
    return _size(_rendered(one, ranges)) + 2 if ranges else 0


def _rendered(one: _OpenedFile, ranges: Sequence[tuple[int, int]]) -> str:
    parts = [f"### {one.path}"]
    for first, last in ranges:
        parts += [
            f"{n}: {one.lines[n - 1][:LONGEST_LINE]}"
            for n in range(first, min(last, len(one.lines)) + 1)
        ]
        parts.append("…")
    return "\n".join(parts[:-1])

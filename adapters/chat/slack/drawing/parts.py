"""A long Markdown document in parts that each stand alone: cut at headings first, and never inside code or a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# possessive: a line of any length is read once
_FENCE = re.compile(r"([ \t>]*+(?:[-*+] |\d{1,9}[.)] )?+[ \t]*+)(`{3,20}(?=[^`]*+\Z)|~{3,20})(.*+)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|\Z)")
_COLUMN = r"[ \t]*+:?-++:?[ \t]*+"
_RULE = re.compile(rf"[ \t>]*+\|?{_COLUMN}(?:\|{_COLUMN})*+\|?[ \t]*+")
_LONGEST_LANGUAGE = 30


@dataclass(frozen=True)
class _Piece:
    """Lines that belong together."""

    lines: tuple[str, ...]
    heading: bool = False
    opens: str = ""
    """Stands above each half where it must be parted: the fence, the head of the table."""
    closes: str = ""
    inner: tuple[str, ...] = ()
    """What is between those two."""
    beside: str = ""
    """Stands before what is left of a line that was cut: the quote or list it is in."""

    @property
    def size(self) -> int:
        return sum(map(len, self.lines))


def parts(markdown: str, limit: int) -> list[str]:
    """The document in parts of at most `limit` characters: at least one, none of them blank unless all is."""
    done: list[str] = []
    held: list[_Piece] = []
    size = 0
    for piece in (bit for whole in _pieces(markdown) for bit in _bits(whole, limit)):
        if held and size + piece.size > limit:
            full, held = _at_a_heading(held, limit)
            size = sum(one.size for one in held)
            done.append(_text(full))
            if size + piece.size > limit:
                done.append(_text(held))
                held, size = [], 0
        held.append(piece)
        size += piece.size
    texts = [text.strip("\n") for text in (*done, _text(held))]
    return [text for text in texts if text.strip()] or [""]


def _text(pieces: Iterable[_Piece]) -> str:
    return "".join(line for piece in pieces for line in piece.lines)


def _at_a_heading(held: list[_Piece], limit: int) -> tuple[list[_Piece], list[_Piece]]:
    """What is full, and what the next part had better begin with: all from the last heading on, if that is late."""
    size = sum(piece.size for piece in held)
    for n in range(len(held) - 1, 0, -1):
        size -= held[n].size
        if 2 * size < limit:
            break
        if held[n].heading:
            return held[:n], held[n:]
    return held, []


def _pieces(markdown: str) -> Iterator[_Piece]:
    lines = [f"{line}\n" for line in markdown.split("\n")]
    at = 0
    while at < len(lines):
        piece = _code(lines, at) or _table(lines, at) or _prose(lines, at)
        yield piece
        at += len(piece.lines)


def _code(lines: list[str], at: int) -> _Piece | None:
    """A fence with all that is in it, to its end or that of the quote it is in."""
    opening = _FENCE.fullmatch(lines[at].rstrip("\n"))
    if not opening:
        return None
    before, marks, info = opening.groups()
    closing = re.compile(rf"[ \t>]*+{re.escape(marks[0])}{{{len(marks)},}}+[ \t]*+")
    end, inner = at + 1, len(lines)
    while end < len(lines) and inner == len(lines):
        if ">" in before and not lines[end].lstrip().startswith(">"):
            break
        if closing.fullmatch(lines[end].rstrip("\n")):
            inner = end
        end += 1
    beside = re.sub(r"[^ \t>]", " ", before)
    language = next((word for word in info.split()[:1] if len(word) <= _LONGEST_LANGUAGE), "")
    return _Piece(
        tuple(lines[at:end]),
        opens=f"{beside}{marks}{language}\n",
        closes=f"{beside}{marks}\n",
        inner=tuple(lines[at + 1 : min(inner, end)]),
        beside=beside,
    )


def _table(lines: list[str], at: int) -> _Piece | None:
    """A head, the line below it, and its rows."""
    if "|" not in lines[at] or at + 1 == len(lines) or not _is_rule(lines[at + 1]):
        return None
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    head, rows = lines[at : at + 2], lines[at + 2 : end]
    return _Piece((*head, *rows), opens="".join(head), inner=tuple(rows))


def _is_rule(line: str) -> bool:
    return "|" in line and bool(_RULE.fullmatch(line.rstrip("\n")))


def _prose(lines: list[str], at: int) -> _Piece:
    """A paragraph, with the empty lines after it. A heading stays with what it heads."""
    end = at + 1
    while end < len(lines) and not _begins(lines, end):
        end += 1
    own = tuple(lines[at:end])
    return _Piece(own, heading=bool(_HEADING.match(lines[at])), inner=own)


def _begins(lines: list[str], at: int) -> bool:
    """Whether something new begins with this line."""
    line = lines[at]
    if _HEADING.match(line) or _FENCE.fullmatch(line.rstrip("\n")) or _table(lines, at):
        return True
    return bool(line.strip()) and not lines[at - 1].strip() and not _headed(lines, at)


def _headed(lines: list[str], at: int) -> bool:
    """Whether only empty lines stand between this line and a heading above it."""
    at -= 1
    while at > 0 and not lines[at].strip():
        at -= 1
    return bool(_HEADING.match(lines[at]))


def _bits(piece: _Piece, limit: int) -> Iterator[_Piece]:
    """The piece, in as many as it takes: parted between lines or, where a line is too long, in the line."""
    if piece.size <= limit:
        yield piece
        return
    if 2 * (len(piece.opens) + len(piece.closes) + len(piece.beside)) > limit:
        # a frame this large cannot be drawn around every half
        piece = _Piece(piece.lines, heading=piece.heading, inner=piece.lines)
    room = limit - len(piece.opens) - len(piece.closes)
    for n, text in enumerate(_packed(piece.inner, room, piece.beside)):
        yield _Piece((piece.opens, text, piece.closes), heading=piece.heading and n == 0)


def _packed(lines: Iterable[str], room: int, beside: str) -> Iterator[str]:
    """Lines in as few texts as they fit into."""
    text = ""
    for line in (bit for whole in lines for bit in _short(whole, room, beside)):
        if text and len(text) + len(line) > room:
            yield text
            text = ""
        text += line
    if text:
        yield text


def _short(line: str, room: int, beside: str) -> Iterator[str]:
    while len(line) > room:
        yield line[: room - 1] + "\n"
        line = beside + line[room - 1 :]
    yield line

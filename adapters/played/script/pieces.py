"""The pieces of work that are played, and which of them a request and its wishes lead to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from adapters.played.script.brief import LANGUAGES, Brief, has, plain, text
from adapters.played.script.texts import PartText


@dataclass(frozen=True)
class Piece:
    """A module of the sample repository that is not there yet, with its tests."""

    name: str
    cues: tuple[str, ...]
    """Words by which people mean it."""
    needs: str = ""
    """The piece whose code it calls."""

    @property
    def module(self) -> str:
        return f"basket/{self.name}.py"

    @property
    def files(self) -> tuple[str, str]:
        return self.module, f"tests/test_{self.name}.py"


BASIC = (
    Piece("discount", ("discount", "coupon", "割引", "クーポン")),
    Piece("receipt", ("receipt", "columns", "レシート", "領収", "桁")),
    Piece(
        "checkout", ("checkout", "check-out", "bill", "会計", "精算", "チェックアウト"), "discount"
    ),
)
MORE = (
    Piece("export", ("export", "csv", "エクスポート", "出力", "書き出"), "discount"),
    Piece("history", ("history", "履歴")),
)
PIECES = {piece.name: piece for piece in (*BASIC, *MORE)}

TOO_LARGE = ("everything at once", "全部まとめて")
"""A request with these words is too large for one plan."""
ALSO = ("also add", "add another", "additionally", "も追加", "も作って", "も欲しい", "もほしい")
"""A wish with these words is for something new."""

WIDTH = 32
_WIDTH = re.compile(r"(?<![0-9])([0-9]{1,4})[ -]*(?:columns?\b|桁|カラム)")
_NARROWEST, _WIDEST = 24, 120


def width(words: Iterable[str]) -> int:
    """How wide a receipt is wanted, by the last of these words that says it."""
    named = [named for word in words for named in widths(word)]
    return named[-1] if named else WIDTH


def widths(words: str) -> list[int]:
    """`40 columns`, `４０桁`. What no receipt fits into, or no paper is as wide as, does not count."""
    named = [int(found) for found in _WIDTH.findall(plain(words))]
    return [columns for columns in named if _NARROWEST <= columns <= _WIDEST]


def part_of(brief: Brief) -> PartText | None:
    """The part of a larger request that this request is."""
    parts = (part for texts in LANGUAGES for part in texts.parts)
    return next((part for part in parts if part.body in brief.request), None)


def asked_for(brief: Brief) -> list[Piece]:
    """What the request itself leads to; nearly always the three pieces of the story."""
    part = part_of(brief)
    if part:
        return [PIECES[name] for name in part.pieces]
    more = [piece for piece in MORE if has(brief.request, piece.cues)]
    if more and not any(has(brief.request, piece.cues) for piece in BASIC):
        return _with_needs(brief, more)
    return list(BASIC)


def planned(brief: Brief) -> list[Piece]:
    """All pieces of the plan, those that were wished for later at the end."""
    pieces = asked_for(brief)
    for wish in brief.wishes:
        pieces += added(wish, pieces)
    return pieces


def added(wish: str, pieces: list[Piece]) -> list[Piece]:
    """What a wish adds to the pieces of a plan."""
    left = [piece for piece in MORE if piece not in pieces]
    named = [piece for piece in left if has(wish, piece.cues)]
    if named or touched(wish, pieces) or not has(wish, ALSO):
        return named
    return left[:1]


def touched(wish: str, pieces: Iterable[Piece]) -> list[Piece]:
    """Which of these pieces a wish is about."""
    return [piece for piece in pieces if has(wish, piece.cues)]


def piece_in(files: Iterable[str]) -> Piece | None:
    """The piece whose module is among these files."""
    named = set(files)
    return next((piece for piece in PIECES.values() if piece.module in named), None)


def _with_needs(brief: Brief, pieces: list[Piece]) -> list[Piece]:
    """And the pieces they need, unless those are in the repository already."""
    there = text(brief.entry("repository"), "directory_tree")
    needed = {piece.needs for piece in pieces if piece.needs and f"{piece.needs}.py" not in there}
    return [piece for piece in PIECES.values() if piece.name in needed or piece in pieces]

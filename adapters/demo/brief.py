"""The data the simulated model gets with a question, and the modules a request and later change requests lead to."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from adapters.demo.texts import PartText, Texts, english, japanese, languages

# The data of a question, parsed tolerantly. Nothing else is known when it is answered.

JsonObject = Mapping[str, object]


@dataclass(frozen=True)
class Brief:
    """The data of one question."""

    request: str
    today: str
    data: JsonObject = field(default_factory=dict[str, object])

    @classmethod
    def read(cls, user: str, today: str) -> Brief:
        told = _object(user)
        return cls(text(told, "request") or user, today, told)

    def text(self, name: str) -> str:
        return text(self.data, name)

    def entry(self, name: str) -> JsonObject:
        return entry(self.data, name)

    def entries(self, name: str) -> tuple[JsonObject, ...]:
        return entries(self.data, name)

    @property
    def spec_id(self) -> str:
        return self.text("spec_id") or "SPEC-00000000"

    @property
    def texts(self) -> Texts:
        return japanese() if self._wants_japanese() else english()

    @property
    def change_requests(self) -> tuple[str, ...]:
        """Return all change requests, oldest first; earlier ones are found in the specifications that include them."""
        written = text(self.entry("previous"), "spec"), self.text("spec")
        found = [wish for spec in written for wish in _wishes_in(spec)]
        return tuple(dict.fromkeys(wish for wish in (*found, self.change_request) if wish))

    @property
    def change_request(self) -> str:
        """Return the newest change request, on one line."""
        return line(self.text("change_request"))

    def _wants_japanese(self) -> bool:
        language = self.text("language")
        if language:
            return language == japanese().language
        words = (self.text("said"), self.text("change"), self.request)
        return is_japanese(next(filter(None, words), ""))


def is_japanese(words: str) -> bool:
    """Whether a good part of the letters is kana and kanji; without any kana it may be Chinese."""
    letters = [letter for letter in words if letter.isalpha()]
    names = [unicodedata.name(letter, "") for letter in letters]
    kana = sum(name.startswith(("HIRAGANA", "KATAKANA")) for name in names)
    kanji = sum(name.startswith("CJK UNIFIED") for name in names)
    return kana > 0 and (kana + kanji) * 3 >= len(letters)


def normalize(words: str) -> str:
    """Normalise for comparison: full-width letters and capitals do not matter."""
    return unicodedata.normalize("NFKC", words).casefold()


def mentions(words: str, cues: tuple[str, ...]) -> bool:
    """Whether the text contains any of the cues."""
    return any(cue in normalize(words) for cue in cues)


def line(words: str) -> str:
    return " ".join(words.split())


def text(values: JsonObject, name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def strings(values: JsonObject, name: str) -> list[str]:
    value = values.get(name)
    if not isinstance(value, list):
        return []
    return [one for one in cast("list[object]", value) if isinstance(one, str)]


def entry(values: JsonObject, name: str) -> JsonObject:
    value = values.get(name)
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def entries(values: JsonObject, name: str) -> tuple[JsonObject, ...]:
    value = values.get(name)
    if not isinstance(value, list):
        return ()
    return tuple(
        cast("JsonObject", one) for one in cast("list[object]", value) if isinstance(one, dict)
    )


def _wishes_in(spec: str) -> list[str]:
    heads = tuple(f"- {texts.documents.wish}" for texts in languages())
    return [
        kept.removeprefix(head).strip().removeprefix("“").removesuffix("”")
        for kept in spec.splitlines()
        for head in heads
        if kept.startswith(head)
    ]


def _object(words: str) -> dict[str, object]:
    """Parse the user message as a JSON object; anything else is taken for the bare request."""
    try:
        value: object = json.loads(words)
    except ValueError:
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


# The modules the demo can build, and which of them a request and its changes lead to.


@dataclass(frozen=True)
class DemoPiece:
    """A module that the sample repository lacks, with its tests."""

    name: str
    cues: tuple[str, ...]
    """Words that people use for it."""
    needs: str = ""
    """The module whose code it calls."""

    @property
    def module(self) -> str:
        return f"basket/{self.name}.py"

    @property
    def files(self) -> tuple[str, str]:
        return self.module, f"tests/test_{self.name}.py"


BASIC = (
    DemoPiece("discount", ("discount", "coupon", "割引", "クーポン")),
    DemoPiece("receipt", ("receipt", "columns", "レシート", "領収", "桁")),
    DemoPiece(
        "checkout", ("checkout", "check-out", "bill", "会計", "精算", "チェックアウト"), "discount"
    ),
)
MORE = (
    DemoPiece("export", ("export", "csv", "エクスポート", "出力", "書き出"), "discount"),
    DemoPiece("history", ("history", "履歴")),
)
PIECES = {piece.name: piece for piece in (*BASIC, *MORE)}

TOO_LARGE_CUES = ("everything at once", "全部まとめて")
"""A request with these words is too large for one plan."""
ADDITION_CUES = (
    "also add",
    "add another",
    "additionally",
    "も追加",
    "も作って",
    "も欲しい",
    "もほしい",
)
"""A change request with these words asks for something new."""

WIDTH = 32
_WIDTH = re.compile(r"(?<![0-9])([0-9]{1,4})[ -]*(?:columns?\b|桁|カラム)")
_NARROWEST, _WIDEST = 24, 120


def requested_width(words: Iterable[str]) -> int:
    """Return the requested width of a receipt; the last number named counts."""
    named = [named for word in words for named in find_widths(word)]
    return named[-1] if named else WIDTH


def find_widths(words: str) -> list[int]:
    """Return the widths named in a text, as in `40 columns` or `４０桁`. Implausible ones are ignored."""
    named = [int(found) for found in _WIDTH.findall(normalize(words))]
    return [columns for columns in named if _NARROWEST <= columns <= _WIDEST]


def request_part(brief: Brief) -> PartText | None:
    """Return which part of a larger request this request is, or None."""
    parts = (part for texts in languages() for part in texts.parts)
    return next((part for part in parts if part.body in brief.request), None)


def requested_pieces(brief: Brief) -> list[DemoPiece]:
    """Return the modules for the request itself, nearly always the three basic ones."""
    part = request_part(brief)
    if part:
        return [PIECES[name] for name in part.pieces]
    more = [piece for piece in MORE if mentions(brief.request, piece.cues)]
    if more and not any(mentions(brief.request, piece.cues) for piece in BASIC):
        return _with_needs(brief, more)
    return list(BASIC)


def planned_pieces(brief: Brief) -> list[DemoPiece]:
    """Return all modules of the plan; those requested later are at the end."""
    pieces = requested_pieces(brief)
    for wish in brief.change_requests:
        pieces += pieces_added(wish, pieces)
    return pieces


def pieces_added(wish: str, pieces: list[DemoPiece]) -> list[DemoPiece]:
    """Return the modules a change request adds to a plan."""
    left = [piece for piece in MORE if piece not in pieces]
    named = [piece for piece in left if mentions(wish, piece.cues)]
    if named or pieces_affected(wish, pieces) or not mentions(wish, ADDITION_CUES):
        return named
    return left[:1]


def pieces_affected(wish: str, pieces: Iterable[DemoPiece]) -> list[DemoPiece]:
    """Return the modules a change request is about."""
    return [piece for piece in pieces if mentions(wish, piece.cues)]


def piece_in(files: Iterable[str]) -> DemoPiece | None:
    """Return the module that is among these files, or None."""
    named = set(files)
    return next((piece for piece in PIECES.values() if piece.module in named), None)


def _with_needs(brief: Brief, pieces: list[DemoPiece]) -> list[DemoPiece]:
    """Return the modules with those they depend on, unless these are in the repository already."""
    there = text(brief.entry("repository"), "directory_tree")
    needed = {piece.needs for piece in pieces if piece.needs and f"{piece.needs}.py" not in there}
    return [piece for piece in PIECES.values() if piece.name in needed or piece in pieces]

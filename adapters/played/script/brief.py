"""What comes with a question: the data of the user message, read tolerantly. Nothing else is known when it is answered."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from adapters.played.script.english import ENGLISH
from adapters.played.script.japanese import JAPANESE
from adapters.played.script.texts import Texts

Entry = Mapping[str, object]
LANGUAGES = (ENGLISH, JAPANESE)


@dataclass(frozen=True)
class Brief:
    """The data of one question."""

    request: str
    today: str
    data: Entry = field(default_factory=dict[str, object])
    foreign: bool = False
    """It is to be answered in the wrong language."""

    @classmethod
    def read(cls, user: str, today: str, *, foreign: bool = False) -> Brief:
        told = _object(user)
        return cls(text(told, "request") or user, today, told, foreign)

    def text(self, name: str) -> str:
        return text(self.data, name)

    def entry(self, name: str) -> Entry:
        return entry(self.data, name)

    def entries(self, name: str) -> tuple[Entry, ...]:
        return entries(self.data, name)

    @property
    def spec_id(self) -> str:
        return self.text("spec_id") or "SPEC-00000000"

    @property
    def texts(self) -> Texts:
        japanese = self._wants_japanese()
        return JAPANESE if japanese is not self.foreign else ENGLISH

    @property
    def wishes(self) -> tuple[str, ...]:
        """What was wanted different, oldest first: earlier wishes stand in the specifications that took them in."""
        written = text(self.entry("previous"), "spec"), self.text("spec")
        found = [wish for spec in written for wish in _wishes_in(spec)]
        return tuple(dict.fromkeys(wish for wish in (*found, self.wish) if wish))

    @property
    def wish(self) -> str:
        """The newest of them, on one line."""
        return line(self.text("change_request"))

    def _wants_japanese(self) -> bool:
        language = self.text("language")
        if language:
            return language == JAPANESE.language
        words = (self.text("said"), self.text("change"), self.request)
        return is_japanese(next(filter(None, words), ""))


def is_japanese(words: str) -> bool:
    """Whether kana and kanji are a good part of the letters; without any kana it may be Chinese."""
    letters = [letter for letter in words if letter.isalpha()]
    names = [unicodedata.name(letter, "") for letter in letters]
    kana = sum(name.startswith(("HIRAGANA", "KATAKANA")) for name in names)
    kanji = sum(name.startswith("CJK UNIFIED") for name in names)
    return kana > 0 and (kana + kanji) * 3 >= len(letters)


def plain(words: str) -> str:
    """Ready for comparison: full-width letters and capitals do not matter."""
    return unicodedata.normalize("NFKC", words).casefold()


def has(words: str, cues: tuple[str, ...]) -> bool:
    """Whether any of the cues stands in these words."""
    return any(cue in plain(words) for cue in cues)


def line(words: str) -> str:
    return " ".join(words.split())


def text(values: Entry, name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def strings(values: Entry, name: str) -> list[str]:
    value = values.get(name)
    if not isinstance(value, list):
        return []
    return [one for one in cast("list[object]", value) if isinstance(one, str)]


def entry(values: Entry, name: str) -> Entry:
    value = values.get(name)
    return cast("Entry", value) if isinstance(value, dict) else {}


def entries(values: Entry, name: str) -> tuple[Entry, ...]:
    value = values.get(name)
    if not isinstance(value, list):
        return ()
    return tuple(cast("Entry", one) for one in cast("list[object]", value) if isinstance(one, dict))


def _wishes_in(spec: str) -> list[str]:
    heads = tuple(f"- {texts.documents.wish}" for texts in LANGUAGES)
    return [
        kept.removeprefix(head).strip().removeprefix("“").removesuffix("”")
        for kept in spec.splitlines()
        for head in heads
        if kept.startswith(head)
    ]


def _object(words: str) -> dict[str, object]:
    """The user message as a JSON object; anything else is taken for the bare request."""
    try:
        value: object = json.loads(words)
    except ValueError:
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}

"""In which language a text is written, as far as the bot must know: Japanese, English, or none of these.

Only what is written for people counts: no code, headings, identifiers, addresses or English labels.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

JAPANESE = "Japanese"
ENGLISH = "English"
LEAST_LETTERS = 12
"""Fewer letters say nothing: a name, a command, `OK`."""
JAPANESE_PART = 0.2
"""A Japanese text may be full of foreign names, an English one quotes a word or two."""
LATIN_PART = 0.8

_NOT_PROSE = re.compile(
    r"""
      ^[ ]{0,3}(?:```|~~~).*?(?:^[ ]{0,3}(?:```|~~~)[ \t]*$|\Z)  # code
    | ^[ ]{0,3}\#{1,6}[ \t].*?$                                   # headings
    | `[^`\n]*`
    | \*\*[\x00-\x29\x2b-\x7f]{1,60}\*\*                          # **Given**, **Independent Test**
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_WORD = re.compile(r"[\x21-\x7e]+")
_NAME = re.compile(
    r"[/\\_@]|\w[.:]\w|[a-z][A-Z]|\b[A-Z]{1,4}-?[0-9]"  # paths, addresses, file names, camelCase, FR-001
)
_ENGLISH_WORD = re.compile(
    r"\b(?:the|and|to|of|is|are|in|for|with|it|on|that|this|please|should|must|when|be|as|can|add|make|fix"
    r"|a|an|not|or|from|by|we|i|you|use|all|new)\b"
)
_OTHER_WORD = re.compile(
    r"\b(?:der|die|das|und|nicht|ein|eine|mit|für|ist|auf|den|dem|zu|bitte|soll|wenn"
    r"|le|la|les|des|une|et|est|pour|dans|avec|que|qui|sur|du"
    r"|el|los|las|por|con|una|del|como|más|para|il|gli|che|di|per|non|della"
    r"|het|een|van|voor|niet|met|um|uma|não|com|os|dos)\b"
)
"""German, French, Spanish, Italian, Dutch, Portuguese."""


def language_of(text: str) -> str:
    """`Japanese`, `English`, or nothing: it cannot be told, or it is some other language."""
    letters = _letters(_prose(text))
    total = letters.total()
    if not total:
        return ""
    if letters["kana"] and _japanese(letters) >= JAPANESE_PART * total:
        return JAPANESE
    if letters["latin"] >= LATIN_PART * total and not _is_foreign(text):
        return ENGLISH
    return ""


def fits(text: str, wanted: str) -> bool:
    """Whether a text for people is in the wanted language. Where nothing is wanted, or little is said, it is."""
    letters = _letters(_prose(text))
    total = letters.total()
    if not wanted or total < LEAST_LETTERS:
        return True
    if wanted == JAPANESE:
        return bool(letters["kana"]) and _japanese(letters) >= JAPANESE_PART * total
    return letters["latin"] >= LATIN_PART * total


def _prose(text: str) -> str:
    rest = _NOT_PROSE.sub(" ", text)
    return _WORD.sub(lambda word: " " if _NAME.search(word[0]) else word[0], rest)


def _letters(text: str) -> Counter[str]:
    """How many letters of which writing. Kanji without any kana may be Chinese."""
    return Counter(_writing(sign) for sign in text if sign.isalpha())


def _writing(letter: str) -> str:
    if letter.isascii():
        return "latin"
    name = unicodedata.name(letter, "")
    if name.startswith(("HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA")):
        return "kana"
    if name.startswith("CJK"):
        return "kanji"
    return "latin" if name.startswith(("LATIN", "FULLWIDTH LATIN")) else "other"


def _japanese(letters: Counter[str]) -> int:
    return letters["kana"] + letters["kanji"]


def _is_foreign(text: str) -> bool:
    """Written in Latin letters, and yet not English: its small words give it away."""
    plain = text.casefold()
    return len(_OTHER_WORD.findall(plain)) > len(_ENGLISH_WORD.findall(plain))

"""What of a line is code, and what it speaks of: texts, numbers and names."""

from __future__ import annotations

import re
from typing import NamedTuple

from bot.domain.tampering.languages import Language

_NUMBER = re.compile(r"(?<![\w.])-?[0-9][\w.]*")
_NAME = re.compile(r"[^\W\d]\w*")
_COMMON = frozenset(
    [
        "self",
        "this",
        "def",
        "fn",
        "func",
        "fun",
        "function",
        "void",
        "public",
        "async",
        "await",
        "return",
        "let",
        "const",
        "var",
        "mut",
        "auto",
        "assert",
        "that",
        "expect",
        "equal",
        "equals",
        "eq",
        "ne",
        "is",
        "in",
        "not",
        "and",
        "or",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "to",
        "be",
        "tobe",
        "toequal",
        "tostrictequal",
        "t",
        "assertequal",
        "asserttrue",
        "assertfalse",
        "assertequals",
        "assert_eq",
        "assert_ne",
        "assert_equal",
        "require",
        "should",
        "if",
        "for",
        "else",
        "it",
        "test",
        "describe",
        "class",
        "raises",
        "pytest",
        "unittest",
        "approx",
        "len",
        "do",
        "end",
    ]
)
"""What stands in any test."""


class Spoken(NamedTuple):
    """What a line is about."""

    literals: frozenset[str]
    names: frozenset[str]

    def within(self, other: Spoken) -> bool:
        """Whether the other speaks of the same: every number and text, and nearly every name."""
        if not (self.literals or self.names):
            return False
        known = len(self.names & other.names)
        return self.literals <= other.literals and known >= 0.75 * len(self.names)


def is_comment(text: str, language: Language) -> bool:
    return text.lstrip().startswith(language.comments)


def code(text: str, language: Language) -> str:
    """Without what its texts say, and without comments."""
    return language.plain.sub(lambda found: '""' if found[0][0] in "\"'`" else "", text)


def spoken(text: str, language: Language) -> Spoken:
    literals = {
        found[0].strip("\"'`") for found in language.plain.finditer(text) if found[0][0] in "\"'`"
    }
    rest = code(text, language)
    literals |= set(_NUMBER.findall(rest))
    names = {name for name in _NAME.findall(rest) if name.lower() not in _COMMON}
    return Spoken(frozenset(literals), frozenset(names))


def together(parts: list[Spoken]) -> Spoken:
    literals = frozenset[str]().union(*(part.literals for part in parts))
    return Spoken(literals, frozenset[str]().union(*(part.names for part in parts)))


def same(text: str) -> str:
    """A line as it is compared: how far it is indented says nothing."""
    return " ".join(text.split()).rstrip(";,")

"""Finds definitions in source files of any language: one pattern for their heads, indentation for their ends."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

# One pattern for all languages. Repositories may be hostile: every repetition is bounded, possessive or ends
# at its line, so that no text takes more than linear time (see the test of it).
_MODIFIERS = (
    r"(?:(?:export|default|pub(?:\([a-z: ]{1,40}\))?|public|private|protected|internal|static|final|abstract"
    r"|async|override|virtual|inline|constexpr|unsafe|extern(?:[ \t]\"C\")?|sealed|partial|open|data|suspend"
    r"|declare|readonly|local|fileprivate|mutating|required|lazy|companion|inner|native|synchronized)[ \t]++){0,6}"
)
_KEYWORDS = (
    r"(?:class|def|fn|func|function\*?|fun|interface|struct|enum(?:[ \t]class|[ \t]struct)?|trait|impl(?:<[^>\n]{0,200}>)?"
    r"|type|module|namespace|record|object|protocol|extension|union|macro_rules!|mod|sub|proc|defmodule|defp?"
    r"|defmacro|typedef(?:[ \t]struct)?|annotation|actor|package|val|var|const|let|#define"
    r"|CREATE(?:[ \t]OR[ \t]REPLACE)?[ \t]\w{1,20})"
)
_NAME = r"[A-Za-z_$][\w$]*+"
_QUALIFIED = rf"~?{_NAME}(?:(?:\.|::)~?{_NAME})*+"
_STATEMENTS = (
    "if|for|while|switch|catch|return|else|do|try|with|elif|elsif|unless|until|new|throw|await|yield|case|when|match"
    "|and|or|not|in|assert|print|del|raise|import|from|using|use|require|echo|sizeof|defer|go|select"
)
_PARAMETERS = r"\([^;{}=\n]{0,300}"
_BRACE = r"\)(?:[^;=\n]{0,120}\{|[ \t]*+\n[ \t]*+\{)"
# It begins with a line break, because Python skips to a literal quickly, and tries `^` at each character.
_HEAD = re.compile(
    rf"\n[ \t]*+(?:@\w++[ \t]++)?{_MODIFIERS}(?:"
    rf"{_KEYWORDS}[ \t]++(?:\([^)\n]{{0,200}}\)[ \t]*+)?(?:self\.)?({_QUALIFIED}(?:[ \t]for[ \t]{_NAME})?)"
    # name = function, name: function, name = (…) =>, NAME = at the margin
    rf"|({_NAME})[ \t]*+[:=][ \t]*+(?:async[ \t]++)?(?:function\b|\([^()\n]{{0,300}}\)[ \t]*+(?::[^=\n]{{1,120}})?=>|{_NAME}[ \t]*+=>)"
    rf"|(?<![ \t])([A-Z][A-Z0-9_]{{2,}}+)[ \t]*+(?::[^=\n]{{1,200}})?=[^=]"
    # functions that begin with their type: a brace follows, or their parameters go on in the next line
    rf"|(?!(?:{_STATEMENTS})\b)(?:[A-Za-z_][\w.:<>\[\],?]*+[ \t*&]++){{1,12}}({_QUALIFIED})[ \t]*+"
    rf"{_PARAMETERS}(?:{_BRACE}|,[ \t]*+$|\([ \t]*+$|(?<=\()$)"
    # methods that begin with their name
    rf"|(?!(?:{_STATEMENTS})\b)({_NAME})[ \t]*+(?:<[^>\n]{{0,200}}>)?{_PARAMETERS}{_BRACE}"
    rf")",
    re.MULTILINE,
)
# Six times as fast, and no line of a text or a call that goes on is taken for a head.
_PYTHON_HEAD = re.compile(
    rf"\n(?:[ \t]*+(?:(?:async[ \t]++)?def|class|type)[ \t]++({_NAME})(?=[ \t]*+[(:\[=])"
    r"|([A-Z][A-Z0-9_]{2,}+)[ \t]*+(?::[^=\n]{1,200})?=[^=])"
)
MOST_DEFINITIONS = 2_000
LONGEST_TEXT = 400_000
"""The number of characters searched in a file: longer files are generated."""


@dataclass(frozen=True)
class Definition:
    name: str
    first: int
    """The line number, starting at 1."""
    last: int
    indent: int
    head: str
    """The first line, without its indentation."""


def names(text: str, path: str) -> list[str]:
    """Return the names of all definitions, in order.

    Their ends are not searched, because this runs over whole repositories.
    """
    return [match[match.lastindex or 0] for match in _heads(text, path)]


def _heads(text: str, path: str) -> Iterator[re.Match[str]]:
    """Find the heads of definitions; positions count from a line break put before the text."""
    pattern = _PYTHON_HEAD if path.endswith((".py", ".pyi")) else _HEAD
    return islice(pattern.finditer(f"\n{text[:LONGEST_TEXT]}"), MOST_DEFINITIONS)


def outline(text: str, path: str) -> list[Definition]:
    """Return the definitions of a file with their first and last lines."""
    text = text[:LONGEST_TEXT]
    starts = [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n")]
    lines = text.split("\n")
    indents = [_indent(line) for line in lines]
    found: list[Definition] = []
    for match in _heads(text, path):
        at = bisect_right(starts, match.start(match.lastindex or 0) - 1) - 1
        indent = indents[at]
        found.append(
            Definition(
                match[match.lastindex or 0],
                at + 1,
                _end(lines, indents, at, indent) + 1,
                indent,
                lines[at].strip(),
            )
        )
    return found


def _indent(line: str) -> int:
    """Return the width of the indentation, or -1 for blank lines."""
    bare = line.lstrip(" \t")
    return len(line[: len(line) - len(bare)].expandtabs(4)) if bare.strip() else -1


_CLOSERS = re.compile(r"[ \t]*(?:[)\]}]|end\b|\*/)")
_OPENERS = re.compile(r"[ \t]*[({]")


def _end(lines: list[str], indents: list[int], at: int, indent: int) -> int:
    """Return the index of the last line that is indented further than the head, or that closes it."""
    last = at
    for line in range(at + 1, len(lines)):
        if indents[line] == -1:
            continue
        if indents[line] > indent:
            last = line
        elif indents[line] == indent and _CLOSERS.match(lines[line]):
            last = line
            # `) -> Result {` closes the parameters only
            if not lines[line].rstrip().endswith(("{", ":", "(")):
                break
        elif indents[line] == indent and last == at and _OPENERS.match(lines[line]):
            last = line
        else:
            break
    return last

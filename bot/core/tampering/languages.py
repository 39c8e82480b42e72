"""How tests look in each language: declarations, comments, string literals; and what a line mentions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

# How tests look in each language.

_QUOTED = r'"(?:[^"\\]|\\.)*(?:"|$)'
_SINGLE = r"'(?:[^'\\]|\\.)*(?:'|$)"
_BACKTICKS = r"`(?:[^`\\]|\\.)*(?:`|$)"
_JS_NAME = r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)"""
_JS_TEST = r"(?:^|[\s(;{])x?(?:it|test|specify|testWidgets|fit)(?:\.\w+)*(?:\([^'\"`]*\))?"
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True)
class Language:
    """The patterns of a language.

    A test is `named` in one line, or an `attribute` says that the next `function` is one.
    """

    comments: tuple[str, ...]
    """Beginnings of a line that is only a comment."""
    plain: re.Pattern[str]
    """String literals and comments within a line."""
    named: re.Pattern[str] = _NEVER
    attribute: re.Pattern[str] = _NEVER
    function: re.Pattern[str] = _NEVER
    anywhere: bool = False
    """Tests may be in the same files as the code they test."""
    by_name: bool = False
    """Only files with a test file's name are searched for tests."""


_HASH = ("#",)
_SLASHES = ("//", "/*", "*")
_HASH_PLAIN = re.compile(f"{_QUOTED}|{_SINGLE}|#.*")
_SLASH_PLAIN = re.compile(f"{_QUOTED}|{_SINGLE}|{_BACKTICKS}|//.*|/\\*.*?(?:\\*/|$)")

PYTHON = Language(
    _HASH, _HASH_PLAIN, re.compile(r"^\s*(?:async\s+)?def\s+(test\w*)\s*\("), by_name=True
)
RUBY = Language(
    _HASH,
    _HASH_PLAIN,
    re.compile(
        rf"^\s*[xf]?(?:it|test|specify|scenario|example)[\s(]+{_JS_NAME}|^\s*def\s+(test_\w+)"
    ),
)
ELIXIR = Language(_HASH, _HASH_PLAIN, re.compile(rf"^\s*test\s+{_JS_NAME}"))
SHELL = Language(_HASH, _HASH_PLAIN, re.compile(rf"^\s*@test\s+{_JS_NAME}"))
JAVASCRIPT = Language(
    _SLASHES,
    _SLASH_PLAIN,
    named=re.compile(rf"{_JS_TEST}\s*\(\s*{_JS_NAME}|^\s*[\]`)]\s*\)?\s*\(\s*{_JS_NAME}\s*,"),
    attribute=re.compile(rf"{_JS_TEST}\s*\(\s*$"),
    function=re.compile(rf"^\s*{_JS_NAME}"),
)
GO = Language(
    _SLASHES, _SLASH_PLAIN, re.compile(r"^func\s+((?:Test|Fuzz|Example|Benchmark)\w*)\s*\(")
)
RUST = Language(
    _SLASHES,
    re.compile(f"{_QUOTED}|//.*"),
    attribute=re.compile(r"#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|bench)\b"),
    function=re.compile(r"\bfn\s+(\w+)"),
    anywhere=True,
)
JAVA = Language(
    _SLASHES,
    re.compile(f"{_QUOTED}|{_SINGLE}|//.*|/\\*.*?(?:\\*/|$)"),
    named=re.compile(r"\bpublic\s+void\s+(test\w+)\s*\("),
    attribute=re.compile(
        r"@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b"
    ),
    function=re.compile(r"\b(?:void|fun|def|Unit)\s+(`[^`]+`|\w+)\s*\("),
    anywhere=True,
)
CSHARP = Language(
    _SLASHES,
    _SLASH_PLAIN,
    attribute=re.compile(r"\[(?:Fact|Theory|Test|TestMethod|TestCase|SkippableFact)\b"),
    function=re.compile(r"\b(?:void|Task|ValueTask)(?:<\w+>)?\s+(\w+)\s*\("),
    anywhere=True,
)
PHP = Language(
    ("//", "/*", "*"),
    re.compile(f"{_QUOTED}|{_SINGLE}|//.*"),
    named=re.compile(rf"\bfunction\s+(test\w+)\s*\(|^\s*(?:it|test)\s*\(\s*{_JS_NAME}"),
    attribute=re.compile(r"#\[Test\b"),
    function=re.compile(r"\bfunction\s+(\w+)"),
)
SWIFT = Language(
    _SLASHES,
    re.compile(f"{_QUOTED}|//.*"),
    named=re.compile(r"\bfunc\s+(test\w+)\s*\("),
    attribute=re.compile(r"@Test\b"),
    function=re.compile(r"\bfunc\s+(\w+)"),
)
C = Language(
    _SLASHES,
    _SLASH_PLAIN,
    re.compile(
        r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\s*\(\s*(\w+\s*,\s*\w+)"
        rf"|^\s*(?:TEST_CASE|SCENARIO)\s*\(\s*{_JS_NAME}|\bvoid\s+(test_\w+)\s*\("
    ),
    anywhere=True,
)

_SUFFIXES = {
    **dict.fromkeys((".py", ".pyi"), PYTHON),
    **dict.fromkeys((".rb",), RUBY),
    **dict.fromkeys((".ex", ".exs"), ELIXIR),
    **dict.fromkeys((".bats",), SHELL),
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"), JAVASCRIPT),
    **dict.fromkeys((".vue", ".svelte", ".dart"), JAVASCRIPT),
    ".go": GO,
    ".rs": RUST,
    **dict.fromkeys((".java", ".kt", ".kts", ".groovy", ".scala"), JAVA),
    ".cs": CSHARP,
    ".php": PHP,
    ".swift": SWIFT,
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".m", ".mm"), C),
}
_NAMES = re.compile(
    r"(?:test_.*|.*_tests?|tests?|.*_spec|.*[.-](?:test|tests|spec|specs|cy|e2e)|Test[A-Z].*"
    r"|.*(?:Test|Tests|Spec|Specs|TestCase|IT))\.\w+"
)
_FOLDERS = frozenset(
    ("test", "tests", "__tests__", "spec", "specs", "e2e", "cypress", "Tests", "Test")
)


def language_of(path: str) -> Language | None:
    return _SUFFIXES.get(PurePosixPath(path).suffix.lower())


def has_test_file_name(path: str) -> bool:
    """Whether the file's name alone makes it a test file."""
    return _NAMES.fullmatch(PurePosixPath(path).name) is not None


def belongs_to_tests(path: str) -> bool:
    """Whether the file belongs to the tests, as a test or as a helper."""
    return has_test_file_name(path) or any(part in _FOLDERS for part in path.split("/")[:-1])


def test_language_of(path: str) -> Language | None:
    """Return the language of the tests that the file may declare, or `None`."""
    language = language_of(path)
    if language is None or language.anywhere:
        return language
    looked_into = has_test_file_name(path) if language.by_name else belongs_to_tests(path)
    return language if looked_into else None


# The code of a line, and what it mentions: string literals, numbers and names.

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
"""Words that occur in any test."""


class Mentioned(NamedTuple):
    """The literals and names that a line mentions."""

    literals: frozenset[str]
    names: frozenset[str]

    def is_covered_by(self, other: Mentioned) -> bool:
        """Whether the other mentions the same: every literal and at least three quarters of the names."""
        if not (self.literals or self.names):
            return False
        known = len(self.names & other.names)
        return self.literals <= other.literals and known >= 0.75 * len(self.names)


def is_comment(text: str, language: Language) -> bool:
    return text.lstrip().startswith(language.comments)


def code_of(text: str, language: Language) -> str:
    """Return the line without the contents of string literals and without comments."""
    return language.plain.sub(lambda found: '""' if found[0][0] in "\"'`" else "", text)


def mentioned(text: str, language: Language) -> Mentioned:
    literals = {
        found[0].strip("\"'`") for found in language.plain.finditer(text) if found[0][0] in "\"'`"
    }
    rest = code_of(text, language)
    literals |= set(_NUMBER.findall(rest))
    names = {name for name in _NAME.findall(rest) if name.lower() not in _COMMON}
    return Mentioned(frozenset(literals), frozenset(names))


def all_mentioned(parts: list[Mentioned]) -> Mentioned:
    literals = frozenset[str]().union(*(part.literals for part in parts))
    return Mentioned(literals, frozenset[str]().union(*(part.names for part in parts)))


def normalised(text: str) -> str:
    """Return the line normalised for comparison, without indentation."""
    return " ".join(text.split()).rstrip(";,")

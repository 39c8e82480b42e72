"""How tests are written down in each language: what declares one, what is a comment, what is a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

_QUOTED = r'"(?:[^"\\]|\\.)*(?:"|$)'
_SINGLE = r"'(?:[^'\\]|\\.)*(?:'|$)"
_BACKTICKS = r"`(?:[^`\\]|\\.)*(?:`|$)"
_JS_NAME = r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)"""
_JS_TEST = r"(?:^|[\s(;{])x?(?:it|test|specify|testWidgets|fit)(?:\.\w+)*(?:\([^'\"`]*\))?"
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True)
class Language:
    """A test is `named` in one line, or an `attribute` says that the next `function` is one."""

    comments: tuple[str, ...]
    """How a line begins that is nothing else."""
    plain: re.Pattern[str]
    """Texts and comments within a line."""
    named: re.Pattern[str] = _NEVER
    attribute: re.Pattern[str] = _NEVER
    function: re.Pattern[str] = _NEVER
    anywhere: bool = False
    """Tests stand beside the code they test."""
    by_name: bool = False
    """Only files with a name of their own are looked into for tests."""


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


def is_named_so(path: str) -> bool:
    """Whether its name alone makes it a file of tests."""
    return _NAMES.fullmatch(PurePosixPath(path).name) is not None


def is_of_tests(path: str) -> bool:
    """Whether it belongs to the tests: one of them, or what helps them."""
    return is_named_so(path) or any(part in _FOLDERS for part in path.split("/")[:-1])


def holds_tests(path: str) -> Language | None:
    """The language of the tests that may be declared in it."""
    language = language_of(path)
    if language is None or language.anywhere:
        return language
    looked_into = is_named_so(path) if language.by_name else is_of_tests(path)
    return language if looked_into else None

"""What a model names as evidence, a place (`path:line`) or a test, held against the files of a commit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bot.core.diff_parts import ChangedText

_PLACE = re.compile(r"(?P<path>.+?):[Ll]?(?P<first>\d{1,9})(?:\s*[-–]\s*[Ll]?(?P<last>\d{1,9}))?")
_PARAMETERS = re.compile(r"\[[^\[\]]*\]$|\(\)$")
_LEVELS = re.compile(r"::| > | › |(?<=\w)[./](?=\w)")
_SHORTEST_TEST = 4
MOST_READ = 60
"""Files that are read to check what one answer names."""


@dataclass(frozen=True)
class Citation:
    """A place in a file, a test in a file, or a test alone."""

    path: str = ""
    first: int = 0
    last: int = 0
    test: str = ""


def read_citation(said: str) -> Citation:
    """Read `path:12`, `path:12-15`, `path::test`, a path, or the name of a test."""
    text = said.strip().strip("`").strip().removeprefix("./")
    if found := _PLACE.fullmatch(text):
        first = int(found["first"])
        return Citation(found["path"], first, max(first, int(found["last"] or first)))
    path, separator, test = text.partition("::")
    if separator and ("/" in path or "." in path):
        return Citation(path, test=test)
    return Citation(path=text if _is_like_a_path(text) else "", test=text)


def _is_like_a_path(text: str) -> bool:
    return " " not in text and ("/" in text or "." in text)


@dataclass(frozen=True)
class CitedFiles:
    """What citations are held against: what the patch shows, and whole files where those were read."""

    changed: Mapping[str, ChangedText]
    texts: Mapping[str, str]
    passed: Collection[str] = ()
    """Tests that are known to have passed."""
    failed: Collection[str] = ()

    def wanted(self, said: Iterable[str]) -> tuple[str, ...]:
        """Return the files that must be read to decide about these citations."""
        found: dict[str, None] = {}
        cited = [read_citation(one) for one in said]
        for one in cited:
            shown = self.changed.get(one.path)
            if one.first and shown and {one.first, one.last} <= shown.lines.keys():
                continue
            if one.path and one.path not in self.texts:
                found[one.path] = None
        if any(not one.path and one.test for one in cited):
            tests = [path for path in self.changed if is_test_file(path)]
            found |= dict.fromkeys(tests[:MOST_READ])
        return tuple(path for path in found if path not in self.texts)[:MOST_READ]

    def problem(self, said: str) -> str:
        """Return why a citation does not hold; empty if it does."""
        one = read_citation(said)
        if one.first:
            return self._problem_of_place(one)
        shown = self.changed.get(one.path)
        if shown and one.test in ("", one.path):
            # of a deleted, binary or empty file there is no line to name
            return f"{one.path}: name a line of it" if shown.lines else ""
        return self._problem_of_test(one)

    def _problem_of_place(self, one: Citation) -> str:
        shown = self.changed.get(one.path)
        if shown and shown.kind == "deleted":
            return ""
        lines = dict(shown.lines) if shown else {}
        if one.path in self.texts:
            lines |= enumerate(self.texts[one.path].split("\n"), 1)
        if not lines:
            return f"there is no file {one.path}"
        if one.last not in lines:
            return f"{one.path} has no line {one.last}"
        cited = [lines.get(number, "") for number in (one.first, one.last)]
        return "" if any(map(str.strip, cited)) else f"{one.path}:{one.first} is an empty line"

    def _problem_of_test(self, one: Citation) -> str:
        names = _names_of_test(one.test)
        if any(_are_same(name, other) for name in names for other in self.failed):
            return f"the test {one.test} fails"
        if any(_are_same(name, other) for name in names for other in self.passed):
            return ""
        if one.path and one.path != one.test:
            if one.path not in self.texts and one.path not in self.changed:
                return f"there is no file {one.path}"
            where = [one.path]
        else:
            where = [path for path in self.changed if is_test_file(path)]
        if any(_is_defined(name, self._text(path)) for name in names for path in where):
            return ""
        there = where[0] if len(where) == 1 else "the changed tests and the report"
        return f"there is no test {one.test} in {there}"

    def _text(self, path: str) -> str:
        shown = self.changed.get(path)
        return self.texts.get(path) or "\n".join(shown.lines.values() if shown else ())


_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testing)/|(?:^|[/_.-])(?:tests?|specs?)(?:[_.-]|$)|Tests?\.\w+$|Spec\.\w+$|_test\.",
)


def is_test_file(path: str) -> bool:
    return bool(_TEST_FILE.search(path) or _TEST_FILE.search(path.lower()))


def _names_of_test(said: str) -> tuple[str, ...]:
    """Return the name as it was said, and the innermost name in it."""
    plain = _PARAMETERS.sub("", said.strip())
    found = (plain, *_LEVELS.split(plain)[-1:], plain.partition("/")[0])
    return tuple(dict.fromkeys(one for one in found if len(one) >= _SHORTEST_TEST))


def _are_same(name: str, reported: str) -> bool:
    plain = _PARAMETERS.sub("", reported)
    return name in (reported, plain, *_LEVELS.split(plain)[-1:])


def _is_defined(name: str, text: str) -> bool:
    """Whether a test of this name is defined in the text: before brackets or a colon, or in quotes."""
    escaped = re.escape(name)
    return bool(
        re.search(rf"(?<!\w){escaped}\s*[(:=)]", text) or re.search(rf"([\"'`]){escaped}\1", text)
    )

"""The tests of a patch, as they were and as they are, each with the lines of it that were touched."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bot.domain.tampering.code import is_comment, same
from bot.domain.tampering.languages import Language, holds_tests
from bot.domain.tampering.reading import Change, Hunk, Line

_OTHER = re.compile(
    r"\s*(?:(?:async\s+)?(?:def|class|function|func|fn|fun|sub|struct|impl|mod)\b"
    r"|(?:export\s+)(?:default\s+)?(?:async\s+)?(?:function|const|class)\b"
    r"|(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:\(.*=>|function\b)"
    r"|(?:pub|public|private|protected|internal|static)\b.*[({])"
)
"""Something else begins, if it does not stand deeper than the test."""
_BETWEEN = 6
"""Lines that may stand between an attribute and its function."""


@dataclass(eq=False)
class Region:
    """A part of one side of a hunk: a test as far as it can be seen, or what belongs to none."""

    path: str
    side: str
    language: Language
    hunk: tuple[int, int]
    """Of which file, and which of its hunks."""
    number: int
    """Its place among all of its side."""
    fresh: bool
    """The whole file was not there before."""
    test: str = ""
    """Its name; empty: no test."""
    declared: str = ""
    """The mark of the line that declares it; empty: that line is out of sight."""
    run: int = -1
    deep: int = 0
    touched: list[Line] = field(default_factory=list[Line])
    """Lines of code that were added or removed."""
    lines: list[Line] = field(default_factory=list[Line])
    """All of them."""

    @property
    def texts(self) -> list[str]:
        """What was touched, as it is compared."""
        return [text for line in self.touched if len(text := same(line.text)) > 3]


@dataclass
class Suite:
    """Of one side of all files that may hold tests, or help them."""

    regions: list[Region] = field(default_factory=list[Region])
    commented: set[str] = field(default_factory=set[str])
    """Names of tests that stand in comments."""

    @property
    def declared(self) -> list[Region]:
        return [region for region in self.regions if region.test and region.declared]

    def after(self, region: Region) -> Region | None:
        """The test that comes next in the same hunk, at once."""
        following = self.regions[region.number + 1 : region.number + 2]
        return next((one for one in following if one.hunk == region.hunk and one.test), None)


def tests_of(changes: list[Change], mark: str) -> Suite:
    found = Suite()
    for number, change in enumerate(changes):
        path = change.path if mark == "+" else change.before
        language = holds_tests(path)
        if language is None:
            continue
        for at, hunk in enumerate(change.hunks):
            _Reader(change, mark, language, (number, at), found).read(hunk)
    return found


class _Reader:
    """Goes through one side of a hunk."""

    def __init__(
        self, change: Change, mark: str, language: Language, hunk: tuple[int, int], found: Suite
    ) -> None:
        self._change, self._mark, self._language, self._hunk = change, mark, language, hunk
        self._found = found
        self._attributed = 0
        self._block = False
        self._region = self._begins()

    def read(self, hunk: Hunk) -> None:
        # git tells the function around a hunk: it is the same on both sides
        self._region.test = _named(hunk.header, self._language) if hunk.header else ""
        for line in hunk.side(self._mark):
            if self._is_comment(line.text):
                name = _named(_uncommented(line.text), self._language)
                self._found.commented |= {name} if name else set()
            elif line.text.strip():
                self._code(line)

    def _code(self, line: Line) -> None:
        language, text = self._language, line.text
        name = _named(text, language)
        if not name and self._attributed:
            name = _first(language.function.search(text))
        self._attributed = 0 if name else max(0, self._attributed - 1)
        if not name and language.attribute.search(text):
            self._attributed = _BETWEEN
            name = _first(language.function.search(text))
        deep = len(text) - len(text.lstrip())
        if name:
            self._region = self._begins(name, line, deep)
        elif self._region.test and deep <= self._region.deep and _OTHER.match(text):
            self._region = self._begins()
        self._region.lines.append(line)
        if line.mark != " ":
            self._region.touched.append(line)

    def _begins(self, test: str = "", line: Line | None = None, deep: int = 0) -> Region:
        number = len(self._found.regions)
        region = Region(
            *(self._change.path if self._mark == "+" else self._change.before, self._mark),
            *(self._language, self._hunk, number, self._change.kind == "new", test),
            deep=deep,
        )
        if line:
            region.declared, region.run = line.mark, line.run
        self._found.regions.append(region)
        return region

    def _is_comment(self, text: str) -> bool:
        plain = text.strip()
        if self._block:
            self._block = "*/" not in plain
            return True
        if plain.startswith("/*") and "/*" in self._language.comments:
            self._block = "*/" not in plain
            return True
        return is_comment(text, self._language)


def _named(text: str, language: Language) -> str:
    return _first(language.named.search(text))


def _first(found: re.Match[str] | None) -> str:
    """The group that tells the name."""
    return next((same(group) for group in found.groups() if group), "") if found else ""


def _uncommented(text: str) -> str:
    return text.strip().lstrip("#/*").strip()

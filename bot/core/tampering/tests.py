"""The tests of a patch before and after, and those that are gone, not counting renamed, moved or merged ones and those
that became table rows.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.core.diffs import DiffLine, FileChange, Hunk
from bot.core.tampering.languages import (
    Language,
    Mentioned,
    all_mentioned,
    is_comment,
    mentioned,
    normalised,
    test_language_of,
)

# The tests of a patch, each with its changed lines.

_OTHER = re.compile(
    r"\s*(?:(?:async\s+)?(?:def|class|function|func|fn|fun|sub|struct|impl|mod)\b"
    r"|(?:export\s+)(?:default\s+)?(?:async\s+)?(?:function|const|class)\b"
    r"|(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:\(.*=>|function\b)"
    r"|(?:pub|public|private|protected|internal|static)\b.*[({])"
)
"""Something else begins, unless it is indented further than the test."""
_BETWEEN = 6
"""Most lines between an attribute and its function."""


@dataclass(eq=False)
class Region:
    """A part of one side of a hunk: a test as far as it is visible, or what belongs to no test."""

    path: str
    side: str
    language: Language
    hunk: tuple[int, int]
    """The numbers of the file and of its hunk."""
    number: int
    """Its position among all regions of its side."""
    fresh: bool
    """The whole file is new."""
    test: str = ""
    """The test's name; empty if it is no test."""
    declared: str = ""
    """The mark of the line that declares it; empty if that line is not visible."""
    run: int = -1
    deep: int = 0
    touched: list[DiffLine] = field(default_factory=list[DiffLine])
    """Code lines that were added or removed."""
    lines: list[DiffLine] = field(default_factory=list[DiffLine])
    """All its lines."""

    @property
    def texts(self) -> list[str]:
        """The changed lines normalised for comparison."""
        return [text for line in self.touched if len(text := normalised(line.text)) > 3]


@dataclass
class Suite:
    """The regions of one side of all files that may contain tests or helpers."""

    regions: list[Region] = field(default_factory=list[Region])
    commented: set[str] = field(default_factory=set[str])
    """Names of tests that were commented out."""

    @property
    def declared(self) -> list[Region]:
        return [region for region in self.regions if region.test and region.declared]

    def after(self, region: Region) -> Region | None:
        """Return the test that directly follows in the same hunk."""
        following = self.regions[region.number + 1 : region.number + 2]
        return next((one for one in following if one.hunk == region.hunk and one.test), None)


def tests_of(changes: list[FileChange], mark: str) -> Suite:
    found = Suite()
    for number, change in enumerate(changes):
        path = change.path if mark == "+" else change.before
        language = test_language_of(path)
        if language is None:
            continue
        for at, hunk in enumerate(change.hunks):
            _HunkReader(change, mark, language, (number, at), found).read(hunk)
    return found


class _HunkReader:
    def __init__(
        self, change: FileChange, mark: str, language: Language, hunk: tuple[int, int], found: Suite
    ) -> None:
        self._change, self._mark, self._language, self._hunk = change, mark, language, hunk
        self._found = found
        self._attributed = 0
        self._block = False
        self._region = self._begins()

    def read(self, hunk: Hunk) -> None:
        # git's hunk header names the enclosing function, which is the same on both sides
        self._region.test = _named(hunk.header, self._language) if hunk.header else ""
        for line in hunk.side(self._mark):
            if self._is_comment(line.text):
                name = _named(_uncommented(line.text), self._language)
                self._found.commented |= {name} if name else set()
            elif line.text.strip():
                self._code(line)

    def _code(self, line: DiffLine) -> None:
        language, text = self._language, line.text
        name = _named(text, language)
        if not name and self._attributed:
            name = _first_group(language.function.search(text))
        self._attributed = 0 if name else max(0, self._attributed - 1)
        if not name and language.attribute.search(text):
            self._attributed = _BETWEEN
            name = _first_group(language.function.search(text))
        deep = len(text) - len(text.lstrip())
        if name:
            self._region = self._begins(name, line, deep)
        elif self._region.test and deep <= self._region.deep and _OTHER.match(text):
            self._region = self._begins()
        self._region.lines.append(line)
        if line.mark != " ":
            self._region.touched.append(line)

    def _begins(self, test: str = "", line: DiffLine | None = None, deep: int = 0) -> Region:
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
    return _first_group(language.named.search(text))


def _first_group(found: re.Match[str] | None) -> str:
    return next((normalised(group) for group in found.groups() if group), "") if found else ""


def _uncommented(text: str) -> str:
    return text.strip().lstrip("#/*").strip()


# Tests that are gone: their names are missing in the whole patch, and they were not renamed, moved, merged or turned
# into table rows.

_ROWS = re.compile(
    r"parametri[sz]e|\.each\b|\bsubTest\b|rstest|#\[case|ParameterizedTest|\[Theory|InlineData|TestCase\("
    r"|DataProvider|dataProvider|\bt\.Run\(|\brange\s+\w+|\.each\s+do|\bforEach\(|\bfor\b.*\b(?:in|of)\b|arguments:"
)
"""One test with many cases."""
_ALIKE = 0.5
_NEARLY_ALL = 0.8
_MOST_PAIRS = 20_000
_MOST_ALIKE = 20
"""Places in which a line is looked up. A line that is everywhere identifies nothing."""
RegionPair = tuple[Region, Region]


def pair_tests(old: Suite, new: Suite) -> tuple[list[RegionPair], list[Region]]:
    """Return each old test paired with its new form, and the tests that are gone."""
    pairs, missing, fresh = _same_name(old.declared, new.declared)
    for pairing in (_same_name_elsewhere, _same_place, _similar_lines, _similar_name):
        found = pairing(missing, fresh)
        pairs += found
        gone, used = {id(one) for one, _ in found}, {id(one) for _, one in found}
        missing = [one for one in missing if id(one) not in gone]
        fresh = [one for one in fresh if id(one) not in used]
    kept = _SurvivingTests(new)
    return pairs, [region for region in missing if not kept.holds(region)]


def _same_name(
    before: list[Region], after: list[Region]
) -> tuple[list[RegionPair], list[Region], list[Region]]:
    # Same name, same file.
    waiting: defaultdict[tuple[str, str], deque[Region]] = defaultdict(deque)
    for region in after:
        waiting[region.path, region.test].append(region)
    pairs: list[RegionPair] = []
    missing: list[Region] = []
    for region in before:
        there = waiting[region.path, region.test]
        if there:
            pairs.append((region, there.popleft()))
        else:
            missing.append(region)
    return pairs, missing, [one for left in waiting.values() for one in left]


def _same_name_elsewhere(missing: list[Region], fresh: list[Region]) -> list[RegionPair]:
    # Same name in another file, with similar content.
    return _paired_by(missing, fresh, lambda one: one.test, _much_alike)


def _same_place(missing: list[Region], fresh: list[Region]) -> list[RegionPair]:
    # As many new tests as there were old ones in the same place.
    gone, made = Counter(map(_place, missing)), Counter(map(_place, fresh))
    return _paired_by(missing, fresh, _place, lambda old, _: gone[_place(old)] == made[_place(old)])


def _place(region: Region) -> str:
    return f"{region.hunk}:{region.run}"


def _paired_by(
    missing: list[Region],
    fresh: list[Region],
    key: Callable[[Region], str],
    fits: Callable[[Region, Region], bool],
) -> list[RegionPair]:
    waiting: defaultdict[str, deque[Region]] = defaultdict(deque)
    for region in fresh:
        if region.declared == "+":
            waiting[key(region)].append(region)
    pairs: list[RegionPair] = []
    for region in missing:
        there = waiting[key(region)]
        if there and fits(region, there[0]):
            pairs.append((region, there.popleft()))
    return pairs


def _much_alike(old: Region, new: Region) -> bool:
    mine, yours = set(old.texts[1:]), set(new.texts[1:])
    return not mine or len(mine & yours) >= _ALIKE * len(mine)


def _similar_lines(missing: list[Region], fresh: list[Region]) -> list[RegionPair]:
    # Another name with nearly the same lines, anywhere.
    places: defaultdict[str, list[Region]] = defaultdict(list)
    for region in fresh:
        for text in set(region.texts[1:]):
            places[text].append(region)
    pairs: list[RegionPair] = []
    taken: set[int] = set()
    for region in missing:
        mine = set(region.texts[1:])
        near = Counter(
            id(one) for text in mine for one in places[text][:_MOST_ALIKE] if id(one) not in taken
        )
        best, lines = max(near.items(), key=lambda item: item[1], default=(0, 0))
        if mine and lines >= _ALIKE * len(mine):
            taken.add(best)
            found = (one for text in mine for one in places[text] if id(one) == best)
            pairs.append((region, next(found)))
    return pairs


def _similar_name(missing: list[Region], fresh: list[Region]) -> list[RegionPair]:
    # In the same file, with a similar name.
    if len(missing) * len(fresh) > _MOST_PAIRS:
        return []
    left = [one for one in fresh if one.declared == "+"]
    pairs: list[RegionPair] = []
    for region in missing:
        scored = [
            (_name_similarity(region.test, one.test), -at)
            for at, one in enumerate(left)
            if one.path == region.path
        ]
        best, at = max(scored, default=(0.0, 0))
        if best >= _ALIKE:
            pairs.append((region, left.pop(-at)))
    return pairs


def _name_similarity(one: str, other: str) -> float:
    mine, yours = _parts(one), _parts(other)
    return len(mine & yours) / max(1, len(mine | yours))


def _parts(name: str) -> set[str]:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+", name)
    return {word.lower() for word in words} - {"test", "should"}


class _SurvivingTests:
    """What is left of a test whose name is gone: as rows of another test in its file, or line by line in other tests."""

    def __init__(self, new: Suite) -> None:
        added: defaultdict[str, list[Region]] = defaultdict(list)
        for region in new.regions:
            added[region.path].append(region)
        self._lines = {
            path: Counter(text for one in regions for text in one.texts)
            for path, regions in added.items()
        }
        self._standing = {
            id(line) for one in new.regions if one.test for line in one.lines if line.mark == " "
        }
        self._rows = {
            path: rows for path, regions in added.items() if (rows := _table_rows(regions))
        }

    def holds(self, region: Region) -> bool:
        body = region.texts[1:]
        stayed = [line for line in region.lines[1:] if line.mark == " "]
        if stayed and not self._standing.issuperset(map(id, stayed)):
            return False
        if not body:
            return bool(stayed)
        rows = self._rows.get(region.path)
        if rows and _is_in_rows(all_mentioned([mentioned(t, region.language) for t in body]), rows):
            return True
        lines = self._lines.get(region.path, Counter[str]())
        there = [text for text in body if lines[text] > 0]
        if len(there) < _NEARLY_ALL * len(body):
            return False
        lines.subtract(there)
        return True


def _table_rows(regions: list[Region]) -> Mentioned | None:
    """Return what the added lines of a file mention, if they include a test with many cases."""
    lines = [(line.text, one.language) for one in regions for line in one.touched]
    if not any(_ROWS.search(text) for text, _ in lines):
        return None
    return all_mentioned([mentioned(text, language) for text, language in lines])


def _is_in_rows(about: Mentioned, rows: Mentioned) -> bool:
    # Requires the same literals; only half of the names, as calls in between may be gone.
    if not about.literals:
        return about.is_covered_by(rows)
    return about.literals <= rows.literals and len(about.names & rows.names) >= 0.5 * len(
        about.names
    )

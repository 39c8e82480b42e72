"""Tests that are gone: by name over the whole patch, less those that were renamed, moved, merged or given as rows."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable

from bot.domain.tampering.code import Spoken, spoken, together
from bot.domain.tampering.declared import Region, Suite

_ROWS = re.compile(
    r"parametri[sz]e|\.each\b|\bsubTest\b|rstest|#\[case|ParameterizedTest|\[Theory|InlineData|TestCase\("
    r"|DataProvider|dataProvider|\bt\.Run\(|\brange\s+\w+|\.each\s+do|\bforEach\(|\bfor\b.*\b(?:in|of)\b|arguments:"
)
"""One test for many cases."""
_ALIKE = 0.5
_NEARLY_ALL = 0.8
_MOST_PAIRS = 20_000
_MOST_ALIKE = 20
"""Places at which one line is looked for. A line that stands everywhere tells nothing."""
Pair = tuple[Region, Region]


def paired(old: Suite, new: Suite) -> tuple[list[Pair], list[Region]]:
    """Each test that was, with what it is now; and those that are gone."""
    pairs, missing, fresh = _same_name(old.declared, new.declared)
    for pairing in (_moved, _in_place, _alike, _renamed):
        found = pairing(missing, fresh)
        pairs += found
        gone, used = {id(one) for one, _ in found}, {id(one) for _, one in found}
        missing = [one for one in missing if id(one) not in gone]
        fresh = [one for one in fresh if id(one) not in used]
    kept = _Kept(new)
    return pairs, [region for region in missing if not kept.holds(region)]


def _same_name(
    before: list[Region], after: list[Region]
) -> tuple[list[Pair], list[Region], list[Region]]:
    """What has its name and its file still."""
    waiting: defaultdict[tuple[str, str], deque[Region]] = defaultdict(deque)
    for region in after:
        waiting[region.path, region.test].append(region)
    pairs: list[Pair] = []
    missing: list[Region] = []
    for region in before:
        there = waiting[region.path, region.test]
        if there:
            pairs.append((region, there.popleft()))
        else:
            missing.append(region)
    return pairs, missing, [one for left in waiting.values() for one in left]


def _moved(missing: list[Region], fresh: list[Region]) -> list[Pair]:
    """The same name in another file, and about the same in it."""
    return _by(missing, fresh, lambda one: one.test, _much_alike)


def _in_place(missing: list[Region], fresh: list[Region]) -> list[Pair]:
    """As many tests stand where others stood."""
    gone, made = Counter(map(_place, missing)), Counter(map(_place, fresh))
    return _by(missing, fresh, _place, lambda old, _: gone[_place(old)] == made[_place(old)])


def _place(region: Region) -> str:
    return f"{region.hunk}:{region.run}"


def _by(
    missing: list[Region],
    fresh: list[Region],
    key: Callable[[Region], str],
    fits: Callable[[Region, Region], bool],
) -> list[Pair]:
    waiting: defaultdict[str, deque[Region]] = defaultdict(deque)
    for region in fresh:
        if region.declared == "+":
            waiting[key(region)].append(region)
    pairs: list[Pair] = []
    for region in missing:
        there = waiting[key(region)]
        if there and fits(region, there[0]):
            pairs.append((region, there.popleft()))
    return pairs


def _much_alike(old: Region, new: Region) -> bool:
    mine, yours = set(old.texts[1:]), set(new.texts[1:])
    return not mine or len(mine & yours) >= _ALIKE * len(mine)


def _alike(missing: list[Region], fresh: list[Region]) -> list[Pair]:
    """Another name, and nearly the same lines, wherever it stands."""
    places: defaultdict[str, list[Region]] = defaultdict(list)
    for region in fresh:
        for text in set(region.texts[1:]):
            places[text].append(region)
    pairs: list[Pair] = []
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


def _renamed(missing: list[Region], fresh: list[Region]) -> list[Pair]:
    """In the same file, by a name that says about the same."""
    if len(missing) * len(fresh) > _MOST_PAIRS:
        return []
    left = [one for one in fresh if one.declared == "+"]
    pairs: list[Pair] = []
    for region in missing:
        scored = [
            (_near(region.test, one.test), -at)
            for at, one in enumerate(left)
            if one.path == region.path
        ]
        best, at = max(scored, default=(0.0, 0))
        if best >= _ALIKE:
            pairs.append((region, left.pop(-at)))
    return pairs


def _near(one: str, other: str) -> float:
    mine, yours = _parts(one), _parts(other)
    return len(mine & yours) / max(1, len(mine | yours))


def _parts(name: str) -> set[str]:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+", name)
    return {word.lower() for word in words} - {"test", "should"}


class _Kept:
    """What lives on of a test whose name is gone: as rows of another one in its file, or line by line in others."""

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
        self._rows = {path: rows for path, regions in added.items() if (rows := _rows(regions))}

    def holds(self, region: Region) -> bool:
        body = region.texts[1:]
        stayed = [line for line in region.lines[1:] if line.mark == " "]
        if stayed and not self._standing.issuperset(map(id, stayed)):
            return False
        if not body:
            return bool(stayed)
        rows = self._rows.get(region.path)
        if rows and _among(together([spoken(t, region.language) for t in body]), rows):
            return True
        lines = self._lines.get(region.path, Counter[str]())
        there = [text for text in body if lines[text] > 0]
        if len(there) < _NEARLY_ALL * len(body):
            return False
        lines.subtract(there)
        return True


def _rows(regions: list[Region]) -> Spoken | None:
    """What the added lines of a file speak of, if one test for many cases is among them."""
    lines = [(line.text, one.language) for one in regions for line in one.touched]
    if not any(_ROWS.search(text) for text, _ in lines):
        return None
    return together([spoken(text, language) for text, language in lines])


def _among(about: Spoken, rows: Spoken) -> bool:
    """The same figures and texts; what was called in between may have gone."""
    if not about.literals:
        return about.within(rows)
    return about.literals <= rows.literals and len(about.names & rows.names) >= 0.5 * len(
        about.names
    )

"""Finds assertions that say less than before: fewer in a test, true in any case, with a larger tolerance, or with their
failure caught.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

from bot.core.tampering import languages
from bot.core.tampering.languages import (
    Language,
    Mentioned,
    all_mentioned,
    code_of,
    mentioned,
    normalised,
)
from bot.core.tampering.tests import Region, RegionPair, Suite

# Assertions before and after, test by test.

_TOLERANCE = re.compile(
    r"\b(abs|rel|delta|atol|rtol|tol|tolerance|eps|epsilon|max_relative|within|be_within|offset|InDelta|InEpsilon)"
    r"\b\s*(?:=|:|\()?\s*(?:[^,()=]{1,60},\s*){0,3}?([0-9][0-9_.]*(?:[eE][-+]?[0-9]+)?)\s*\)?"
)
_PLACES = re.compile(
    r"\b(places|digits|decimal|precision|toBeCloseTo)\b\s*(?:=|:|\()\s*(?:[^,()=]{1,60},\s*)?([0-9]{1,3})\b"
)
_CATCHES = re.compile(
    r"^\s*(?:except\b.*:|\}?\s*catch\b.*|rescue\b.*)\s*(?:pass|\{?\s*\}?)?\s*;?\s*$"
    r"|\bsuppress\(\s*(?:Base)?(?:Exception|AssertionError)|\bcatch\s*\([^)]*\)\s*\{\s*\}|\brescue\s+nil\b|\.catch\(\s*\(\w*\)\s*=>\s*\{\s*\}\s*\)"
)
_SWALLOWS = re.compile(r"^\s*(?:pass|\.\.\.|\}\)?;?|return;?|end|print\(.*|console\.log\(.*)\s*$")
_ENDS_WELL = re.compile(
    r"\bos\._exit\(\s*0?\s*\)|\bprocess\.exit\(\s*0?\s*\)|^\s*sys\.exit\(\s*0?\s*\)|\bos\.Exit\(0\)"
)


class Weakened(NamedTuple):
    path: str
    test: str
    says: str


def weakened(pairs: Sequence[RegionPair], old: Suite, new: Suite) -> Iterator[Weakened]:
    """Compare test by test, and outside of tests hunk by hunk."""
    there = _AddedAssertions(new)
    for before, after in [*pairs, *_regions_outside_tests(old, new)]:
        if before.touched:
            yield from _compare_assertions(before, after, there)
        if after.touched and after.declared != "+":
            yield from _swallowed_failures(after)
    for region in new.regions:
        for line in region.touched:
            if _ENDS_WELL.search(code_of(line.text, region.language)):
                yield Weakened(region.path, region.test, f"ends all with «{normalised(line.text)}»")


def _regions_outside_tests(old: Suite, new: Suite) -> Iterator[RegionPair]:
    """Yield the changes outside of visible tests, the old side paired with the new one."""
    after = {key: _joined(regions) for key, regions in _unseen(new).items()}
    for key, regions in _unseen(old).items():
        if key in after:
            yield _joined(regions), after[key]


def _unseen(suite: Suite) -> dict[object, list[Region]]:
    found: defaultdict[object, list[Region]] = defaultdict(list)
    for region in suite.regions:
        if not region.declared:
            found[region.hunk, region.test].append(region)
    return dict(found)


def _joined(regions: list[Region]) -> Region:
    touched = [line for region in regions for line in region.touched]
    lines = [line for region in regions for line in region.lines]
    return replace(regions[0], touched=touched, lines=lines)


class _AddedAssertions:
    """Assertions added anywhere in the patch: one that moved is not missing."""

    def __init__(self, new: Suite) -> None:
        self._shared: set[str] = set()
        self._single: Counter[str] = Counter()
        self._names: set[str] = set()
        for region in new.regions:
            texts = [normalised(line.text) for line in region.touched]
            if region.test:
                self._single.update(texts)
            else:
                self._shared.update(texts)
                self._names.update(*(claim.about.names for claim in claims(region)))

    def is_in_shared_helper(self, claim: Claim, now: Mentioned) -> bool:
        """Whether a shared helper function asserts it and the test passes the values to the helper."""
        known = Mentioned(now.literals, now.names | self._names)
        return bool(claim.about.literals) and claim.about.is_covered_by(known)

    def takes(self, text: str) -> bool:
        """Whether the assertion was added elsewhere.

        One in a shared helper function counts for every test that calls it.
        """
        if text in self._shared:
            return True
        if self._single[text] > 0:
            self._single[text] -= 1
            return True
        return False


def _compare_assertions(
    before: Region, after: Region, there: _AddedAssertions
) -> Iterator[Weakened]:
    removed, added = claims(before), claims(after)
    if removed:
        left = Counter(claim.text for claim in added)
        left.subtract(Counter(claim.text for claim in removed))
        fresh = list(_surplus(added, left))
        gone = _surplus(removed, Counter({text: -n for text, n in left.items()}))
        held = _RemainingAssertions(after, fresh)
        lost = [
            one
            for one in gone
            if not (
                there.takes(one.text) or held.holds(one) or there.is_in_shared_helper(one, held.all)
            )
        ]
        yield from _weaker_assertions(before, lost, fresh)
    yield from _looser_tolerance(before, after)


def _surplus(found: list[Claim], left: Counter[str]) -> Iterator[Claim]:
    """Yield the assertions that one side has more often than the other."""
    for claim in found:
        if left[claim.text] > 0:
            left[claim.text] -= 1
            yield claim


def _weaker_assertions(region: Region, lost: list[Claim], fresh: list[Claim]) -> Iterator[Weakened]:
    exact = sum(claim.strength is Strength.EXACT for claim in lost)
    exact_now = sum(claim.strength is Strength.EXACT for claim in fresh)
    weaker = [claim for claim in fresh if claim.strength is not Strength.EXACT]
    if len(lost) > len(fresh):
        gone = len(lost) - len(fresh)
        says = f"has {gone} assertion{'s' if gone > 1 else ''} less: «{lost[0].text}» is gone"
        yield Weakened(region.path, region.test, says)
    elif exact > exact_now and weaker:
        first = next(claim for claim in lost if claim.strength is Strength.EXACT)
        says = f"asserts less: «{weaker[0].text}» instead of «{first.text}»"
        yield Weakened(region.path, region.test, says)


class _RemainingAssertions:
    """What remaining assertions of the same test, at least as strict, still mention."""

    def __init__(self, after: Region, fresh: list[Claim]) -> None:
        lines = [(normalised(line.text), line.text) for line in after.touched]
        self._by_strength = {
            strength: all_mentioned(
                [mentioned(text, after.language) for key, text in lines if key not in weaker]
            )
            for strength in Strength
            for weaker in [{one.text for one in fresh if one.strength < strength}]
        }

    @property
    def all(self) -> Mentioned:
        return self._by_strength[Strength.EXACT]

    def holds(self, claim: Claim) -> bool:
        return claim.about.is_covered_by(self._by_strength[claim.strength])


def _looser_tolerance(before: Region, after: Region) -> Iterator[Weakened]:
    """Yield larger tolerances and smaller numbers of compared places."""
    for pattern, larger in ((_TOLERANCE, True), (_PLACES, False)):
        was, now = _figures(before, pattern), _figures(after, pattern)
        for name, old in was.items():
            new = now.get(name, [])
            if len(new) != len(old):
                continue
            if any((b > a) if larger else (b < a) for a, b in zip(old, new, strict=True)):
                yield Weakened(before.path, before.test, f"tolerates more by its «{name}»")


def _figures(region: Region, pattern: re.Pattern[str]) -> dict[str, list[float]]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for line in region.touched:
        for name, figure in pattern.findall(line.text):
            found[name].append(_number(figure))
    return dict(found)


def _number(figure: str) -> float:
    try:
        return float(figure.replace("_", ""))
    except ValueError:
        return 0.0  # a version number, or something else with several dots


def _swallowed_failures(region: Region) -> Iterator[Weakened]:
    """Yield failures that an existing test now catches and ignores."""
    for at, line in enumerate(region.lines):
        if line.mark == " " or not _CATCHES.search(code_of(line.text, region.language)):
            continue
        following = region.lines[at + 1].text if at + 1 < len(region.lines) else ""
        alone = not re.search(r"suppress\(|\{\s*\}|rescue\s+nil|pass\s*$", line.text)
        if not alone or _SWALLOWS.match(code_of(following, region.language)):
            yield Weakened(region.path, region.test, f"forgets failures: «{normalised(line.text)}»")


# What a test asserts, line by line, and how strictly.

_ASSERT = re.compile(
    r"\b(?:debug_)?[aA]ssert\w*\b|\bXCT(?:Assert\w*|Fail)\b|#(?:expect|require)\(|\b(?:EXPECT|ASSERT|REQUIRE|CHECK)(?:_\w+)?\s*\("
    r"|\bexpect\w*\s*[({]|\brequire\.\w+\(|\b[tb]\.(?:Error|Fatal|Fail)\w*\(|\bpytest\.(?:raises|warns|fail)\b"
    r"|\.[sS]hould\b|\bshould\w+\(|\brefute\w*\b|\.must_\w+|\.wont_\w+|\bverify(?:[A-Z_]\w*)?\(|\bpanic!\(|\bshould_panic\b"
)
_NO_ASSERT = re.compile(
    r"^\s*(?:import|from|use|using|#include|const\s*\{?.*require|@import|require|export|def|class|function|fn|func|fun|package)\b"
)
_EMPTY = re.compile(
    r"\bassert\s+(?:True|1|not\s+False|not\s+None|\"\"|\w+)\s*(?:,|$)"
    r"|\b[aA]ssert\w*!?[.\w]*\(\s*(?:t,\s*)?(?:[tT]rue|1|\w+\s*(?:==|is)\s*\w+\s+or\s+[tT]rue)\s*[,)]"
    r"|\bexpect\(\s*(?:true|1|\"\")\s*\)|\bor\s+True\b|\|\|\s*true\b"
    r"|\bassert(?:!|\.ok|True)?\(\s*\w+\s*[,)]|\bassert\.True\(t,\s*\w+\s*[,)]"
    r"|\bis\s+not\s+None\b|!==?\s*(?:null|undefined|nil|None)\b|\bnot\.?(?:toBeNull|toBeUndefined|\.to\.be\.null)"
    r"|\bnot_to\s+be_nil|\btoBe(?:Truthy|Defined)\(|\.to\.exist\b|\.to\.be\.ok\b|\bbe_truthy\b|\btoBeInstanceOf\("
    r"|\b[aA]?ssert\w*\.?(?:IsNotNone|NotNull|IsNotNull|NotNil|NoError|NotEmpty)\(|(?:assertNotNull|XCTAssertNotNil|refute_nil)\b"
    r"|\.is_(?:some|ok)\(\)|\bisinstance\(|\bassertIsInstance\(|\bInstanceOf\(|\bmock\.ANY\b|\bexpect\.anything\("
    r"|\bassert_instance_of\b|\bASSERT_(?:NE|TRUE)\(.*(?:nullptr|true)\s*[,)]|\bnot\.toThrow\(\s*\)|\bNotThrow\("
)
"""Assertions that are true of nearly everything."""
_LOOSE = re.compile(
    r"[^=!<>\-]>=?(?![=>])|[^=!<>]<=?(?![=<])|!==?|\b(?:toBe)?(?:GreaterThan|LessThan)\w*\("
    r"|\bassert(?:Greater|Less|NotEqual)\w*\(|\b(?:Greater|Less|NotEqual)\w*\(|\b(?:EXPECT|ASSERT)_(?:G|L|N)[TE]\("
    r"|\bassert_ne!|\bbe\s*[<>]=?|\bnot_to\s+eq\b|\bnot\.to(?:Be|Equal)\("
)
_EXACT = re.compile(r"(?<![=!<>])===?(?!=)")
"""An exact comparison, whatever else is in the line."""
_ARROWS = re.compile(r"=>|->|<\w[\w:<>, &']*>(?=[(>:.])|::<")


class Strength(IntEnum):
    EMPTY = 0
    LOOSE = 1
    EXACT = 2


class Claim(NamedTuple):
    """An assertion."""

    text: str
    strength: Strength
    about: Mentioned


def claims(region: Region) -> list[Claim]:
    found: list[Claim] = []
    for line in region.touched:
        plain = code_of(line.text, region.language)
        strength = _strength(plain, region.language)
        if strength is not None:
            found.append(
                Claim(normalised(line.text), strength, mentioned(line.text, region.language))
            )
    return found


def _strength(plain: str, language: Language) -> Strength | None:
    """Return how strictly a line asserts, or `None` if it is no assertion."""
    if language is languages.GO and (plain.lstrip().startswith("if ")):
        # in Go, the `if` that finds a difference is what fails the test
        return Strength.LOOSE if re.search(r"[<>]|[!=]= nil", plain) else Strength.EXACT
    if not _ASSERT.search(plain) or _NO_ASSERT.match(plain):
        return None
    if _EMPTY.search(plain):
        return Strength.EMPTY
    loose = _LOOSE.search(_ARROWS.sub("", plain)) and not _EXACT.search(plain)
    return Strength.LOOSE if loose else Strength.EXACT

"""Assertions that say less than before: fewer in a test, truer in any case, further from the figure, or caught."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from bot.domain.tampering.assertions import Claim, Strength, claims
from bot.domain.tampering.code import Spoken, code, same, spoken, together
from bot.domain.tampering.declared import Region, Suite
from bot.domain.tampering.deleted import Pair

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


def weakened(pairs: Sequence[Pair], old: Suite, new: Suite) -> Iterator[Weakened]:
    """Test by test, and outside of tests hunk by hunk."""
    there = _There(new)
    for before, after in [*pairs, *_around(old, new)]:
        if before.touched:
            yield from _compared(before, after, there)
        if after.touched and after.declared != "+":
            yield from _caught(after)
    for region in new.regions:
        for line in region.touched:
            if _ENDS_WELL.search(code(line.text, region.language)):
                yield Weakened(region.path, region.test, f"ends all with «{same(line.text)}»")


def _around(old: Suite, new: Suite) -> Iterator[Pair]:
    """What is touched outside of the tests that can be seen, on one side and on the other."""
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


class _There:
    """Assertions that were added anywhere: one that moved is not gone."""

    def __init__(self, new: Suite) -> None:
        self._shared: set[str] = set()
        self._single: Counter[str] = Counter()
        self._names: set[str] = set()
        for region in new.regions:
            texts = [same(line.text) for line in region.touched]
            if region.test:
                self._single.update(texts)
            else:
                self._shared.update(texts)
                self._names.update(*(claim.about.names for claim in claims(region)))

    def shares(self, claim: Claim, now: Spoken) -> bool:
        """A function of its own asserts it, and is given the figures."""
        known = Spoken(now.literals, now.names | self._names)
        return bool(claim.about.literals) and claim.about.within(known)

    def takes(self, text: str) -> bool:
        """What stands in a function of its own counts for every test that calls it."""
        if text in self._shared:
            return True
        if self._single[text] > 0:
            self._single[text] -= 1
            return True
        return False


def _compared(before: Region, after: Region, there: _There) -> Iterator[Weakened]:
    removed, added = claims(before), claims(after)
    if removed:
        left = Counter(claim.text for claim in added)
        left.subtract(Counter(claim.text for claim in removed))
        fresh = list(_exceeding(added, left))
        gone = _exceeding(removed, Counter({text: -n for text, n in left.items()}))
        held = _Held(after, fresh)
        lost = [
            one
            for one in gone
            if not (there.takes(one.text) or held.holds(one) or there.shares(one, held.all))
        ]
        yield from _less(before, lost, fresh)
    yield from _further(before, after)


def _exceeding(found: list[Claim], left: Counter[str]) -> Iterator[Claim]:
    """Those that stand on one side more often than on the other."""
    for claim in found:
        if left[claim.text] > 0:
            left[claim.text] -= 1
            yield claim


def _less(region: Region, lost: list[Claim], fresh: list[Claim]) -> Iterator[Weakened]:
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


class _Held:
    """What something at least as strict in the same test still speaks of."""

    def __init__(self, after: Region, fresh: list[Claim]) -> None:
        lines = [(same(line.text), line.text) for line in after.touched]
        self._by_strength = {
            strength: together(
                [spoken(text, after.language) for key, text in lines if key not in weaker]
            )
            for strength in Strength
            for weaker in [{one.text for one in fresh if one.strength < strength}]
        }

    @property
    def all(self) -> Spoken:
        return self._by_strength[Strength.EXACT]

    def holds(self, claim: Claim) -> bool:
        return claim.about.within(self._by_strength[claim.strength])


def _further(before: Region, after: Region) -> Iterator[Weakened]:
    """A larger tolerance, or fewer places."""
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
        return 0.0  # a version, or anything else with dots in it


def _caught(region: Region) -> Iterator[Weakened]:
    """Whatever fails in an old test is now caught and forgotten."""
    for at, line in enumerate(region.lines):
        if line.mark == " " or not _CATCHES.search(code(line.text, region.language)):
            continue
        following = region.lines[at + 1].text if at + 1 < len(region.lines) else ""
        alone = not re.search(r"suppress\(|\{\s*\}|rescue\s+nil|pass\s*$", line.text)
        if not alone or _SWALLOWS.match(code(following, region.language)):
            yield Weakened(region.path, region.test, f"forgets failures: «{same(line.text)}»")

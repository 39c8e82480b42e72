"""Finds tests that exist but do not run: marked, excluded by a focus, left at once, or under a false condition."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from bot.core.diffs import DiffLine, FileChange
from bot.core.tampering import languages
from bot.core.tampering.languages import Language, code_of, is_comment, normalised
from bot.core.tampering.tests import Region, Suite

_ALWAYS = {
    languages.PYTHON: re.compile(
        r"mark\.(?:skip|xfail)\b|\bexpectedFailure\b|^\s*@(?:unittest\.)?skip\b|\bpytest\.(?:skip|xfail)\("
        r"|\bskipTest\(|\bSkipTest\b|__test__\s*=\s*False|\bcollect_ignore"
    ),
    languages.JAVASCRIPT: re.compile(
        r"\b(?:it|test|describe|context|suite|specify)\.(?:\w+\.)*(?:skip|only|fixme|fails|failing)\b"
        r"|^\s*(?:xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe)\s*\(|\bthis\.skip\(|\bskip:\s*true"
    ),
    languages.RUST: re.compile(r"#\[ignore|#\[cfg\(any\(\)\)\]"),
    languages.GO: re.compile(r"\b[tb]\.Skip(?:f|Now)?\("),
    languages.JAVA: re.compile(
        r"@(?:Disabled|Ignore)\b(?!\w)|\bassume(?:True|False)\(|enabled\s*=\s*false"
    ),
    languages.CSHARP: re.compile(r"\[Ignore\b|\bSkip\s*=\s*\"|\bAssert\.(?:Ignore|Inconclusive)\("),
    languages.PHP: re.compile(r"\bmarkTest(?:Skipped|Incomplete)\(|->skip\("),
    languages.SWIFT: re.compile(r"\bXCTSkip\b|@Test\(.*\.disabled\("),
    languages.ELIXIR: re.compile(r"@(?:module)?tag\s+:?skip"),
    languages.SHELL: re.compile(r"^\s*skip\b"),
    languages.C: re.compile(r"\bGTEST_SKIP\b|\bDISABLED_\w+|\[!mayfail\]|\bTEST_IGNORE"),
    languages.RUBY: re.compile(
        r"^\s*(?:skip|pending)(?:\s*$|[\s(]+\"|\s+(?:if|unless)\b)|^\s*(?:x|f)(?:it|describe|context|specify)\b"
        r"|[,(]\s*:(?:skip|focus|pending)\b|\b(?:skip|focus|pending):\s*(?:true|\")"
    ),
}
_SOMETIMES = re.compile(
    r"\bskip(?:if|If|Unless)\b|\bimportorskip\(|\.(?:skipIf|runIf|todoIf)\(|@(?:Disabled|Enabled)(?:On|If|For)\w+"
    r"|#\[cfg_attr\(.*ignore|\bassumeThat\("
)
_NEVER_TRUE = re.compile(
    r"^\s*(?:\}?\s*else\s+)?(?:if|elif|while|unless)\s*\(?\s*(?:False|false|0|not\s+True|!true|!1)\s*\)?\s*(?::|\{|then|$)"
)
_OFF = re.compile(r"^#if\s+(?:0|false)\b")
_BUILD_TAG = re.compile(r"^//\s*(?:go:build|\+build)\s+ignore\b")
_LEAVES = re.compile(r"^\s*return(?:\s+(?:None|null|undefined|nil|true|Ok\(\(\)\)))?\s*;?\s*$")
_CONDITION = re.compile(r"^\W*(?:if|elif|else|unless|except|catch|rescue|case|when|guard)\b|\bif\b")
_HIDDEN = re.compile(r"^class\s+(?!Test)\w+")
_COLLECTED = re.compile(r"^class\s+Test\w*(?!.*TestCase)")


class Skipped(NamedTuple):
    path: str
    test: str
    says: str


def find_skipped(changes: list[FileChange], old: Suite, new: Suite) -> Iterator[Skipped]:
    """Yield what is skipped now and was not before."""
    before = Counter(key for region in old.regions for key, _ in _skip_marks(region, old))
    for region in new.regions:
        for key, line in _skip_marks(region, new):
            if before[key] > 0:
                before[key] -= 1
            else:
                yield Skipped(region.path, key[0], f"is skipped by «{normalised(line.text)}»")
    for region in new.regions:
        yield from _disabled_tests(region)
    yield from _hidden(old, new)
    yield from _tests_left_out(changes, new)


def _skip_marks(region: Region, suite: Suite) -> Iterator[tuple[tuple[str, str], DiffLine]]:
    """Yield each changed line that skips, with what it skips: its own test or the next one."""
    for at, line in enumerate(region.lines):
        if line.mark == " ":
            continue
        plain = code_of(line.text, region.language)
        always, sometimes = _ALWAYS[region.language].search(plain), _SOMETIMES.search(plain)
        if not (always or sometimes) or plain.lstrip().startswith(("import ", "from ", "use ")):
            continue
        target = _target(region, line, suite)
        fresh = region.fresh or (target is not None and target.declared == "+")
        bound = bool(sometimes) or _under_condition(region, at, plain)
        if fresh and bound and region.side == "+":
            continue  # a new test may declare where it cannot run
        yield (target.test if target else "", normalised(line.text) if not target else ""), line


def _under_condition(region: Region, at: int, plain: str) -> bool:
    before = code_of(region.lines[at - 1].text, region.language) if at else ""
    return any(_CONDITION.search(text) for text in (plain, before))


def _target(region: Region, line: DiffLine, suite: Suite) -> Region | None:
    # A decorator belongs to the test that directly follows, anything else to the test around it.
    leading = line.text.lstrip().startswith(("@", "#[", "[", "pytestmark"))
    if not leading:
        return region if region.test else None
    following = suite.after(region)
    return following if following and region.lines[-1:] and _near_end(region, line) else None


def _near_end(region: Region, line: DiffLine) -> bool:
    return any(other is line for other in region.lines[-8:])


def _disabled_tests(region: Region) -> Iterator[Skipped]:
    """Yield tests that return before their first line, or whose code is under a false condition."""
    for at, line in enumerate(region.lines):
        if line.mark == " ":
            continue
        if _NEVER_TRUE.match(code_of(line.text, region.language)):
            yield Skipped(region.path, region.test, f"does not run: «{normalised(line.text)}»")
        elif at == 1 and region.declared == " " and region.test and _LEAVES.match(line.text):
            yield Skipped(region.path, region.test, "is left before it begins")
        elif region.language is languages.C and _OFF.match(line.text):
            yield Skipped(region.path, region.test, f"does not run: «{normalised(line.text)}»")


def _hidden(old: Suite, new: Suite) -> Iterator[Skipped]:
    """Yield test classes that were given a name that runners do not collect."""
    hiding = {
        (region.path, line.run)
        for region in new.regions
        for line in region.touched
        if _HIDDEN.match(line.text)
    }
    for region in old.regions:
        for line in region.touched:
            if _COLLECTED.match(line.text) and (region.path, line.run) in hiding:
                yield Skipped(
                    region.path, "", f"no tests are looked for in «{normalised(line.text)}»"
                )


def _tests_left_out(changes: list[FileChange], new: Suite) -> Iterator[Skipped]:
    """Yield tests that were turned into a string literal or excluded from the build."""
    paths = {region.path: region.language for region in new.regions}
    for change in changes:
        language = paths.get(change.path)
        if language is None:
            continue
        for hunk in change.hunks:
            lines = [line for line in hunk.side("+") if line.text.strip()]
            for line, following in pairwise(lines):
                if line.mark == "+" and _leaves_out(line, following, language):
                    yield Skipped(
                        change.path, "", f"«{normalised(line.text)}» was put before tests"
                    )


def _leaves_out(line: DiffLine, following: DiffLine, language: Language) -> bool:
    if _BUILD_TAG.match(line.text):
        return True
    quote = line.text.strip() in ('"""', "'''", 'r"""', '_ = """')
    declares = language.named.search(following.text) or following.text.lstrip().startswith("@")
    return (
        quote
        and following.mark == " "
        and bool(declares)
        and not is_comment(following.text, language)
    )

"""Tests that no longer run because of what a sign in the diff says: whoever accepts that sign is not asked about them again.

Runners name tests in their own ways, so a name counts only where the file of the sign shows in it as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from bot.domain.tampering.signs import Flag, Sign

_CASE = r"(?:\([^()]*\))?(?:\[.*\])?(?:/.*)?(?: \(\d+\))?(?: with data set .*)?$"
"""What runners put behind the name of a test: parameters, a subtest, a number, a row of data."""
_FILLED_IN = re.compile(r"%[sdifjop#]|\\\$\\?\{?[\w.]+(?:\\?\})?")
"""Places in an escaped name that are filled in when it runs: `adds %i`, `adds $name`, `adds ${name}`."""
_WORD = re.compile(r"\w+")
_CRATES = ("lib", "main", "mod")


def explained(flags: Iterable[Flag], names: Sequence[str]) -> frozenset[str]:
    """Those of the tests (as their runner calls them) that are gone or skipped by these signs."""
    found: set[str] = set()
    for flag in flags:
        if flag.tests and flag.sign in (Sign.TEST_DELETED, Sign.TEST_SKIPPED):
            there = [name for name in names if _is_in(name, flag.path)]
            called = [_pattern(test) for test in flag.tests]
            found.update(name for name in there if any(one.search(name) for one in called))
    return frozenset(found)


def _pattern(test: str) -> re.Pattern[str]:
    if not test:
        return re.compile("")
    filled_in = _FILLED_IN.sub(".+?", re.escape(test))
    return re.compile(rf"(?<!\w){filled_in}{_CASE}")


def _is_in(name: str, path: str) -> bool:
    """Whether a test of that name may stand in that file."""
    file = PurePosixPath(path)
    before, told, _ = name.partition(file.name)
    if told:  # it names its file, perhaps from a folder further down
        return f"/{path}".endswith(f"/{before.removeprefix('./')}{told}")
    wanted = _named_after(file)
    return not wanted or wanted in {_plain(word) for word in _WORD.findall(name)}


def _named_after(file: PurePosixPath) -> str:
    """What shows in the name of a test where its file does not: a module, a class or a package. Empty: nothing does."""
    if file.suffix == ".go":
        return _plain(file.parent.name)
    if file.suffix == ".rs":
        if "tests" in file.parts[:-1]:
            return ""
        return _plain(
            ""
            if file.stem in ("lib", "main")
            else file.parent.name
            if file.stem == "mod"
            else file.stem
        )
    return _plain(file.stem)


def _plain(word: str) -> str:
    """`ShopTest` stands in shop_test.rb."""
    return word.replace("_", "").lower()

"""Signs in a diff that the tests were made to pass instead of the code; a person reviews them before anything goes on.

Only the diff counts, never what anybody says about it; honest work on tests should give no sign. What is read is
bounded, and nothing raises.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from bot.core.diffs import FileChange, read_patch
from bot.core.facts import Fact
from bot.core.git import Work
from bot.core.tampering.assertions import weakened
from bot.core.tampering.languages import has_test_file_name, test_language_of
from bot.core.tampering.runners import (
    is_ci,
    is_lock,
    is_test_settings,
    reaches_further,
    runner_touched,
    settings_touched,
)
from bot.core.tampering.skipped import find_skipped
from bot.core.tampering.tests import Suite, pair_tests, tests_of
from bot.core.text import cut


class Sign(StrEnum):
    TEST_DELETED = "test_deleted"
    TEST_SKIPPED = "test_skipped"
    ASSERTION_WEAKENED = "assertion_weakened"
    CI_CHANGED = "ci_changed"
    TEST_SETTINGS_CHANGED = "test_settings_changed"
    RUNNER_TOUCHED = "runner_touched"
    """The code itself ends, patches or replaces the test runner."""
    TESTS_MISSING = "tests_missing"
    """Tests that ran at the base did not run, or it is not visible whether they did."""
    REACHES_FURTHER = "reaches_further"
    """A file that acts elsewhere was changed, and the plan does not name it."""


class Flag(Fact):
    """One such sign and its place."""

    sign: Sign
    path: str
    says: str
    """The sign in a sentence, for people."""
    tests: tuple[str, ...] = ()
    """Deleted or skipped tests, by their names in the code. An empty name stands for every test of the file."""


# All signs in a patch, file by file, each reported once.

LONGEST_DIFF = 2_000_000
"""Characters that are read."""
MOST_FLAGS = 50
MOST_NAMES = 3
MOST_TESTS = 200
"""Tests that are kept with one sign."""
LONGEST_NAME = 80
MANY_SNAPSHOTS = 3
MANY_SNAPSHOT_LINES = 60
_SNAPSHOT = re.compile(
    r"(?:.*/)?(?:__snapshots__|__image_snapshots__|snapshots)/.+|.*\.(?:snap|ambr|golden|approved\.\w+|verified\.\w+|snapshot)"
)
Sighting = tuple[Sign, str, str] | tuple[Sign, str, str, tuple[str, ...]]
"""The sign, the path, its description, and the deleted or skipped tests."""


def find_flags(diff: str, files: Work | None = None) -> tuple[Flag, ...]:
    """Return the signs in a patch.

    `files`: the files that git reports as changed, even if the patch does not show them.
    """
    changes = read_patch(diff[:LONGEST_DIFF])
    told: defaultdict[tuple[Sign, str], dict[str, tuple[str, ...]]] = defaultdict(dict)
    for sign, path, says, *tests in _sightings(changes, files, cut=len(diff) > LONGEST_DIFF):
        told[sign, path][says] = tests[0] if tests else ()
    order = list(Sign)
    found = sorted(told.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    made = [_flag(sign, path, says) for (sign, path), says in found]
    if len(made) > MOST_FLAGS:
        last = made[MOST_FLAGS - 1]
        more = f"{last.says} There are {len(made) - MOST_FLAGS} more signs in other files."
        made[MOST_FLAGS - 1 :] = [last.model_copy(update={"says": more})]
    return tuple(made)


def _flag(sign: Sign, path: str, told: dict[str, tuple[str, ...]]) -> Flag:
    tests = tuple(dict.fromkeys(test for named in told.values() for test in named))
    return Flag(sign=sign, path=path, says=_name_list(list(told)), tests=tests[:MOST_TESTS])


def _sightings(changes: list[FileChange], files: Work | None, *, cut: bool) -> Iterator[Sighting]:
    yield from _tests(changes)
    yield from _snapshots(changes)
    yield from _settings(changes)
    if files:
        yield from _unseen(changes, files, cut=cut)


def _tests(changes: list[FileChange]) -> Iterator[Sighting]:
    old, new = tests_of(changes, "-"), tests_of(changes, "+")
    pairs, gone = pair_tests(old, new)
    with_file = _tests_of_deleted_files(changes, old, new)
    for region in gone:
        commented = region.test in new.commented
        sign = Sign.TEST_SKIPPED if commented else Sign.TEST_DELETED
        how = "is commented out" if commented else "is gone"
        yield (
            sign,
            region.path,
            f"{_test_name(region.test)} {how}",
            (region.test, *with_file[region.path]),
        )
    for one in find_skipped(changes, old, new):
        says = f"{_test_name(one.test)} {_shown(one.says)}".strip()
        yield Sign.TEST_SKIPPED, one.path, says, (one.test,) if one.test else ()
    for other in weakened(pairs, old, new):
        says = f"{_test_name(other.test)} {_shown(other.says)}".strip()
        yield Sign.ASSERTION_WEAKENED, other.path, says
    yield from _whole_files(changes, {region.path for region in old.declared})


def _tests_of_deleted_files(
    changes: list[FileChange], old: Suite, new: Suite
) -> defaultdict[str, list[str]]:
    """Return, for each deleted file, the tests whose names occur nowhere else, even if another test looks similar."""
    deleted = {change.path for change in changes if change.kind == "deleted"}
    kept = {region.test for region in new.declared}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for region in old.declared:
        if region.path in deleted and region.test not in kept:
            found[region.path].append(region.test)
    return found


def _whole_files(changes: list[FileChange], known: set[str]) -> Iterator[Sighting]:
    """Yield deleted test files whose tests are not visible."""
    fresh = {PurePosixPath(change.path).name for change in changes if change.kind == "new"}
    for change in changes:
        if change.kind == "deleted" and change.path not in known:
            if has_test_file_name(change.path) and PurePosixPath(change.path).name not in fresh:
                yield Sign.TEST_DELETED, change.path, "the whole file is gone", ("",)
        elif change.kind == "renamed" and _leaves_the_tests(change):
            says = f"it is {_shown(change.path)} now, where nobody looks for tests"
            yield Sign.TEST_DELETED, change.before, says, ("",)


def _leaves_the_tests(change: FileChange) -> bool:
    return test_language_of(change.before) is not None and test_language_of(change.path) is None


def _snapshots(changes: list[FileChange]) -> Iterator[Sighting]:
    """Yield recorded results that were re-recorded in large numbers or deleted."""
    recorded = [change for change in changes if _SNAPSHOT.fullmatch(change.path)]
    renewed = [change for change in recorded if change.kind == "changed"]
    lost = sum(line.mark == "-" for change in renewed for line in change.touched)
    if len(renewed) > MANY_SNAPSHOTS or lost > MANY_SNAPSHOT_LINES:
        says = f"recorded results were recorded anew in {len(renewed)} files, {lost} lines of them"
        yield Sign.ASSERTION_WEAKENED, renewed[0].path, says
    gone = [change for change in recorded if change.kind == "deleted"]
    made = sum(change.kind == "new" for change in recorded)
    if len(gone) > made:
        says = f"{len(gone) - made} files of recorded results are gone"
        yield Sign.ASSERTION_WEAKENED, gone[0].path, says


def _settings(changes: Iterable[FileChange]) -> Iterator[Sighting]:
    for change in changes:
        for path in dict.fromkeys((change.path, change.before)):
            yield from _of_file(path, change.kind)
        if line := runner_touched(change):
            yield Sign.RUNNER_TOUCHED, change.path, f"what runs the tests: «{_shown(line)}»"
        if line := settings_touched(change):
            yield Sign.TEST_SETTINGS_CHANGED, change.path, f"how tests are run: «{_shown(line)}»"


def _of_file(path: str, how: str) -> Iterator[Sighting]:
    if is_ci(path):
        yield Sign.CI_CHANGED, path, f"the file is {how}"
    elif is_test_settings(path):
        yield Sign.TEST_SETTINGS_CHANGED, path, f"the file is {how}"


def _unseen(changes: list[FileChange], files: Work, *, cut: bool) -> Iterator[Sighting]:
    """Yield files that git reports and the patch does not show, or not completely."""
    whole = changes[:-1] if cut else changes
    # a single NUL in a comment makes git treat a test file as binary
    seen = {change.path for change in whole if not change.binary}
    seen |= {change.before for change in changes if change.before != change.path}
    made = {PurePosixPath(path).name for path in files.created_files}
    kinds = (("new", files.created_files), ("changed", files.changed_files))
    for how, paths in (*kinds, ("deleted", files.deleted_files)):
        for path in paths:
            if path in seen:
                continue
            yield from _of_file(path, how)
            if (
                how == "deleted"
                and has_test_file_name(path)
                and PurePosixPath(path).name not in made
            ):
                yield Sign.TEST_DELETED, path, "the whole file is gone", ("",)
            elif how == "changed" and has_test_file_name(path) and test_language_of(path):
                yield Sign.ASSERTION_WEAKENED, path, "its patch cannot be looked at here"


def _test_name(test: str) -> str:
    return f"«{_shown(test)}»" if test else ""


def _shown(text: str) -> str:
    return cut(" ".join(text.split()), LONGEST_NAME * 2)


def _name_list(says: list[str]) -> str:
    told = "; ".join(says[:MOST_NAMES])
    more = len(says) - MOST_NAMES
    return (
        f"{told[:1].upper()}{told[1:]}; and {more} more."
        if more > 0
        else f"{told[:1].upper()}{told[1:]}."
    )


# Files that act elsewhere with more rights than an agent has (git hooks, installed packages) and were changed although
# the plan does not name them: nobody has approved that. CI has a sign of its own, planned or not.

MOST_UNPLANNED = 20


def unplanned_flags(work: Work, named: Collection[str]) -> tuple[Flag, ...]:
    """Return the signs.

    `work`: the files that git reports as changed; `named`: the files that people have seen in the plan.
    """
    known = {_plain(path) for path in named}
    found = [one for one in _unplanned_sightings(work) if _plain(one.path) not in known]
    if len(found) > MOST_UNPLANNED:
        last, more = found[MOST_UNPLANNED - 1], len(found) - MOST_UNPLANNED
        says = f"{last.says} There are {more} more such files."
        found[MOST_UNPLANNED - 1 :] = [last.model_copy(update={"says": says})]
    return tuple(found)


def _unplanned_sightings(work: Work) -> Iterator[Flag]:
    kinds = (("new", work.created_files), ("changed", work.changed_files))
    for how, paths in (*kinds, ("deleted", work.deleted_files)):
        for path in paths:
            if reaches_further(path) and not is_ci(path):
                what = "is installed" if is_lock(path) else "runs on machines of others"
                says = f"The plan does not name it; it decides what {what}, and is {how}."
                yield Flag(sign=Sign.REACHES_FURTHER, path=path, says=says)


def _plain(path: str) -> str:
    return str(PurePosixPath(path))


# Which missing tests a sign in the diff explains: whoever accepts the sign is not asked about them again. Runners name
# tests in their own ways, so a name counts only if it shows the sign's file as well.

_CASE = r"(?:\([^()]*\))?(?:\[.*\])?(?:/.*)?(?: \(\d+\))?(?: with data set .*)?$"
"""What runners append to a test's name: parameters, a subtest, a number, a data row."""
_FILLED_IN = re.compile(r"%[sdifjop#]|\\\$\\?\{?[\w.]+(?:\\?\})?")
"""Placeholders in an escaped name that are filled in at run time: `adds %i`, `adds $name`, `adds ${name}`."""
_WORD = re.compile(r"\w+")
_CRATES = ("lib", "main", "mod")


def explained_tests(flags: Iterable[Flag], names: Sequence[str]) -> frozenset[str]:
    """Return those of the tests (by their runner's names) that were deleted or skipped according to these signs."""
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
    """Whether a test of that name may be in that file."""
    file = PurePosixPath(path)
    before, told, _ = name.partition(file.name)
    if told:  # it names its file, perhaps relative to a subfolder
        return f"/{path}".endswith(f"/{before.removeprefix('./')}{told}")
    wanted = _named_after(file)
    return not wanted or wanted in {_explained_plain(word) for word in _WORD.findall(name)}


def _named_after(file: PurePosixPath) -> str:
    """Return what a test's name shows if not the file: a module, a class or a package. Empty if there is nothing."""
    if file.suffix == ".go":
        return _explained_plain(file.parent.name)
    if file.suffix == ".rs":
        if "tests" in file.parts[:-1]:
            return ""
        return _explained_plain(
            ""
            if file.stem in ("lib", "main")
            else file.parent.name
            if file.stem == "mod"
            else file.stem
        )
    return _explained_plain(file.stem)


def _explained_plain(word: str) -> str:
    # `ShopTest` is in shop_test.rb.
    return word.replace("_", "").lower()

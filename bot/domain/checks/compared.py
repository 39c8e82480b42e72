"""What ran, held against the base: only new failures count, and tests that no longer run are a sign for a person."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from bot.domain.checks.reports import Report
from bot.domain.facts import Fact

MOST_NAMES = 5
"""Of each kind in one sentence."""
MOST_KEPT = 50
"""Names that are kept of a check in its session; the whole report lies in a file."""
_PARAMETERS = re.compile(r"(?<=\w)\([\w., ]*\)$|(?:(?<=\w)\([\w., ]*\))?\[.*\]$| \(\d+\)$")
_PARTS = re.compile(r"::|\.|#| > |/")


class Compared(Fact):
    """One test run and the base's."""

    seen: bool
    """Whether the runner told which tests ran."""
    ran: int = 0
    base_ran: int | None = None
    """None: of the base nothing is known."""
    failed: tuple[str, ...] = ()
    """The tests that fail and did not at the base, the first of them."""
    new_failures: int = 0
    known_failures: int = 0
    """Tests that fail and did so at the base."""
    complete: bool = True
    """Whether the runner came to its end."""
    signs: tuple[str, ...] = ()
    """What a person must see before it counts, a sentence each."""

    @property
    def told(self) -> str:
        """What is said behind «passed»."""
        if not self.seen:
            return ", but which tests ran cannot be seen"
        known = f", {self.known_failures} fail as at the base" if self.known_failures else ""
        return f" ({_tests(self.ran)}{known})"

    @property
    def failing(self) -> str:
        """How many tests fail that did not at the base, and which."""
        more = self.new_failures - len(self.failed[:MOST_NAMES])
        names = ", ".join(self.failed[:MOST_NAMES])
        verb = "fails" if self.new_failures == 1 else "fail"
        return f"{_tests(self.new_failures)} {verb} ({names}{f' and {more} more' if more else ''})"


def not_run(now: Report, base: Report) -> list[str]:
    """Tests that ran at the base and did not now."""
    return [
        name
        for name in base.named("passed", "failed")
        if now.tests.get(name, "skipped") == "skipped"
    ]


def compared(now: Report | None, base: Report | None, explained: Collection[str] = ()) -> Compared:
    """`explained`: tests that need not run any more, because a person has seen why."""
    if now is None:
        signs = (
            (
                f"The runner did not report which tests it ran; at the base it ran {_tests(base.ran)}.",
            )
            if base and base.ran
            else ()
        )
        return Compared(seen=False, base_ran=base.ran if base else None, signs=signs)
    before = set(base.named("failed")) if base else set[str]()
    failed = now.named("failed")
    new = [name for name in failed if name not in before]
    return Compared(
        seen=True,
        ran=now.ran,
        base_ran=base.ran if base else None,
        failed=tuple(new[:MOST_KEPT]),
        new_failures=len(new),
        known_failures=len(failed) - len(new),
        complete=now.complete,
        signs=tuple(_signs(now, base, explained)),
    )


def _signs(now: Report, base: Report | None, explained: Collection[str]) -> list[str]:
    found: list[str] = []
    if base and explained:
        left = {name: end for name, end in base.tests.items() if name not in explained}
        base = base.model_copy(update={"tests": left})
    if not now.complete and (base is None or base.complete):
        found.append("The run was ended before its tests were through.")
    if not now.ran and not (explained and base and not base.ran):
        there = f"; at the base {_tests(base.ran)} ran" if base and base.ran else ""
        found.append(f"No test ran{there}.")
    elif base:
        found += _less(now, base)
    return found


def _less(now: Report, base: Report) -> list[str]:
    found: list[str] = []
    ran_before = base.named("passed", "failed")
    short = Counter(map(_short, now.tests))
    gone = [name for name in ran_before if name not in now.tests and not short[_short(name)]]
    skipped = [name for name in ran_before if now.tests.get(name) == "skipped"]
    if gone:
        found.append(f"{_count(gone)} of the base's did not run: {_listed(gone)}.")
    if skipped:
        found.append(
            f"{_count(skipped)} that ran at the base {_is(skipped)} skipped: {_listed(skipped)}."
        )
    if now.ran < base.ran and not found:
        found.append(f"Fewer tests ran than at the base: {now.ran} instead of {base.ran}.")
    return found


def _short(name: str) -> str:
    """Its own name without its file and class: a test that was moved is not gone."""
    plain = _PARAMETERS.sub("", name)
    return _PARTS.split(plain)[-1].strip() or name


def _tests(number: int) -> str:
    return "1 test" if number == 1 else f"{number} tests"


def _count(names: list[str]) -> str:
    return _tests(len(names))


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    told = ", ".join(names[:MOST_NAMES])
    return f"{told} and {more} more" if more > 0 else told

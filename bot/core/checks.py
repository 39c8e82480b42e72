"""What a test run proves: which tests ran and how each ended, as the runner reports, and how that compares with the
base.

An exit code alone proves nothing: a tree can end its runner early, hide tests from it or replace the program.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any, Literal, NamedTuple, cast
from xml.etree import ElementTree

from bot.core.facts import Fact

# Reads the reports of test runners: our own lines, JUnit XML, JSON of jest and RSpec, TRX, and printed output of some.
# Unreadable lines are skipped. Everything is bounded, because the tested tree can write here, too.

ReportedOutcome = Literal["passed", "failed", "skipped"]
MOST_TESTS = 100_000
LONGEST_NAME = 400
_WORST_FIRST: tuple[ReportedOutcome, ...] = ("failed", "passed", "skipped")
_CARGO = re.compile(r"^test (\S.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b")
_CARGO_LINE = re.compile(r" \(line \d+\)")
_CARGO_SUITE = re.compile(r"^(?:(running) \d+ tests?$|test result: )")
_CARGO_BINARY = re.compile(
    r"^ +(?:Running (?:unittests )?(?:(\S+) \()?\S*?([^/\s]+?)-[0-9a-f]{16}\S*$|Doc-tests (\S+)$)"
)
"""cargo's line before the tests of a file: its path and its crate."""
_MINITEST = re.compile(r"^(\S+#test_\S.*?) = [\d.]+ s = ([.EFS])$")
_OUTCOMES: Mapping[str, ReportedOutcome] = {
    **dict.fromkeys(("ok", "pass", "passed", ".", "expected", "success", "todo"), "passed"),
    **dict.fromkeys(("FAILED", "fail", "failed", "E", "F", "error", "Failed", "Error"), "failed"),
    **dict.fromkeys(("ignored", "skip", "skipped", "S", "pending", "disabled"), "skipped"),
    "Passed": "passed",
    "NotExecuted": "skipped",
}


class Report(Fact):
    """Every test by name, and how it ended."""

    tests: dict[str, ReportedOutcome]
    complete: bool = True
    """Whether every runner that started also reported its end."""

    def named(self, *ends: ReportedOutcome) -> list[str]:
        return [name for name, end in self.tests.items() if end in ends]

    @property
    def ran(self) -> int:
        return sum(end != "skipped" for end in self.tests.values())


class ReportReader:
    """Collects reports file by file and line by line.

    `folders`: where the tree lies; they are cut off the names of tests.
    """

    def __init__(self, folders: Iterable[str] = ()) -> None:
        self._folders = tuple(f"{folder.rstrip('/')}/" for folder in folders if folder)
        self._tests: dict[str, ReportedOutcome] = {}
        self._printed_counts: Counter[str] = Counter()
        self._started_counts: Counter[str] = Counter()
        self._binary = ""
        self.seen = False

    def report(self) -> Report | None:
        """Return the report, or `None` if nothing was reported."""
        complete = all(n <= 0 for n in self._started_counts.values())
        return Report(tests=self._tests, complete=complete) if self.seen or not complete else None

    def file(self, name: str, text: str) -> None:
        """Read one file that a runner has written."""
        if name.endswith(".jsonl"):
            self._read_own_lines(text)
        elif name.endswith(".json"):
            self._read_json(text)
        elif name.endswith((".xml", ".trx")):
            self._read_xml(text)

    def read_output_line(self, line: str, runners: Collection[str]) -> None:
        """Read one line of the command's output.

        `runners`: those it is known to start; empty means that it may be any.
        """
        if line.startswith("{") and "go" in runners:
            self._read_go_event(line)
        elif _may_be_from("cargo", runners):
            self._read_cargo_line(line)
        if found := _MINITEST.match(line) if _may_be_from("minitest", runners) else None:
            self._add_numbered(found[1], _OUTCOMES[found[2]])

    def _read_cargo_line(self, line: str) -> None:
        if found := _CARGO.match(line):
            name = _CARGO_LINE.sub("", found[1])
            self._add_numbered(
                f"{self._binary} > {name}" if self._binary else name, _OUTCOMES[found[2]]
            )
        elif found := _CARGO_SUITE.match(line):
            # not counted as a report: with --quiet cargo names no test
            self._started_counts["cargo"] += 1 if found[1] else -1
        elif found := _CARGO_BINARY.match(line):
            file, crate, documented = found.groups()
            self._binary = f"{file} ({crate})" if file else crate or f"doc ({documented})"

    def _add_numbered(self, name: str, end: ReportedOutcome) -> None:
        # With a quiet cargo several crates may have a `tests::it_works`, and no line says which crate it is.
        self._printed_counts[name] += 1
        number = self._printed_counts[name]
        self._add(f"{name} ({number})" if number > 1 else name, end)

    def _add(self, name: str, end: ReportedOutcome) -> None:
        self.seen = True
        for folder in self._folders:
            name = name.replace(folder, "")
        name = " ".join(name.split())[:LONGEST_NAME]
        known = self._tests.get(name)
        if known is None and len(self._tests) >= MOST_TESTS:
            return
        ends = (end, known) if known else (end,)
        self._tests[name] = next(one for one in _WORST_FIRST if one in ends)

    def _read_own_lines(self, text: str) -> None:
        """Read the lines of our own reporters."""
        for line in text.splitlines():
            told = _object(line)
            if "begin" in told or "end" in told:
                self.seen = True
                self._started_counts[str(told.get("begin") or told.get("end"))] += (
                    1 if "begin" in told else -1
                )
            elif isinstance(name := told.get("test"), str):
                self._add(name, _OUTCOMES.get(str(told.get("ended")), "failed"))

    def _read_go_event(self, line: str) -> None:
        """Read one event of `go test -json`."""
        told = _object(line)
        package, test, action = told.get("Package"), told.get("Test"), str(told.get("Action"))
        if package and action in ("pass", "fail", "skip"):
            self.seen = True
            if isinstance(test, str):
                self._add(f"{package}.{test}", _OUTCOMES[action])

    def _read_json(self, text: str) -> None:
        told = _object(text)
        for file in _objects(told.get("testResults")):  # jest, vitest
            self.seen = True
            where = str(file.get("name", ""))
            for one in _objects(file.get("assertionResults")):
                name = f"{where} > {one.get('fullName') or one.get('title')}"
                self._add(name, _OUTCOMES.get(str(one.get("status")), "failed"))
            if file.get("status") == "failed" and not file.get("assertionResults"):
                self._add(where, "failed")

    def _read_xml(self, text: str) -> None:
        # no runner's report has a DOCTYPE; with one, entities could expand to gigabytes
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            return
        try:
            root = ElementTree.fromstring(text)  # noqa: S314 - see above
        except ElementTree.ParseError:
            return
        self.seen = True
        for one in root.iter():
            kind = one.tag.rpartition("}")[2]
            if kind == "testcase":
                inner = {child.tag for child in one}
                failed, skipped = inner & {"failure", "error"}, "skipped" in inner
                end = "failed" if failed else "skipped" if skipped else "passed"
                name = f"{one.get('classname', '')}.{one.get('name', '')}".strip(".")
                self._add(name, end)
            elif kind == "UnitTestResult":
                self._add(one.get("testName", ""), _OUTCOMES.get(one.get("outcome", ""), "failed"))


def _may_be_from(runner: str, runners: Collection[str]) -> bool:
    return not runners or runner in runners


def readable_output(text: str) -> str:
    """Return a command's output for people: go's JSON events become the lines that they carry."""
    if '"Action":' not in text:
        return text
    return "".join(_output_lines(text))


def _output_lines(text: str) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        told = _object(line) if line.startswith('{"') and '"Action":' in line else {}
        if not told:
            yield line
        elif isinstance(said := told.get("Output"), str):
            yield said


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _objects(value: object) -> Iterator[dict[str, Any]]:
    for one in cast("list[object]", value) if isinstance(value, list) else []:
        if isinstance(one, dict):
            yield cast("dict[str, Any]", one)


# A test run compared with the base: only new failures count, and tests that no longer run are reported to a person.

MOST_NAMES = 5
"""Test names of each kind in one sentence."""
MOST_KEPT = 50
"""Test names of a check that are kept in the session; the whole report is in a file."""
_PARAMETERS = re.compile(r"(?<=\w)\([\w., ]*\)$|(?:(?<=\w)\([\w., ]*\))?\[.*\]$| \(\d+\)$")
_PARTS = re.compile(r"::|\.|#| > |/")


class Comparison(Fact):
    """One test run compared with the base's."""

    seen: bool
    """Whether the runner reported which tests ran."""
    ran: int = 0
    base_ran: int | None = None
    """Tests that ran at the base; `None` if that is unknown."""
    failed: tuple[str, ...] = ()
    """Tests that fail now and did not at the base (only the first of them)."""
    new_failures: int = 0
    known_failures: int = 0
    """How many tests fail now and failed at the base."""
    complete: bool = True
    """Whether the runner reported its end."""
    signs: tuple[str, ...] = ()
    """What a person must see before the result counts, one sentence each."""
    missing: tuple[str, ...] = ()
    """Tests that ran at the base and not now, without explanation (only the first of them)."""
    added: tuple[str, ...] = ()
    """Tests that passed and did not run at the base (only the first of them)."""

    @property
    def told(self) -> str:
        """The text that follows «passed»."""
        if not self.seen:
            return ", but which tests ran cannot be seen"
        known = f", {self.known_failures} fail as at the base" if self.known_failures else ""
        return f" ({_tests(self.ran)}{known})"

    @property
    def failing(self) -> str:
        """How many tests fail that did not at the base, and their names."""
        more = self.new_failures - len(self.failed[:MOST_NAMES])
        names = ", ".join(self.failed[:MOST_NAMES])
        verb = "fails" if self.new_failures == 1 else "fail"
        return f"{_tests(self.new_failures)} {verb} ({names}{f' and {more} more' if more else ''})"


def tests_not_run(now: Report, base: Report) -> list[str]:
    """Return the tests that ran at the base and not now."""
    return [
        name
        for name in base.named("passed", "failed")
        if now.tests.get(name, "skipped") == "skipped"
    ]


def compare(now: Report | None, base: Report | None, explained: Collection[str] = ()) -> Comparison:
    """Compare two reports. `explained`: tests that may be missing because a person has accepted why."""
    if now is None:
        signs = (
            (
                f"The runner did not report which tests it ran; at the base it ran {_tests(base.ran)}.",
            )
            if base and base.ran
            else ()
        )
        return Comparison(seen=False, base_ran=base.ran if base else None, signs=signs)
    before = set(base.named("failed")) if base else set[str]()
    failed = now.named("failed")
    new = [name for name in failed if name not in before]
    ran_before = set(base.named("passed", "failed")) if base else set[str]()
    added = [name for name in now.named("passed") if base and name not in ran_before]
    return Comparison(
        seen=True,
        ran=now.ran,
        base_ran=base.ran if base else None,
        failed=tuple(new[:MOST_KEPT]),
        new_failures=len(new),
        known_failures=len(failed) - len(new),
        complete=now.complete,
        signs=tuple(_signs(now, base, explained)),
        missing=tuple(n for n in tests_not_run(now, base) if n not in explained)[:MOST_KEPT]
        if base
        else (),
        added=tuple(added[:MOST_KEPT]),
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
        found += _missing_tests(now, base)
    return found


def _missing_tests(now: Report, base: Report) -> list[str]:
    found: list[str] = []
    ran_before = base.named("passed", "failed")
    short = Counter(map(_bare_name, now.tests))
    gone = [name for name in ran_before if name not in now.tests and not short[_bare_name(name)]]
    skipped = [name for name in ran_before if now.tests.get(name) == "skipped"]
    if gone:
        found.append(f"{_count(gone)} of the base's did not run: {_listed(gone)}.")
    if skipped:
        found.append(
            f"{_count(skipped)} that ran at the base {_is_or_are(skipped)} skipped: {_listed(skipped)}."
        )
    if now.ran < base.ran and not found:
        found.append(f"Fewer tests ran than at the base: {now.ran} instead of {base.ran}.")
    return found


def _bare_name(name: str) -> str:
    # A test's name without its file and class: a test that was moved is not missing.
    plain = _PARAMETERS.sub("", name)
    return _PARTS.split(plain)[-1].strip() or name


def _tests(number: int) -> str:
    return "1 test" if number == 1 else f"{number} tests"


def _count(names: list[str]) -> str:
    return _tests(len(names))


def _is_or_are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    told = ", ".join(names[:MOST_NAMES])
    return f"{told} and {more} more" if more > 0 else told


# The test runners that a command starts, and how each is made to report its tests. The report goes to `place`, a folder
# with a random name that exists for one run only. Runners of Python and Node.js need no arguments: a module that is
# loaded before them (`adapters/commands/reporting`) detects which one starts.

REPORT_VARIABLE = "GWT_TEST_REPORT"
"""The variable that tells the reporters where to write."""
_BEFORE = r"(?:^|[\s;&|(/'\"=])"
_AFTER = r"(?=$|[\s;&|)'\"])"


class Runner(NamedTuple):
    name: str
    started: str
    """Pattern that finds the runner in a command or in a script of package.json."""
    arguments: str = ""
    """The arguments inserted right after the match; `{place}` is the folder, `{n}` a new number each time."""
    unless: str = ""
    """Pattern of arguments that a command may have already; then nothing is inserted."""
    variables: Mapping[str, str] = {}
    """Environment variables that configure its report."""
    text: bool = False
    """The runner's printed output is its report."""


class ReportingCommand(NamedTuple):
    """A command that reports its tests, and the environment variables it needs for that."""

    command: str
    environment: Mapping[str, str]
    runners: tuple[str, ...]


RUNNERS = (
    Runner("pytest", r"py\.?test"),
    Runner("unittest", r"unittest"),
    Runner("django", r"manage\.py\s+test"),
    Runner("jest", r"jest"),
    Runner("vitest", r"vitest"),
    Runner("mocha", r"mocha"),
    Runner("node", r"(?:node|tsx)\s[^;&|]*--test"),
    Runner("go", r"go\s+test", " -json", unless=r"\s-json\b", text=True),
    Runner(
        "cargo",
        r"cargo\s+(?:\+\S+\s+)?(?:test|t)",
        " --no-fail-fast",
        unless=r"\s--no-fail-fast\b",
        text=True,
    ),
    Runner(
        "gradle",
        r"(?:gradle|gradlew|gradlew\.bat)",
        " --init-script {place}/code/report.gradle --continue",
    ),
    Runner("maven", r"(?:mvn|mvnw|mvnd)", " --fail-at-end"),
    Runner(
        "rspec",
        r"rspec",
        variables={
            "SPEC_OPTS": "--require {place}/code/rspec_reporter.rb --format progress --format GwtReport"
        },
    ),
    Runner("minitest", r"rake\s+test", variables={"TESTOPTS": "-v"}, text=True),
    Runner("rails", r"rails\s+test", " -v", text=True),
    Runner("phpunit", r"phpunit", " --log-junit {place}/out/phpunit-{n}.xml"),
    Runner("dotnet", r"dotnet\s+test", " --logger trx --results-directory {place}/out"),
    Runner("ctest", r"ctest", " --output-junit {place}/out/ctest-{n}.xml"),
    Runner("bun", r"bun\s+test", " --reporter=junit --reporter-outfile={place}/out/bun-{n}.xml"),
    Runner("deno", r"deno\s+test", " --junit-path={place}/out/deno-{n}.xml"),
    Runner("bats", r"bats", " --report-formatter junit --output {place}/out"),
)
_STARTED = {one.name: re.compile(f"{_BEFORE}(?:{one.started}){_AFTER}") for one in RUNNERS}
_PACKAGE_SCRIPT = re.compile(rf"{_BEFORE}(?:npm|pnpm|yarn|bun|npx|turbo|nx)\s")
_OWN_PATH = re.compile(r"(?<!\w)PYTHONPATH=(['\"]?)")
_NODE_REPORTS = (
    "--test-reporter=spec --test-reporter-destination=stdout "
    '--test-reporter="{place}/code/node_reporter.mjs" --test-reporter-destination=stderr'
)


def recognised_runners(command: str, scripts: str = "") -> tuple[str, ...]:
    """Return the names of the runners that a command starts.

    `scripts`: the scripts of package.json, used if the command calls them. Empty if none is known, as for `make test`;
    what it runs may report all the same.
    """
    text = f"{command}\n{scripts}" if _PACKAGE_SCRIPT.search(command) else command
    return tuple(one.name for one in RUNNERS if _STARTED[one.name].search(text))


def make_reporting(command: str, place: str, scripts: str = "") -> ReportingCommand:
    """Return the command with what makes it report into `place`."""
    runners = recognised_runners(command, scripts)
    environment = {
        REPORT_VARIABLE: f"{place}/out",
        "PYTHONPATH": f"{place}/code",
        "NODE_OPTIONS": f'--require="{place}/code/node_hook.cjs"',
    }
    # node refuses to start with more reporters than destinations
    if "node" in runners and "--test-reporter" not in f"{command}{scripts}":
        environment["NODE_OPTIONS"] += f" {_NODE_REPORTS.format(place=place)}"
    # a PYTHONPATH that the command sets would replace ours
    told = _OWN_PATH.sub(rf"PYTHONPATH=\g<1>{place}/code:", command)
    quoted, numbers = shlex.quote(place), count(1)

    def behind(found: re.Match[str], arguments: str) -> str:
        # a command may start a runner several times, e.g. in each of its projects
        return found[0] + arguments.format(place=quoted, n=next(numbers))

    for one in RUNNERS:
        for name, how in one.variables.items():
            environment[name] = how.format(place=quoted)
        if one.arguments and not (one.unless and re.search(one.unless, command)):
            told = _STARTED[one.name].sub(partial(behind, arguments=one.arguments), told)
    return ReportingCommand(told, environment, runners)

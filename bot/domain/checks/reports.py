"""Reads what test runners report: our own lines, JUnit XML, JSON of jest, TRX, and what some of them print.

What cannot be read says nothing. Everything is bounded: the tree that is tested can write here, too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, cast
from xml.etree import ElementTree

from bot.domain.facts import Fact

Ended = Literal["passed", "failed", "skipped"]
MOST_TESTS = 100_000
LONGEST_NAME = 400
_WORST: tuple[Ended, ...] = ("failed", "passed", "skipped")
_CARGO = re.compile(r"^test (\S.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b")
_CARGO_LINE = re.compile(r" \(line \d+\)")
_CARGO_SUITE = re.compile(r"^(?:(running) \d+ tests?$|test result: )")
_CARGO_BINARY = re.compile(
    r"^ +(?:Running (?:unittests )?(?:(\S+) \()?\S*?([^/\s]+?)-[0-9a-f]{16}\S*$|Doc-tests (\S+)$)"
)
"""Which file is tested, as cargo says before its tests: its path, and the crate."""
_MINITEST = re.compile(r"^(\S+#test_\S.*?) = [\d.]+ s = ([.EFS])$")
_ENDS: Mapping[str, Ended] = {
    **dict.fromkeys(("ok", "pass", "passed", ".", "expected", "success", "todo"), "passed"),
    **dict.fromkeys(("FAILED", "fail", "failed", "E", "F", "error", "Failed", "Error"), "failed"),
    **dict.fromkeys(("ignored", "skip", "skipped", "S", "pending", "disabled"), "skipped"),
    "Passed": "passed",
    "NotExecuted": "skipped",
}


class Report(Fact):
    """Every test by name, and how it ended."""

    tests: dict[str, Ended]
    complete: bool = True
    """Whether every runner that began came to its end."""

    def named(self, *ends: Ended) -> list[str]:
        return [name for name, end in self.tests.items() if end in ends]

    @property
    def ran(self) -> int:
        return sum(end != "skipped" for end in self.tests.values())


class Reader:
    """Collects what is reported file by file and line by line. `folders`: where the tree lies; names are told below it."""

    def __init__(self, folders: Iterable[str] = ()) -> None:
        self._folders = tuple(f"{folder.rstrip('/')}/" for folder in folders if folder)
        self._tests: dict[str, Ended] = {}
        self._printed: Counter[str] = Counter()
        self._begun: Counter[str] = Counter()
        self._binary = ""
        self.seen = False

    def report(self) -> Report | None:
        """None: nothing was reported at all."""
        complete = all(n <= 0 for n in self._begun.values())
        return Report(tests=self._tests, complete=complete) if self.seen or not complete else None

    def file(self, name: str, text: str) -> None:
        """One file that a runner has written."""
        if name.endswith(".jsonl"):
            self._lines(text)
        elif name.endswith(".json"):
            self._json(text)
        elif name.endswith((".xml", ".trx")):
            self._xml(text)

    def printed(self, line: str, runners: Collection[str]) -> None:
        """A line of what the command has said. `runners`: those it is known to start; none: it may be any."""
        if line.startswith("{") and "go" in runners:
            self._event(line)
        elif _may("cargo", runners):
            self._cargo(line)
        if found := _MINITEST.match(line) if _may("minitest", runners) else None:
            self._nth(found[1], _ENDS[found[2]])

    def _cargo(self, line: str) -> None:
        if found := _CARGO.match(line):
            name = _CARGO_LINE.sub("", found[1])
            self._nth(f"{self._binary} > {name}" if self._binary else name, _ENDS[found[2]])
        elif found := _CARGO_SUITE.match(line):
            # by itself it shows nothing: with --quiet no test is named
            self._begun["cargo"] += 1 if found[1] else -1
        elif found := _CARGO_BINARY.match(line):
            file, crate, documented = found.groups()
            self._binary = f"{file} ({crate})" if file else crate or f"doc ({documented})"

    def _nth(self, name: str, end: Ended) -> None:
        """Where cargo is quiet each crate has its own `tests::it_works`, and no line says which."""
        self._printed[name] += 1
        number = self._printed[name]
        self._add(f"{name} ({number})" if number > 1 else name, end)

    def _add(self, name: str, end: Ended) -> None:
        self.seen = True
        for folder in self._folders:
            name = name.replace(folder, "")
        name = " ".join(name.split())[:LONGEST_NAME]
        known = self._tests.get(name)
        if known is None and len(self._tests) >= MOST_TESTS:
            return
        ends = (end, known) if known else (end,)
        self._tests[name] = next(one for one in _WORST if one in ends)

    def _lines(self, text: str) -> None:
        """Of our own reporters."""
        for line in text.splitlines():
            told = _object(line)
            if "begin" in told or "end" in told:
                self.seen = True
                self._begun[str(told.get("begin") or told.get("end"))] += (
                    1 if "begin" in told else -1
                )
            elif isinstance(name := told.get("test"), str):
                self._add(name, _ENDS.get(str(told.get("ended")), "failed"))

    def _event(self, line: str) -> None:
        """One of `go test -json`."""
        told = _object(line)
        package, test, action = told.get("Package"), told.get("Test"), str(told.get("Action"))
        if package and action in ("pass", "fail", "skip"):
            self.seen = True
            if isinstance(test, str):
                self._add(f"{package}.{test}", _ENDS[action])

    def _json(self, text: str) -> None:
        told = _object(text)
        for file in _objects(told.get("testResults")):  # jest, vitest
            self.seen = True
            where = str(file.get("name", ""))
            for one in _objects(file.get("assertionResults")):
                name = f"{where} > {one.get('fullName') or one.get('title')}"
                self._add(name, _ENDS.get(str(one.get("status")), "failed"))
            if file.get("status") == "failed" and not file.get("assertionResults"):
                self._add(where, "failed")

    def _xml(self, text: str) -> None:
        # no report has a DOCTYPE; with one, entities could make gigabytes of it
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
                self._add(one.get("testName", ""), _ENDS.get(one.get("outcome", ""), "failed"))


def _may(runner: str, runners: Collection[str]) -> bool:
    return not runners or runner in runners


def readable(text: str) -> str:
    """What a command has said, as people read it: go's events become the lines they carry."""
    if '"Action":' not in text:
        return text
    return "".join(_readable(text))


def _readable(text: str) -> Iterator[str]:
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

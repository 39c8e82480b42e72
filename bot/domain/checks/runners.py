"""Which test runners a command starts, and how each is made to report the tests it ran.

The report goes to `place`, a folder whose name is random and exists for one run only. The runners of Python, Node.js and RSpec
need no arguments: what is loaded before them (`adapters/commands/reporting`) finds out which one starts. Where a runner stops
at the first part that fails it is told to go on: only new failures count, and those of the other parts have to be seen for that.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import partial
from itertools import count
from typing import NamedTuple

PLACE = "GWT_TEST_REPORT"
"""The variable that tells the reporters where to write."""
_BEFORE = r"(?:^|[\s;&|(/'\"=])"
_AFTER = r"(?=$|[\s;&|)'\"])"


class Runner(NamedTuple):
    name: str
    started: str
    """A pattern of how it stands in a command or in a script of package.json."""
    arguments: str = ""
    """What is put right behind that; `{place}` is the folder, `{n}` another number each time."""
    unless: str = ""
    """A pattern of what a command says by itself, and not twice."""
    variables: Mapping[str, str] = {}
    """What it reads from its environment instead."""
    text: bool = False
    """Its report is what it prints."""


class Reporting(NamedTuple):
    """A command that reports, and the variables it needs for that."""

    command: str
    environment: Mapping[str, str]
    runners: tuple[str, ...]


TABLE = (
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
_STARTED = {one.name: re.compile(f"{_BEFORE}(?:{one.started}){_AFTER}") for one in TABLE}
_PACKAGE_SCRIPT = re.compile(rf"{_BEFORE}(?:npm|pnpm|yarn|bun|npx|turbo|nx)\s")
_OWN_PATH = re.compile(r"(?<!\w)PYTHONPATH=(['\"]?)")
_NODE_REPORTS = (
    "--test-reporter=spec --test-reporter-destination=stdout "
    '--test-reporter="{place}/code/node_reporter.mjs" --test-reporter-destination=stderr'
)


def recognised(command: str, scripts: str = "") -> tuple[str, ...]:
    """The names of the runners it starts. `scripts`: what package.json runs, where the command goes through it.

    Empty: none that is known, as behind `make test`; what it runs may report all the same.
    """
    text = f"{command}\n{scripts}" if _PACKAGE_SCRIPT.search(command) else command
    return tuple(one.name for one in TABLE if _STARTED[one.name].search(text))


def reporting(command: str, place: str, scripts: str = "") -> Reporting:
    """The same command, made to report into `place`."""
    runners = recognised(command, scripts)
    environment = {
        PLACE: f"{place}/out",
        "PYTHONPATH": f"{place}/code",
        "NODE_OPTIONS": f'--require="{place}/code/node_hook.cjs"',
    }
    # twice as many reporters as destinations would stop it
    if "node" in runners and "--test-reporter" not in f"{command}{scripts}":
        environment["NODE_OPTIONS"] += f" {_NODE_REPORTS.format(place=place)}"
    # what a command sets by itself would take the place of ours
    told = _OWN_PATH.sub(rf"PYTHONPATH=\g<1>{place}/code:", command)
    quoted, numbers = shlex.quote(place), count(1)

    def behind(found: re.Match[str], arguments: str) -> str:
        # a command may start one several times, as in each of its projects
        return found[0] + arguments.format(place=quoted, n=next(numbers))

    for one in TABLE:
        for name, how in one.variables.items():
            environment[name] = how.format(place=quoted)
        if one.arguments and not (one.unless and re.search(one.unless, command)):
            told = _STARTED[one.name].sub(partial(behind, arguments=one.arguments), told)
    return Reporting(told, environment, runners)

"""Which test runners a command starts, and how each is made to report the tests it ran.

The report goes to `place`, a folder whose name is random and exists for one run only. Python's runners and those of Node.js
need no arguments: what is loaded before them (`adapters/commands/reporting`) finds out which one starts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
    """What is put right behind that; `{place}` is the folder."""
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
    Runner("go", r"go\s+test", " -json", text=True),
    Runner("cargo", r"cargo\s+(?:\+\S+\s+)?(?:test|t)", text=True),
    Runner(
        "gradle", r"(?:gradle|gradlew|gradlew\.bat)", " --init-script {place}/code/report.gradle"
    ),
    Runner("maven", r"(?:mvn|mvnw|mvnd)"),
    Runner(
        "rspec",
        r"rspec",
        variables={"SPEC_OPTS": "--format progress --format json --out {place}/out/rspec.json"},
    ),
    Runner("minitest", r"(?:rake|rails)\s+test", variables={"TESTOPTS": "-v"}, text=True),
    Runner("phpunit", r"phpunit", " --log-junit {place}/out/phpunit.xml"),
    Runner("dotnet", r"dotnet\s+test", " --logger trx --results-directory {place}/out"),
    Runner("ctest", r"ctest", " --output-junit {place}/out/ctest.xml"),
    Runner("bun", r"bun\s+test", " --reporter=junit --reporter-outfile={place}/out/bun.xml"),
    Runner("deno", r"deno\s+test", " --junit-path={place}/out/deno.xml"),
    Runner("bats", r"bats", " --report-formatter junit --output {place}/out"),
)
_STARTED = {one.name: re.compile(f"{_BEFORE}(?:{one.started}){_AFTER}") for one in TABLE}
_PACKAGE_SCRIPT = re.compile(rf"{_BEFORE}(?:npm|pnpm|yarn|bun|npx|turbo|nx)\s")
_OWN_PATH = re.compile(r"(?<!\w)PYTHONPATH=(['\"]?)")
_NODE_REPORTS = (
    "--test-reporter=spec --test-reporter-destination=stdout "
    "--test-reporter={place}/code/node_reporter.mjs --test-reporter-destination=stderr"
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
        "NODE_OPTIONS": f"--require={place}/code/node_hook.cjs",
    }
    # twice as many reporters as destinations would stop it
    if "node" in runners and "--test-reporter" not in f"{command}{scripts}":
        environment["NODE_OPTIONS"] += f" {_NODE_REPORTS.format(place=place)}"
    # what a command sets by itself would take the place of ours
    told = _OWN_PATH.sub(rf"PYTHONPATH=\g<1>{place}/code:", command)
    for one in TABLE:
        environment.update({name: how.format(place=place) for name, how in one.variables.items()})
        if one.arguments and not (one.name == "go" and re.search(r"\s-json\b", command)):
            added = one.arguments.format(place=place)
            told = _STARTED[one.name].sub(lambda found, added=added: found[0] + added, told)
    return Reporting(told, environment, runners)

"""Which runner a command starts, what each one's report says, and how that compares with the base's."""

from __future__ import annotations

import json

import pytest

from bot.core.checks import (
    Report,
    ReportedOutcome,
    ReportReader,
    compare,
    make_reporting,
    readable_output,
    recognised_runners,
)

COMMANDS = [
    ("python3 -m pytest", "pytest"),
    ("uv run pytest -q", "pytest"),
    ("poetry run python -m pytest tests/", "pytest"),
    (".venv/bin/pytest", "pytest"),
    ("PYTHONPATH=src python3 -m pytest", "pytest"),
    ("python3 -m unittest discover -s tests", "unittest"),
    ("python manage.py test", "django"),
    ("npx jest --ci", "jest"),
    ("pnpm exec vitest run", "vitest"),
    ("node_modules/.bin/mocha", "mocha"),
    ("node --import tsx --test", "node"),
    ("go test ./...", "go"),
    ("(cd api && go test ./...)", "go"),
    ("cargo test --workspace", "cargo"),
    ("./gradlew test", "gradle"),
    ("./mvnw -B test", "maven"),
    ("bundle exec rspec", "rspec"),
    ("bundle exec rake test", "minitest"),
    ("vendor/bin/phpunit", "phpunit"),
    ("dotnet test", "dotnet"),
    ("ctest --test-dir build", "ctest"),
    ("bun test", "bun"),
    ("deno test", "deno"),
    ("bats test", "bats"),
]


@pytest.mark.parametrize(("command", "runner"), COMMANDS)
def test_a_runner_is_known_by_its_command(command: str, runner: str) -> None:
    assert recognised_runners(command) == (runner,)


@pytest.mark.parametrize("command", ["make test", "./run-tests.sh", "tox", "echo latest", "true"])
def test_a_command_that_names_no_runner_is_of_none(command: str) -> None:
    assert recognised_runners(command) == ()


def test_what_a_package_script_runs_is_a_runner_of_its_command() -> None:
    assert recognised_runners("npm test", "tsc && vitest run") == ("vitest",)
    assert recognised_runners("make test", "vitest run") == ()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("go test ./...", "go test -json ./..."),
        ("go test -json ./...", "go test -json ./..."),
        ("(cd api && go test) && go vet", "(cd api && go test -json) && go vet"),
        ("./gradlew check", "./gradlew --init-script /r/code/report.gradle --continue check"),
        ("cargo test -p shop", "cargo test --no-fail-fast -p shop"),
        ("cargo test --no-fail-fast", "cargo test --no-fail-fast"),
        ("mvn -B test", "mvn --fail-at-end -B test"),
        ("PYTHONPATH=src pytest", "PYTHONPATH=/r/code:src pytest"),
        ("PYTHONPATH='a b' pytest", "PYTHONPATH='/r/code:a b' pytest"),
        (
            "phpunit a && phpunit b",
            "phpunit --log-junit /r/out/phpunit-1.xml a && phpunit --log-junit /r/out/phpunit-2.xml b",
        ),
        ("make test", "make test"),
    ],
)
def test_a_command_is_told_where_to_report(command: str, told: str) -> None:
    assert make_reporting(command, "/r").command == told


def test_reporters_of_node_are_not_added_to_others() -> None:
    assert "--test-reporter=spec" in make_reporting("node --test", "/r").environment["NODE_OPTIONS"]
    own = make_reporting("node --test --test-reporter=tap", "/r")
    assert "--test-reporter" not in own.environment["NODE_OPTIONS"]


JUNIT = """<?xml version="1.0"?><testsuites><testsuite name="shop">
<testcase classname="shop.PriceTest" name="adds" time="0.1"/>
<testcase classname="shop.PriceTest" name="rounds"><failure message="x">y</failure></testcase>
<testcase classname="shop.PriceTest" name="later"><skipped/></testcase>
</testsuite></testsuites>"""
TRX = """<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results>
<UnitTestResult testName="Price.Adds" outcome="Passed"/><UnitTestResult testName="Price.Rounds" outcome="Failed"/>
<UnitTestResult testName="Price.Later" outcome="NotExecuted"/></Results></TestRun>"""
JEST: dict[str, object] = {
    "testResults": [
        {
            "name": "/w/price.test.js",
            "status": "failed",
            "assertionResults": [
                {"fullName": "adds", "status": "passed"},
                {"fullName": "rounds", "status": "failed"},
                {"fullName": "later", "status": "pending"},
            ],
        },
        {"name": "/w/broken.test.js", "status": "failed", "assertionResults": []},
    ]
}
FILES: list[tuple[str, str, dict[str, ReportedOutcome]]] = [
    (
        "a.xml",
        JUNIT,
        {
            "shop.PriceTest.adds": "passed",
            "shop.PriceTest.rounds": "failed",
            "shop.PriceTest.later": "skipped",
        },
    ),
    (
        "a.trx",
        TRX,
        {"Price.Adds": "passed", "Price.Rounds": "failed", "Price.Later": "skipped"},
    ),
    (
        "a.json",
        json.dumps(JEST),
        {
            "price.test.js > adds": "passed",
            "price.test.js > rounds": "failed",
            "price.test.js > later": "skipped",
            "broken.test.js": "failed",
        },
    ),
]


@pytest.mark.parametrize(("name", "text", "tests"), FILES)
def test_a_report_says_how_each_test_ended(
    name: str, text: str, tests: dict[str, ReportedOutcome]
) -> None:
    reader = ReportReader(["/w"])
    reader.file(name, text)
    assert reader.report() == Report(tests=tests)


PRINTED = [
    (
        "cargo",
        (
            "test price::adds ... ok\ntest price::rounds ... FAILED\ntest later ... ignored\n"
            "test src/lib.rs - add (line 12) ... ok\ntest price::adds ... ok\ntest result: ok. 1 passed\n"
        ),
        {
            "price::adds": "passed",
            "price::rounds": "failed",
            "later": "skipped",
            "src/lib.rs - add": "passed",
            "price::adds (2)": "passed",
        },
    ),
    (
        "cargo",
        (
            "     Running unittests src/lib.rs (target/debug/deps/shop-507999230d6984fa)\n\nrunning 1 test\n"
            "test tests::adds ... ok\n\ntest result: ok. 1 passed\n"
            "     Running tests/whole.rs (/t/debug/deps/whole-c4caf2aed8f93934)\n"
            "test adds ... ok\n   Doc-tests shop\ntest src/lib.rs - add (line 12) ... ok\n"
        ),
        {
            "src/lib.rs (shop) > tests::adds": "passed",
            "tests/whole.rs (whole) > adds": "passed",
            "doc (shop) > src/lib.rs - add": "passed",
        },
    ),
    (
        "go",
        (
            '{"Action":"run","Package":"shop","Test":"TestAdds"}\n{"Action":"output","Package":"shop","Output":"x"}\n'
            '{"Action":"pass","Package":"shop","Test":"TestAdds"}\n{"Action":"fail","Package":"shop","Test":"TestRounds/up"}\n'
            '{"Action":"fail","Package":"shop"}\n'
        ),
        {"shop.TestAdds": "passed", "shop.TestRounds/up": "failed"},
    ),
    (
        "minitest",
        "PriceTest#test_adds = 0.00 s = .\nPriceTest#test_rounds = 0.01 s = F\n",
        {"PriceTest#test_adds": "passed", "PriceTest#test_rounds": "failed"},
    ),
]


@pytest.mark.parametrize(("runner", "said", "tests"), PRINTED)
def test_what_is_printed_says_how_each_test_ended(
    runner: str, said: str, tests: dict[str, ReportedOutcome]
) -> None:
    reader = ReportReader()
    for line in said.splitlines():
        reader.read_output_line(line, [runner])
    assert reader.report() == Report(tests=tests)


def test_what_cargo_prints_when_it_is_quiet_tells_no_test() -> None:
    quiet, broken_off = ReportReader(), ReportReader()
    for line in ("running 2 tests", "..", "test result: ok. 2 passed; 0 failed"):
        quiet.read_output_line(line, ["cargo"])
    broken_off.read_output_line("running 2 tests", ["cargo"])
    assert quiet.report() is None
    assert broken_off.report() == Report(tests={}, complete=False)


def test_a_runner_that_begins_and_does_not_end_is_seen() -> None:
    reader = ReportReader()
    reader.file("python-1.jsonl", '{"begin": "unittest"}\n{"test": "a.b", "ended": "passed"}\n')
    assert reader.report() == Report(tests={"a.b": "passed"}, complete=False)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><testsuite><testcase name='&b;'/></testsuite>"),
        ("a.xml", "<testsuite"),
        ("a.json", "[" * 100_000),
        ("a.jsonl", "null\n7\n{"),
        ("a.txt", "test a ... ok"),
    ],
)
def test_what_cannot_be_read_says_nothing(name: str, text: str) -> None:
    reader = ReportReader()
    reader.file(name, text)
    assert reader.report() is None


def test_events_of_go_are_shown_as_the_lines_they_carry() -> None:
    said = '{"Action":"output","Output":"--- FAIL: TestAdds\\n"}\n{"Action":"fail"}\nplain\n'
    assert readable_output(said) == "--- FAIL: TestAdds\nplain\n"


BASE = Report(tests={"t.py::a": "passed", "t.py::b": "failed", "t.py::c": "passed"})
SIGNS: list[tuple[dict[str, ReportedOutcome] | None, str]] = [
    (None, "did not report which tests it ran; at the base it ran 3 tests"),
    ({}, "No test ran; at the base 3 tests ran."),
    ({"t.py::a": "passed"}, "2 tests of the base's did not run: t.py::b, t.py::c."),
    (
        {"t.py::a": "skipped", "t.py::b": "failed", "t.py::c": "passed"},
        "1 test that ran at the base is skipped: t.py::a.",
    ),
    ({"u.py::a": "passed", "t.py::b": "failed", "moved/t.py::c": "passed"}, ""),
    ({"t.py::a": "passed", "t.py::b": "passed", "t.py::c": "passed", "t.py::d": "skipped"}, ""),
]


@pytest.mark.covers("O-X18")
@pytest.mark.parametrize(("tests", "sign"), SIGNS)
def test_tests_that_no_longer_run_are_a_sign(
    tests: dict[str, ReportedOutcome] | None, sign: str
) -> None:
    found = compare(None if tests is None else Report(tests=tests), BASE)
    assert len(found.signs) == bool(sign)
    assert sign in "".join(found.signs)


def test_cases_of_one_test_that_are_gone_are_a_sign() -> None:
    base = Report(tests={"t[1]": "passed", "t[2]": "passed"})
    [sign] = compare(Report(tests={"t[1]": "passed"}), base).signs
    assert sign == "Fewer tests ran than at the base: 1 instead of 2."


EXPLAINED: list[tuple[dict[str, ReportedOutcome], str]] = [
    ({"t.py::a": "passed"}, ""),
    ({"t.py::b": "failed"}, "1 test of the base's did not run: t.py::a."),
    ({"t.py::b": "skipped", "t.py::a": "passed"}, ""),
    ({}, "No test ran; at the base 1 test ran."),
]


@pytest.mark.parametrize(("tests", "sign"), EXPLAINED)
def test_tests_whose_end_somebody_has_accepted_are_not_missed_and_others_are(
    tests: dict[str, ReportedOutcome], sign: str
) -> None:
    now = Report(tests=tests)
    assert compare(now, BASE, {"t.py::b", "t.py::c"}).signs == ((sign,) if sign else ())
    assert compare(now, BASE, set(BASE.tests)).signs == ()
    assert compare(now, BASE, {"t.py::b"}).base_ran == 3


def test_tests_that_pass_and_did_not_run_at_the_base_are_named() -> None:
    now = Report(tests={"t.py::new": "passed", "t.py::b": "passed", "t.py::fails": "failed"})
    assert compare(now, BASE).added == ("t.py::new",)
    assert compare(now, None).added == ()


@pytest.mark.covers("O-X18")
def test_only_what_did_not_fail_at_the_base_is_a_new_failure() -> None:
    now = Report(tests={"t.py::a": "failed", "t.py::b": "failed", "t.py::c": "passed"})
    found = compare(now, BASE)
    assert (found.failed, found.new_failures, found.known_failures) == (("t.py::a",), 1, 1)
    assert compare(now, None).new_failures == 2


def test_where_the_base_told_nothing_either_there_is_no_sign() -> None:
    assert compare(None, None).signs == ()

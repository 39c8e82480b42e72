"""docs/traceability.md is what the requirements and the marks of the tests make of it; every row of a done part is proven."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import pytest

from tests import traceability
from tests.traceability import (
    CELL_EDGE,
    OPEN,
    PAGE,
    ROOT,
    ROW_ID,
    covered,
    covered_in,
)


@dataclass(frozen=True)
class Row:
    id: str
    rule: str
    spec: tuple[str, ...]
    part: str
    tests: tuple[str, ...]
    line: int

    def __str__(self) -> str:
        return f"line {self.line}, {self.id}"


def rows(page: str) -> list[Row]:
    """Every line of a table that begins with an id. A line with other than five cells is an error."""
    found: list[Row] = []
    for number, line in enumerate(page.splitlines(), 1):
        cells = [cell.strip() for cell in CELL_EDGE.split(line.strip())[1:-1]]
        if not cells or not ROW_ID.fullmatch(cells[0]):
            continue
        if len(cells) != 5:
            raise AssertionError(f"line {number} has {len(cells)} cells instead of 5: {line}")
        id_, rule, spec, part, tests = cells
        found.append(Row(id_, rule, tuple(spec.split()), part, _split(tests), number))
    return found


def _split(cell: str) -> tuple[str, ...]:
    named = (one.strip().strip("`") for one in cell.split("<br>"))
    return tuple(one for one in named if one and one != OPEN)


def parts_done(page: str) -> set[str]:
    line = re.search(r"^Parts done:(.*)$", page, re.MULTILINE)
    assert line, "the page has no line «Parts done: …»"
    return set(re.findall(r"\d+", line[1]))


def unproven(page: str) -> list[str]:
    """Rows of parts that are done without a test."""
    done = parts_done(page)
    return [str(row) for row in rows(page) if row.part in done and not row.tests]


def _numbered(prefix: str, last: int, suffixed: str = "") -> set[str]:
    return {f"{prefix}{n:03}" for n in range(1, last + 1)} | {prefix + s for s in suffixed.split()}


REQUIREMENTS = _numbered("G-FR-", 25, "001a 002a 002b 002c 003a 008a 009a") | _numbered("G-SC-", 5)
SCENARIOS = {
    f"G-US{story}.{n}"
    for story, count in enumerate((5, 5, 4, 4, 5, 3, 4, 2), 1)
    for n in range(1, count + 1)
}
EDGE_CASES = {f"G-EDGE-{n}" for n in range(1, 7)}
SECTIONS = {
    f"G-RULE-{section}-{n}"
    for section, count in {
        "AI": 4,
        "SPECKIT": 9,
        "FLOW": 8,
        "TASKS": 8,
        "BRANCH": 9,
        "LOOP": 12,
        "TMUX": 3,
        "SCAN": 7,
        "PROMPT": 6,
        "PARALLEL": 4,
        "PROGRESS": 3,
        "END": 9,
        "LLMDOWN": 4,
        "APPROVAL": 7,
        "CONTINUE": 4,
        "DUTY": 4,
        "SCOPE": 4,
        "UI": 4,
        "BRANCHMODE": 4,
        "STOP": 6,
        "LOG": 4,
        "QUESTIONS": 5,
        "SHOWN": 3,
        "WIZARD": 4,
        "COST": 3,
        "TRUST": 3,
        "LIVE": 4,
        "VERIFY": 5,
        "MERGE": 5,
        "PR": 8,
        "STORE": 6,
        "FINISH": 9,
        "CONTEXT": 4,
    }.items()
    for n in range(1, count + 1)
}
LIMITS = {f"G-LIMIT-{n}" for n in range(1, 5)} | {f"G-OUT-{n}" for n in range(1, 6)}
CONTRACT = {
    *(f"C{n}" for n in range(1, 19)),
    *(f"M{n}" for n in range(1, 18)),
    *(f"X{n}" for n in range(1, 21)),
    *(f"I{n}" for n in range(1, 8)),
    *(f"P{n}" for n in range(1, 9)),
    *("K1", "K2", "K3", "X2a", "X2b", "I1a"),
}


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


@pytest.fixture(scope="module")
def marked() -> dict[str, list[str]]:
    return covered(ROOT / "tests")


def test_every_id_stands_once(page: str) -> None:
    again = [id_ for id_, times in Counter(row.id for row in rows(page)).items() if times > 1]
    assert again == []


def test_every_row_belongs_to_one_part_and_has_a_rule_in_a_sentence(page: str) -> None:
    odd = [str(row) for row in rows(page) if row.part not in set("1234567")]
    odd += [str(row) for row in rows(page) if len(row.rule) < 10 or not row.rule.endswith(".")]
    assert odd == []


def test_every_row_names_requirements_of_the_contract_and_every_one_is_named(page: str) -> None:
    named = {spec for row in rows(page) for spec in row.spec}
    assert named == CONTRACT
    assert [str(row) for row in rows(page) if not row.spec] == []


def test_every_requirement_scenario_edge_case_and_rule_of_the_specification_has_its_row(
    page: str,
) -> None:
    there = {row.id for row in rows(page)}
    wanted = REQUIREMENTS | SCENARIOS | EDGE_CASES | SECTIONS | LIMITS
    assert sorted(wanted - there) == []


def test_every_source_has_rows(page: str) -> None:
    assert {row.id[0] for row in rows(page)} == set("GBRFO")


def test_every_deliberate_difference_a_row_names_is_told(page: str) -> None:
    told = set(re.findall(r"^(\d+)\. ", page, re.MULTILINE))
    named = set(re.findall(r"\(difference (\d+)\)", page))
    assert named - told == set()
    assert told == {str(n) for n in range(1, 18)}


def test_every_row_of_a_done_part_is_proven(page: str) -> None:
    assert unproven(page) == []


def test_a_row_without_a_test_is_found() -> None:
    row = "| G-X-1 | A rule. | C1 | {part} | {test} |"
    lines = ["Parts done: 1", row.format(part=1, test=OPEN), row.format(part=2, test=OPEN)]
    assert unproven("\n".join(lines)) == ["line 2, G-X-1"]
    assert unproven(lines[0] + "\n" + row.format(part=1, test="tests/test_a.py")) == []


def test_the_page_is_what_the_list_and_the_marks_make_of_it(
    page: str, marked: dict[str, list[str]]
) -> None:
    written = traceability.page(traceability.REQUIREMENTS.read_text("utf-8"), marked)
    assert page == written, "run `python -m tests.traceability`"


def test_every_mark_names_a_requirement_of_the_list(
    page: str, marked: dict[str, list[str]]
) -> None:
    assert sorted(set(marked) - {row.id for row in rows(page)}) == []


def test_every_benchmark_that_is_named_is_there(page: str) -> None:
    named = {test for row in rows(page) for test in row.tests if test.startswith("benchmarks/")}
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("@pytest.mark.covers('A', 'B')\ndef test_it(): ...", [("A", "test_it"), ("B", "test_it")]),
        (
            "@pytest.mark.slow\n@pytest.mark.covers('A')\nasync def test_it(): ...",
            [("A", "test_it")],
        ),
        ("pytestmark = pytest.mark.covers('A')", [("A", "")]),
        ("pytestmark = [pytest.mark.slow, pytest.mark.covers('A')]", [("A", "")]),
        ("@pytest.mark.parametrize('A', ['B'])\ndef test_it(a): ...", []),
    ],
)
def test_what_a_test_covers_is_read_from_its_marks(
    source: str, found: list[tuple[str, str]]
) -> None:
    assert list(covered_in(source)) == found


def test_a_row_has_the_tests_that_are_marked_and_the_benchmarks_of_the_list() -> None:
    listed = """| Id | Rule | Spec | Part |
|---|---|---|---|
| G-X-1 | A rule with a \\| in it. | C1 | 1 |
| G-X-2 | Another. | C1 | 1 | benchmarks/a.py |
| G-X-3 | A third. | C1 | 2 |"""
    written = traceability.page(listed, {"G-X-1": ["tests/a.py::test_it"], "G-X-2": ["tests/b.py"]})
    assert [row.tests for row in rows(written)] == [
        ("tests/a.py::test_it",),
        ("tests/b.py", "benchmarks/a.py"),
        (),
    ]


def test_a_row_with_too_few_cells_is_found() -> None:
    with pytest.raises(AssertionError, match="line 1 has 4 cells"):
        rows("| G-X-1 | A rule. | C1 | 1 |")


def test_the_page_says_which_parts_are_done(page: str) -> None:
    assert parts_done(page) <= set("1234567")

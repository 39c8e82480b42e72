"""docs/traceability.md is kept true: every requirement has its row, every row of a part that is done its test."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "traceability.md"

ROW_ID = re.compile(r"[GBRFO]-[A-Za-z0-9_.-]+")
CELL_EDGE = re.compile(r"(?<!\\)\|")
OPEN = "—"


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


def fault(test: str, root: Path) -> str:
    """Why a named test does not exist; empty when it does."""
    path, _, name = test.partition("::")
    if not path.startswith(("tests/", "benchmarks/")) or not (root / path).exists():
        return f"{path} does not exist"
    if name and not _defines(root / path, name):
        return f"{path} has no {name}"
    return ""


def _defines(path: Path, name: str) -> bool:
    defined = rf"^\s*(?:async\s+)?def\s+{re.escape(name)}\("
    return path.is_file() and bool(re.search(defined, path.read_text("utf-8"), re.MULTILINE))


def unproven(page: str, root: Path) -> list[str]:
    """Rows of parts that are done without a test, and tests named anywhere that do not exist."""
    done = parts_done(page)
    complaints = [f"{row}: no test" for row in rows(page) if row.part in done and not row.tests]
    for row in rows(page):
        faults = (fault(test, root) for test in row.tests)
        complaints += [f"{row}: {one}" for one in faults if one]
    return complaints


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


def test_every_row_of_a_done_part_is_proven_and_every_named_test_exists(page: str) -> None:
    assert unproven(page, ROOT) == []


SAMPLE = """Parts done: 1

| Id | Rule | Spec | Part | Test |
|---|---|---|---|---|
| G-X-1 | A rule with a \\| in it. | C1 | 1 | {first} |
| G-X-2 | A rule of later. | C1 | 2 | {second} |
"""


@pytest.mark.parametrize(
    ("first", "second", "complaint"),
    [
        ("`tests/a.py`<br>`tests/a.py::test_it_holds`", "—", ""),
        ("tests/a.py::test_it_waits", "tests/a.py", ""),
        ("—", "—", "G-X-1: no test"),
        ("TODO-TEST", "—", "G-X-1: TODO-TEST does not exist"),
        ("tests/b.py", "—", "G-X-1: tests/b.py does not exist"),
        ("tests/a.py::test_it", "—", "G-X-1: tests/a.py has no test_it"),
        ("tests/a.py", "tests/b.py", "G-X-2: tests/b.py does not exist"),
    ],
)
def test_a_missing_or_wrong_test_is_found(
    tmp_path: Path, first: str, second: str, complaint: str
) -> None:
    (tmp_path / "tests").mkdir()
    body = "def test_it_holds() -> None: ...\n\n\nasync def test_it_waits() -> None: ...\n"
    (tmp_path / "tests" / "a.py").write_text(body, "utf-8")
    found = unproven(SAMPLE.format(first=first, second=second), tmp_path)
    assert len(found) == bool(complaint)
    assert all(complaint in one for one in found)


def test_a_row_with_too_few_cells_is_found() -> None:
    with pytest.raises(AssertionError, match="line 1 has 4 cells"):
        rows("| G-X-1 | A rule. | C1 | 1 |")


def test_the_page_says_which_parts_are_done(page: str) -> None:
    assert parts_done(page) <= set("1234567")

"""Writes docs/traceability.md: `python -m tests.traceability`.

The requirements stand in requirements.md; which tests prove them is told by the tests, with `@pytest.mark.covers("G-US1.1")`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "traceability.md"
REQUIREMENTS = Path(__file__).with_name("requirements.md")
ROW_ID = re.compile(r"[GBRFO]-[A-Za-z0-9_.-]+")
CELL_EDGE = re.compile(r"(?<!\\)\|")
OPEN = "—"
HEAD = "| Id | Rule | Spec | Part |"


def covered_in(source: str) -> Iterator[tuple[str, str]]:
    """The id and the name of the test, for every mark of a file; no name: the whole file proves it."""
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.Assign) and "pytestmark" in (
            target.id for target in node.targets if isinstance(target, ast.Name)
        ):
            yield from ((id_, "") for id_ in _ids(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ((id_, node.name) for one in node.decorator_list for id_ in _ids(one))


def _ids(marks: ast.expr) -> Iterator[str]:
    for node in ast.walk(marks):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "covers"
        ):
            yield from (one.value for one in node.args if isinstance(one, ast.Constant))  # pyright: ignore[reportReturnType]


def covered(tests: Path) -> dict[str, list[str]]:
    """By id: `path` or `path::name` of each test that says it covers it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(tests.rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if "mark.covers(" not in source:
            continue
        for id_, name in covered_in(source):
            where = path.relative_to(tests.parent).as_posix()
            found[id_].append(f"{where}::{name}" if name else where)
    return found


def page(requirements: str, tests: dict[str, list[str]]) -> str:
    """The list of requirements, each with its tests. A fifth cell there names benchmarks."""
    lines = requirements.split("\n")
    return "\n".join(_line(line, tests) for line in lines)


def _line(line: str, tests: dict[str, list[str]]) -> str:
    if line == HEAD:
        return f"{HEAD} Test |"
    if line == "|---|---|---|---|":
        return f"{line}---|"
    cells = [cell.strip() for cell in CELL_EDGE.split(line)[1:-1]]
    if not cells or not ROW_ID.fullmatch(cells[0]):
        return line
    proofs = [*tests.get(cells[0], []), *cells[4:]]
    return f"| {' | '.join(cells[:4])} | {'<br>'.join(proofs) or OPEN} |"


def write() -> None:
    found = page(REQUIREMENTS.read_text(encoding="utf-8"), covered(ROOT / "tests"))
    PAGE.write_text(found, encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)} is written\n")


if __name__ == "__main__":
    write()

"""docs/matrix.md is kept true: every trap has a test, and every test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.traceability import ROOT

PAGE = ROOT / "docs" / "matrix.md"
ROW = re.compile(r"^\| (\d+|–) \|.*\| (tests/[^|]+) \|$", re.MULTILINE)
TRAPS = 24


def test_every_trap_has_a_test() -> None:
    found = [number for number, _ in ROW.findall(PAGE.read_text("utf-8")) if number != "–"]
    assert sorted(found, key=int) == [str(number) for number in range(1, TRAPS + 1)]


def test_every_test_it_names_is_there() -> None:
    named = re.findall(r"tests/[\w/]+\.py(?:::\w+)?", PAGE.read_text("utf-8"))
    assert [wrong for one in named if (wrong := fault(one, ROOT))] == []


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

"""docs/proofs.md names a test for every fault of the world, and each of them is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROW = re.compile(r"^\| F([0-9]+) (.*)$", re.MULTILINE)


def test_every_fault_has_a_test_that_is_there() -> None:
    rows = ROW.findall(PAGE)
    assert [int(number) for number, _ in rows] == [*range(1, 25)]
    assert all(NAMED.search(row) for _, row in rows)
    gone = [
        f"{path}::{name}"
        for path, name in NAMED.findall(PAGE)
        if f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert gone == []

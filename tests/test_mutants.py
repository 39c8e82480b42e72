"""What `make mutants` plants can be planted; whether it is noticed takes longer than the suite has time for."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.mutants import ROOT, Mutant, mutants


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)
def test_a_planted_fault_finds_its_place_and_its_tests(mutant: Mutant) -> None:
    assert mutant.planted() != (ROOT / mutant.file).read_text(encoding="utf-8")
    assert mutant.dies_in
    assert [path for path in mutant.dies_in if not (ROOT / path.partition("::")[0]).exists()] == []


def test_no_fault_is_planted_twice() -> None:
    again = [
        text
        for text, times in Counter((one.file, one.by, one.replace) for one in mutants()).items()
        if times > 1
    ]
    assert again == []

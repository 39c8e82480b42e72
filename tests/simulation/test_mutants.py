"""The simulation is worth what it catches: each planted fault, and by few schedules."""

from __future__ import annotations

import pytest

from tests.simulation.mutants import MUTANTS, Mutant, first_seed

MOST = 150


def test_there_is_one_for_every_fault_the_simulation_can_show() -> None:
    assert len(MUTANTS) >= 20
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_planted_fault_is_caught(mutant: Mutant) -> None:
    assert first_seed(mutant, MOST) is not None

"""The real bot in a simulated world in which anything goes wrong: nothing is lost, done twice or done unasked, stop stops, all ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.core.states import Phase, Status
from tests.simulation.campaign import played, swept, tally
from tests.simulation.misfortune import NAMES

CHUNKS, EACH = 8, 25
STRIDE = 48
"""What is in between, and 10,000 schedules, are tried by `make faults`."""
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.covers("G-EDGE-1")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_whatever_goes_wrong_nothing_is_lost_done_twice_or_done_unasked(
    chunk: int, record_property: Callable[[str, object], None]
) -> None:
    found = tally(played(range(chunk * EACH, (chunk + 1) * EACH)))
    record_property("R4 simulation: schedules", found.schedules)
    assert found.schedules == EACH
    assert not found.failed, found.told()


def test_the_schedules_lead_everywhere() -> None:
    """Else they say nothing."""
    found = tally(played(range(5_000, 5_060)))
    assert {f"phase {phase}" for phase in Phase} <= {*found.seen}
    assert {f"status {status}" for status in Status} <= {*found.seen}
    assert {*NAMES} <= {*found.struck}
    assert found.lives > 2 * found.schedules
    told = ("agents started", "tests run", "branches published", "pull requests merged")
    assert all(found.seen[what] for what in (*told, "bases moved", "approved"))


@pytest.mark.parametrize("hosted", [False, True])
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_bot_may_be_killed_at_any_call(when: str, hosted: bool) -> None:
    whole = swept({}, hosted=hosted)
    assert whole.faults == ()
    assert whole.calls > 80
    struck = [
        (call, swept({call: when}, hosted=hosted).faults)
        for call in range(1, whole.calls + 1, STRIDE)
    ]
    assert [(call, faults) for call, faults in struck if faults] == []


def test_a_seed_is_the_same_schedule_wherever_it_is_played() -> None:
    one, other = (_traced(seed="12", hashes=hashes) for hashes in ("1", "2"))
    assert one.count("\n") > 40
    assert one == other


def _traced(*, seed: str, hashes: str) -> str:
    played = subprocess.run(
        [sys.executable, "-m", "tests.simulation", "--seed", seed, "--trace"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hashes},
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 0, played.stdout[-2000:] + played.stderr[-2000:]
    return played.stdout

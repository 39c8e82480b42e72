"""`python -m tests.simulation`: as many schedules as wanted, or one again (`--seed`), call by call (`--trace`)."""

from __future__ import annotations

import argparse
import os
import sys
import time

from tests.simulation import campaign, trace
from tests.simulation.mutants import MUTANTS, first_seed
from tests.simulation.scene import Scene

MOST = 2_000
"""Schedules in which each planted fault must be caught."""


def main() -> int:
    wanted = _wanted()
    if wanted.seed is not None:
        return _again(wanted.seed, traced=wanted.trace)
    failed = _many(wanted.first, wanted.schedules, wanted.workers)
    if not wanted.only_schedules:
        failed += _every_call() + _mutants()
    return min(failed, 1)


def _wanted() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="python -m tests.simulation")
    options.add_argument("--schedules", type=int, default=10_000)
    options.add_argument("--first", type=int, default=0, help="the first seed")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options.add_argument("--only-schedules", action="store_true", help="no sweep, no mutants")
    options.add_argument("--seed", type=int, help="play this one again")
    options.add_argument("--trace", action="store_true", help="tell what happens in it")
    return options.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _again(seed: int, *, traced: bool) -> int:
    scene = Scene(seed)
    if traced:
        trace.of(scene, _say)
    outcome = scene.play()
    _say(f"{scene.plan}")
    for fault in outcome.faults:
        _say(f"FAULT {fault}")
    _say(f"seed {seed}: {len(outcome.faults)} faults, {outcome.lives} lives, {outcome.calls} calls")
    return min(len(outcome.faults), 1)


def _many(first: int, schedules: int, workers: int) -> int:
    begin = time.monotonic()
    found = campaign.tally(campaign.on_all_cores(range(first, first + schedules), workers))
    took = time.monotonic() - begin
    _say(f"R4 {found.told()}")
    _say(f"R4 {took:.0f} s, {found.schedules / max(took, 0.001):.0f} schedules a second")
    return len(found.failed)


def _every_call() -> int:
    """The bot dies before, and after, every single call of a whole story."""
    failed = points = 0
    for hosted in (False, True):
        calls = campaign.swept({}, hosted=hosted).calls
        for call in range(1, calls + 1):
            for when in ("before", "after"):
                points += 1
                outcome = campaign.swept({call: when}, hosted=hosted)
                for fault in outcome.faults:
                    failed += 1
                    _say(f"  killed {when} call {call} (hosted: {hosted}): {fault}")
    _say(f"R4 killed before and after every call of two stories: {points} points, {failed} faults")
    return failed


def _mutants() -> int:
    missed = 0
    _say("R4 planted faults, and the first schedule that catches each:")
    for mutant in MUTANTS:
        found = first_seed(mutant, MOST)
        missed += found is None
        where = "NOT CAUGHT" if found is None else f"schedule {found[0] + 1}: {found[1][:90]}"
        _say(f"  {mutant.row} | {mutant.name} | {where}")
    _say(f"R4 {len(MUTANTS) - missed} of {len(MUTANTS)} planted faults caught")
    return missed


if __name__ == "__main__":
    sys.exit(main())

"""Many schedules: which seeds, how often what happened in them, and the one command that plays a failing one again."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from tests.simulation.scene import Outcome, Plan, Scene

COLLECT = 10
CHUNK = 25
SWEPT = 7
"""The seed of the schedule in which the bot is killed at every call."""


@dataclass
class Tally:
    schedules: int = 0
    lives: int = 0
    calls: int = 0
    seconds: float = 0
    seen: Counter[str] = field(default_factory=Counter[str])
    struck: Counter[str] = field(default_factory=Counter[str])
    failed: list[Outcome] = field(default_factory=list[Outcome])

    def add(self, outcome: Outcome) -> None:
        self.schedules += 1
        self.lives += outcome.lives
        self.calls += outcome.calls
        self.seconds += outcome.seconds
        self.seen.update(outcome.seen)
        self.struck.update(outcome.struck)
        if outcome.faults:
            self.failed.append(outcome)

    def told(self) -> str:
        lines = [
            (
                f"{self.schedules} schedules, {self.lives} lives of the bot, {self.calls} calls, "
                f"{self.seconds / 3600:.0f} virtual hours: {len(self.failed)} failed"
            )
        ]
        for outcome in self.failed[:10]:
            lines.append(f"  {replay(outcome.seed)}")
            lines += [f"    {fault}" for fault in outcome.faults[:3]]
        return "\n".join(lines)


def replay(seed: int) -> str:
    return f".venv/bin/python -m tests.simulation --seed {seed}"


def played(seeds: Iterable[int]) -> Iterator[Outcome]:
    for number, seed in enumerate(seeds, 1):
        yield Scene(seed).play()
        if number % COLLECT == 0:
            gc.collect()


def tally(outcomes: Iterable[Outcome]) -> Tally:
    found = Tally()
    for outcome in outcomes:
        found.add(outcome)
    return found


def on_all_cores(seeds: range, workers: int) -> Iterator[Outcome]:
    chunks = [seeds[n : n + CHUNK] for n in range(0, len(seeds), CHUNK)]
    with ProcessPoolExecutor(workers) as pool:
        for outcomes in pool.map(_chunk, chunks):
            yield from outcomes


def _chunk(seeds: range) -> list[Outcome]:
    return [*played(seeds)]


def swept(calls: Mapping[int, str], *, hosted: bool) -> Outcome:
    """A schedule in which nothing goes wrong but that the bot dies at these calls."""
    return Scene(SWEPT, quiet(calls, hosted=hosted)).play()


def quiet(calls: Mapping[int, str], *, hosted: bool) -> Plan:
    return Plan.quiet(hosted=hosted, at_call=calls)

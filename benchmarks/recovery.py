"""How long does a start take when there were many sessions before?

    python -m benchmarks.recovery

Goal: with 10,000 stored and 200 active at most twice what it takes with the 200 active alone.
"""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from adapters.store import Disk, JournalStore
from bot.domain.people import Person, Thread
from bot.domain.record import Record
from bot.domain.session import Session, Speaker
from bot.domain.states import Status
from bot.domain.tasks import Task

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ACTIVE = 200
STORED = (200, 10_000)
ROUNDS = 7


class HastyDisk(Disk):
    """Never waits: only for building the home."""

    def sync(self, fd: int, path: Path) -> None:
        pass

    def sync_directory(self, path: Path) -> None:
        pass


def a_record(name: str, status: Status) -> Record:
    """About 24 KB: 50 messages and 5 tasks."""
    session = Session(
        id=name,
        created_at=NOON,
        updated_at=NOON,
        status=status,
        thread=Thread(platform="console", channel="", root=name),
        owner=Person(platform="console", id="me"),
        repository="/srv/shop",
    )
    session.tasks = [
        Task(id=f"t-{n}", key=f"T{n:03}", name="Part", created_at=NOON) for n in range(5)
    ]
    for number in range(50):
        session.say(Speaker.ASSISTANT, f"{number} ".ljust(350, "."), NOON)
    return Record(session=session)


def build(home: Path, stored: int) -> None:
    store = JournalStore(home, disk=HastyDisk(), export_delay=0.2)
    store.sessions()
    for number in range(stored):
        status = Status.ACTIVE if number % (stored // ACTIVE) == 0 else Status.COMPLETED
        store.save(a_record(f"s-{number:05}", status))
    store.close()


def timed(home: Path) -> tuple[float, float]:
    """Loading what is active; and the list of all, which the desk asks for as well."""
    store = JournalStore(home, export_delay=3600)
    start = time.perf_counter()
    assert len(store.load()) == ACTIVE
    loaded = time.perf_counter()
    store.sessions()
    return loaded - start, time.perf_counter() - loaded


def main() -> None:
    print(f"{'stored':>8} {'active':>7} {'load':>9} {'list':>9}")
    totals: list[float] = []
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory:
        for stored in STORED:
            home = Path(directory) / str(stored)
            build(home, stored)
            times = [timed(home) for _ in range(ROUNDS)]
            load, listing = (median(part) for part in zip(*times, strict=True))
            totals.append(load)
            print(f"{stored:>8} {ACTIVE:>7} {load * 1e3:>6.0f} ms {listing * 1e3:>6.0f} ms")
    print(
        f"load with {STORED[-1]} stored / load with {STORED[0]} stored = {totals[-1] / totals[0]:.2f}"
    )


if __name__ == "__main__":
    main()

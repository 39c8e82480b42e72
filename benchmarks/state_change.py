"""What does a change of a session cost, beside the least that a durable change can cost on the same disk?

    python -m benchmarks.state_change

The least is one append and one fdatasync, measured in turns with the saves.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from adapters.store import JournalStore
from benchmarks.ground import on_this_disk
from benchmarks.table import Row, Unit, at_most, beside, hand_in
from bot.core.people import Person, Thread
from bot.core.projections.records import Record
from bot.core.runs import Run
from bot.core.session import Session, Speaker
from bot.core.session_parts import SessionRepository
from bot.core.task import Task
from tests.adapters.store.disks import CountingDisk

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MESSAGE = 4_000
TASKS = 10
SIZES = (100_000, 1_000_000, 10_000_000)
ROUNDS = 300
SESSIONS, CHANGES = 100, 20
LINE = b"x" * 150
"""About what such a change says."""
ROOM = 4_096
"""Bytes that a change may write beyond itself."""
ONE_EACH = (
    "each session waits for its own save, so that nothing happens between deciding and saving"
    " (docs/decisions/0002-one-save-in-the-loop.md); many share one sync when a disk takes 5 ms for it"
)


def a_record(size: int) -> Record:
    """A session of about `size` bytes, nearly all of it conversation."""
    session = Session(
        id=f"size-{size}",
        created_at=NOON,
        updated_at=NOON,
        thread=Thread(platform="console", channel="", root=str(size)),
        owner=Person(platform="console", id="me"),
        repository=SessionRepository(path="/srv/shop"),
    )
    for number in range(TASKS):
        task = Task(
            id=f"t-{number}",
            key=f"T{number:03}",
            name="Part",
            description="d" * 500,
            created_at=NOON,
        )
        task.runs = [
            Run(id=f"r-{number}", number=1, agent="claude", conversation="c", started_at=NOON)
        ]
        session.tasks.append(task)
    for number in range(size // MESSAGE):
        session.say(Speaker.ASSISTANT, f"{number} ".ljust(MESSAGE, "."), NOON)
    return Record(session=session)


def changed(record: Record, number: int) -> Record:
    """As a decision leaves it: a copy whose unchanged facts are shared."""
    record = Record(
        session=record.session.copied(),
        inbox=[*record.inbox],
        outbox=[*record.outbox],
        heard=[*record.heard],
    )
    record.session.ending.rounds = number
    record.session.tasks[number % TASKS].blocked = f"for the {number}th time"
    return record


def seconds_of_a_save(store: JournalStore, record: Record) -> float:
    start = time.perf_counter()
    store.save(record)
    return time.perf_counter() - start


def seconds_of_the_least(path: Path, line: bytes) -> float:
    start = time.perf_counter()
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.write(fd, line)
    os.fdatasync(fd)
    os.close(fd)
    return time.perf_counter() - start


def main() -> None:
    with on_this_disk() as folder:
        costs = {size: cost(folder / str(size), a_record(size)) for size in SIZES}
        together = many(folder / "many")
    each = [
        beside(
            "5",
            f"a change of a session of {size / 1e6:.1f} MB",
            save,
            least,
            of="append + fdatasync",
            most=2,
        )
        for size, (save, least, _, _) in costs.items()
    ]
    (small, *_), (large, _, syncs, written) = costs[SIZES[0]], costs[SIZES[-1]]
    what = "a change at 10 MB"
    hand_in(
        *each,
        beside("5", what, large, small, of="at 0.1 MB", most=1.5),
        at_most("5", f"{what}: fsyncs", syncs, 1, unit=Unit.COUNT),
        at_most("5", f"{what}: bytes written", written, len(LINE) + ROOM, unit=Unit.COUNT),
        *together,
    )


def cost(home: Path, record: Record) -> tuple[float, float, float, float]:
    """Seconds of a save and of the least, fsyncs and bytes of a save."""
    disk = CountingDisk()
    store = JournalStore(home, export_delay=3600, disk=disk)
    store.save(record)
    disk.syncs = disk.written = 0
    saves, leasts = list[float](), list[float]()
    for number in range(ROUNDS):
        record = changed(record, number)
        saves.append(seconds_of_a_save(store, record))
        leasts.append(seconds_of_the_least(home / "least", LINE))
    return median(saves), median(leasts), disk.syncs / ROUNDS, disk.written / ROUNDS


def many(home: Path) -> tuple[Row, Row]:
    """Sessions that change at the same time."""
    disk = CountingDisk()
    store = JournalStore(home, export_delay=3600, disk=disk)
    records = [a_record(number + 1) for number in range(SESSIONS)]
    for record in records:
        store.save(record)
    disk.syncs = 0
    begun = time.perf_counter()
    for number in range(CHANGES):
        records = [changed(record, number) for record in records]
        for record in records:
            store.save(record)
    took = time.perf_counter() - begun
    syncs = SESSIONS * CHANGES
    least = sum(seconds_of_the_least(home / "least", LINE) for _ in range(syncs))
    what = f"{SESSIONS} sessions of which each changes {CHANGES} times"
    of = f"{syncs} × append + fdatasync"
    return (
        at_most("6", f"{what}: fsyncs", disk.syncs, SESSIONS, unit=Unit.COUNT, because=ONE_EACH),
        beside("6", what, took, least, of=of, most=2),
    )


if __name__ == "__main__":
    main()

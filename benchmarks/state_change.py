"""What does a change of a session cost, beside the least that a durable change can cost on the same disk?

    python -m benchmarks.state_change

The least is one append and one fdatasync, measured in turns with the saves. Goals: at most twice the least, and
at 10 MB at most one and a half times what it costs at 0.1 MB.
"""

from __future__ import annotations

import os
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from adapters.store import JournalStore
from bot.domain.people import Person, Thread
from bot.domain.record import Record
from bot.domain.session import Session, Speaker
from bot.domain.tasks import Run, Task

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MESSAGE = 4_000
TASKS = 10
SIZES = (100_000, 1_000_000, 10_000_000)
ROUNDS = 300


def a_record(size: int) -> Record:
    """A session of about `size` bytes, nearly all of it conversation."""
    session = Session(
        id=f"size-{size}",
        created_at=NOON,
        updated_at=NOON,
        thread=Thread(platform="console", channel="", root=str(size)),
        owner=Person(platform="console", id="me"),
        repository="/srv/shop",
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
    record.session.continues = number
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
    print(f"{'session':>10} {'save':>9} {'least':>9} {'ratio':>6}")
    costs: list[float] = []
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory:
        for size in SIZES:
            home = Path(directory) / str(size)
            store = JournalStore(home, export_delay=3600)
            record = a_record(size)
            store.save(record)
            saves: list[float] = []
            leasts: list[float] = []
            for number in range(ROUNDS):
                record = changed(record, number)
                saves.append(seconds_of_a_save(store, record))
                leasts.append(seconds_of_the_least(home / "least", b"x" * 150))
            save, least = median(saves), median(leasts)
            costs.append(save)
            print(
                f"{size / 1e6:>7.1f} MB {save * 1e3:>6.3f} ms {least * 1e3:>6.3f} ms {save / least:>6.2f}"
            )
    print(f"cost(10 MB) / cost(0.1 MB) = {costs[-1] / costs[0]:.2f}")


if __name__ == "__main__":
    main()

"""How long does a start take when there were many sessions before?

python -m benchmarks.recovery
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from zlib import crc32

from adapters.store import JournalStore
from benchmarks.ground import on_this_disk, seconds_of
from benchmarks.table import at_most, beside, hand_in
from bot.core.people import Person, Thread
from bot.core.projections.records import Record
from bot.core.session import Session, Speaker
from bot.core.session_parts import SessionRepository
from bot.core.states import Status
from bot.core.task import Task
from tests.adapters.store.disks import HastyDisk

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ACTIVE = 200
STORED = (200, 10_000)
ROUNDS = 3
PATTERN = "s-00200"


def a_record(name: str, status: Status) -> Record:
    """About 24 KB: 50 messages and 5 tasks."""
    session = Session(
        id=name,
        created_at=NOON,
        updated_at=NOON,
        status=status,
        thread=Thread(platform="console", channel="", root=name),
        owner=Person(platform="console", id="me"),
        repository=SessionRepository(path="/srv/shop"),
    )
    session.tasks = [
        Task(id=f"t-{n}", key=f"T{n:03}", name="Part", created_at=NOON) for n in range(5)
    ]
    for number in range(50):
        session.say(Speaker.ASSISTANT, f"{number} ".ljust(350, "."), NOON)
    return Record(session=session)


def build(home: Path, stored: int) -> None:
    """Some are saved; of what is over there are many of one kind, so one is saved and copied under other names."""
    store = JournalStore(home, disk=HastyDisk(), export_delay=0.1)
    for number in range(ACTIVE):
        store.save(a_record(f"s-{number:05}", Status.ACTIVE))
    if stored > ACTIVE:
        store.save(a_record(PATTERN, Status.COMPLETED))
    store.close()
    for number in range(ACTIVE + 1, stored):
        journal = home / "sessions" / "finished" / f"{PATTERN}.journal"
        name = f"s-{number:05}"
        journal.with_stem(name).write_bytes(renamed(journal.read_bytes(), name))
    listing = JournalStore(home, disk=HastyDisk(), export_delay=0.1)
    assert len(listing.sessions()) == stored
    listing.load()
    listing.close()


def renamed(journal: bytes, name: str) -> bytes:
    """The same of a session of another name; every line begins with its own checksum."""
    texts = (line[9:].replace(PATTERN.encode(), name.encode()) for line in journal.splitlines())
    return b"".join(b"%08x %b\n" % (crc32(text), text) for text in texts)


def timed(home: Path) -> tuple[float, float]:
    """Loading what is active; and the list of all, which the desk asks for as well."""
    store = JournalStore(home, export_delay=3600)
    loaded = seconds_of(store.load)
    return loaded, seconds_of(store.sessions)


def main() -> None:
    with on_this_disk() as folder:
        for stored in STORED:
            build(folder / str(stored), stored)
        times = [[timed(folder / str(stored)) for stored in STORED] for _ in range(ROUNDS)]
    few, many = (median(load for load, _ in of) for of in zip(*times, strict=True))
    _, listing = (median(one for _, one in of) for of in zip(*times, strict=True))
    what = f"a start with {STORED[1]:,} stored sessions, {ACTIVE} of them active"
    hand_in(
        beside("10", what, many, few, of=f"with these {ACTIVE} alone", most=2),
        at_most("10", f"the list of all {STORED[1]:,} at that start", listing, 0.5),
    )


if __name__ == "__main__":
    main()

"""What does it cost that nothing counts before it is in the audit log? One entry, on the disk at hand and without any.

python -m benchmarks.audit
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from adapters.files import Disk
from adapters.store.audit import AuditFile
from benchmarks.ground import on_this_disk
from benchmarks.state_change import LINE, seconds_of_the_least
from benchmarks.table import Unit, beside, hand_in, told
from bot.core.masking import Masker
from bot.core.projections.audit import AuditEntry, Decision

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROUNDS = 300


class Careless(Disk):
    """Waits for no disk."""

    def sync(self, fd: int, path: Path) -> None:
        pass


def an_entry(number: int) -> AuditEntry:
    return AuditEntry(
        at=NOON,
        who="slack:T1:U1",
        where="slack:T1:C1:1700000000.000100",
        session="7682b3a8-0000-4000-8000-000000000000",
        event=f"slack:T1:C1:{number}",
        what="press approve",
        about="d" * 64,
        digest="a" * 64,
        decision=Decision.ALLOWED,
    )


def entries(disk: Disk) -> list[float]:
    """Seconds for each."""
    with on_this_disk() as folder:
        audit = AuditFile(folder, Masker({"key": "0123456789abcdef"}), disk=disk)
        taken: list[float] = []
        for number in range(ROUNDS):
            entry = an_entry(number)
            begun = time.perf_counter()
            audit.note(entry)
            taken.append(time.perf_counter() - begun)
    return taken


def main() -> None:
    careless = entries(Careless())
    with on_this_disk() as folder:
        least = median(seconds_of_the_least(folder / "least", LINE) for _ in range(ROUNDS))
    print(f"an entry that is not waited for: {told(median(careless), Unit.SECONDS)}")
    what, waited = "an entry in the audit log", median(entries(Disk()))
    hand_in(beside("", what, waited, least, of="append + fdatasync", most=2))


if __name__ == "__main__":
    main()

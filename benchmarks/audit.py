"""What does it cost that nothing counts before it is in the audit log? One entry, on the disk at hand and without any.

python -m benchmarks.audit
"""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from adapters.store.audit import AuditFile
from adapters.store.disk import Disk
from bot.domain.audit import AuditEntry, Decision
from bot.domain.masking import Masker

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROUNDS = 1_000


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
    """Seconds for each, the shortest first."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        audit = AuditFile(Path(folder), Masker({"key": "0123456789abcdef"}), disk=disk)
        taken: list[float] = []
        for number in range(ROUNDS):
            entry = an_entry(number)
            begun = time.perf_counter()
            audit.note(entry)
            taken.append(time.perf_counter() - begun)
    return sorted(taken)


def main() -> None:
    for name, disk in (("on disk", Disk()), ("not waited for", Careless())):
        taken = entries(disk)
        median, late = taken[ROUNDS // 2] * 1000, taken[ROUNDS * 99 // 100] * 1000
        print(f"an entry, {name}: median {median:.2f} ms, p99 {late:.2f} ms")


if __name__ == "__main__":
    main()

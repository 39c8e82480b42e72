"""A program that writes logs of tasks until it is killed in the middle of a write. It forks for each home it is told.

It reads `<home> <n>` a line; the child is killed when half of its n-th file is written. It writes a line for every
note that was written whole, then `gone`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from adapters.store.task_logs import LogDisk, TaskLogFiles
from bot.core.masking import Masker
from bot.core.session import Session
from tests.steps.scenes import check, executing, verifying


class DeadlyDisk(LogDisk):
    """Nobody outlives its n-th write."""

    def __init__(self, left: int) -> None:
        self._left = left

    def write(self, fd: int, path: Path, at: int, data: bytes) -> int:
        self._left -= 1
        if self._left == 0:
            os.pwrite(fd, data[: len(data) // 2], at)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().write(fd, path, at, data)


def state(number: int) -> Session:
    """The session after so many checks: its logs grow with every one."""
    first = verifying("T001", checks=[check(n, 1, "x" * 3000) for n in range(1, number + 1)])
    return executing(first, verifying("T002", checks=first.checks[-1:]))


async def write_for_ever(home: Path, writes: int) -> None:
    files = TaskLogFiles(home, Masker({}), disk=DeadlyDisk(writes))
    number = 0
    while True:
        number += 1
        await files.note(state(number), {"id-T001": [], "id-T002": []})
        os.write(1, b"%d\n" % number)


def main() -> None:
    for line in sys.stdin:
        home, writes = line.split()
        child = os.fork()
        if child == 0:
            asyncio.run(write_for_ever(Path(home), int(writes)))
        os.waitpid(child, 0)
        os.write(1, b"gone\n")


if __name__ == "__main__":
    main()

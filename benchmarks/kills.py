"""Is anything lost when the bot is killed while it saves, or when the disk is full?

    python -m benchmarks.kills [kills]

Kills at every single system call are a test: tests/adapters/store/test_kills.py.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from adapters.store import JournalStore
from benchmarks.ground import ROOT, on_this_disk
from benchmarks.table import Unit, all_of, at_most, hand_in
from bot.core.errors import Unavailable
from tests.adapters.store.disks import files_no_larger_than
from tests.adapters.store.saver import state

HOMES = 7
MOST_SAVES = 25
"""Before a kill."""
LIMIT = 300_000
"""Bytes a file may have on the full disk."""


def main(kills: int) -> None:
    chance = random.Random(7)  # noqa: S311 - no secret
    read, lost = 0, 0
    with on_this_disk() as folder:
        with saving() as saver:
            for kill in range(kills):
                home = folder / str(kill % HOMES)
                acknowledged = killed_after(saver, home, chance.randrange(1, MOST_SAVES))
                found = left(home)
                read += found is not None
                lost += max(0, acknowledged - (found or 0))
        wanted, there = on_a_full_disk(folder / "full")
    hand_in(
        all_of("7", "kill -9 after which all could be read", read, kills),
        at_most("7", "changes acknowledged and lost by them", lost, 0, unit=Unit.COUNT),
        all_of("7", "changes acknowledged before a disk was full, and there", there, wanted),
    )


@contextmanager
def saving() -> Generator[subprocess.Popen[str]]:
    """A program that saves until it is killed: texts grow and shrink, lists come and go."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "benchmarks.saver"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as saver:
        yield saver
        assert saver.stdin
        saver.stdin.close()


def left(home: Path) -> int | None:
    """The number of the change that is there whole; None: it cannot be read."""
    store = JournalStore(home, export_delay=3600)
    records = store.load()
    if store.broken or len(records) != 1:
        return None
    number = records[0].session.ending.rounds
    return number if records[0] == state(number) else None


def on_a_full_disk(home: Path) -> tuple[int, int]:
    """Saves until there is no room: the last that was acknowledged, and the one that is there."""
    store, number = JournalStore(home, export_delay=3600), 0
    try:
        with files_no_larger_than(LIMIT):
            while True:
                store.save(state(number + 1))
                number += 1
    except Unavailable:
        return number, left(home) or 0


def killed_after(saver: subprocess.Popen[str], home: Path, saves: int) -> int:
    """The last save that was acknowledged before the kill arrived."""
    assert saver.stdin
    assert saver.stdout
    saver.stdin.write(f"{home}\n")
    saver.stdin.flush()
    child = acknowledged = 0
    for line in saver.stdout:
        match line.split():
            case ["pid", number]:
                child = int(number)
            case ["gone"]:
                return acknowledged
            case numbers:
                acknowledged = max(acknowledged, *map(int, numbers))
                saves -= 1
        if child and saves <= 0:
            os.kill(child, signal.SIGKILL)
            child = 0
    raise AssertionError("the saver has gone")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)

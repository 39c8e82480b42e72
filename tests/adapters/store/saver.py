"""A program that saves until it is killed. It forks for each home it is told, so that sixty kills are quick.

It reads one home a line and writes `pid <n>`, then the number of every save that was acknowledged, then `gone`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from adapters.store import JournalStore
from bot.core.projections.records import Record
from bot.core.session import Speaker
from tests.adapters.store.samples import NOON, busy, said


def state(number: int) -> Record:
    """The record after so many saves: texts that grow and shrink, lists that come and go."""
    record = busy()
    record.session.continues = number
    record.session.change_request = "x" * (number * 7919 % 120_000)
    record.inbox = [said(f"e-{number + n}", "y" * (number * 31 % 500)) for n in range(number % 4)]
    for n in range(number % 9):
        record.session.say(Speaker.USER, f"{number} {n}", NOON)
    return record


def save_for_ever(home: Path) -> None:
    store = JournalStore(home, export_delay=0)
    loaded = store.load()
    number = loaded[0].session.continues if loaded else 0
    while True:
        number += 1
        store.save(state(number))
        os.write(1, b"%d\n" % number)


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            save_for_ever(Path(line.strip()))
        os.write(1, b"pid %d\n" % child)
        os.waitpid(child, 0)
        os.write(1, b"gone\n")


if __name__ == "__main__":
    main()

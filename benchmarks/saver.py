"""A program that saves until it is killed. It forks for each home it is told, so that many kills are quick.

It reads one home a line and writes `pid <n>`, then the number of every save that was acknowledged, then `gone`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from adapters.store import JournalStore
from tests.adapters.store.saver import state


def save_for_ever(home: Path) -> None:
    store = JournalStore(home, export_delay=0)
    loaded = store.load()
    number = loaded[0].session.ending.rounds if loaded else 0
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

"""A program that saves a few times when it is told to go, so that its system calls can be spoiled before it begins.

It reads one home a line and forks for it. `pid <n>` is its child, which waits for SIGUSR1; then come the number of every
save that was acknowledged, `refused` for every one that was not, and `gone <exit code>`, negative for a signal.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from adapters.files import set_private_umask
from adapters.store import JournalStore
from bot.core.errors import Unavailable
from bot.core.projections.records import Record
from bot.core.session import Speaker
from bot.core.states import Status
from tests.adapters.store.samples import NOON, busy, said

FIRST, LAST = 2, 7
"""The first grows, the next ones are appended, some are so large that the journal is written anew; the last one finishes."""


def state(number: int) -> Record:
    """The record after so many saves: texts that grow and shrink, lists that come and go."""
    record = busy()
    record.session.ending.rounds = number
    record.session.plan.change_request = "x" * (number * 7919 % 120_000)
    record.inbox = [said(f"e-{number + n}", "y" * (number * 31 % 500)) for n in range(number % 4)]
    for n in range(number % 9):
        record.session.say(Speaker.USER, f"{number} {n}", NOON)
    return record


def wanted(number: int) -> Record:
    record = state(number)
    if number == LAST:
        record.session.status = Status.COMPLETED
    return record


def save(home: Path) -> None:
    signal.sigwait({signal.SIGUSR1})
    set_private_umask(home)
    store = JournalStore(home, export_delay=0)
    store.load()
    for number in range(FIRST, LAST + 1):
        try:
            store.save(wanted(number))
        except Unavailable:
            os.write(1, b"refused\n")
        else:
            os.write(1, b"%d\n" % number)
    store.close()


def main() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            save(Path(line.strip()))
            os._exit(0)
        os.write(1, b"pid %d\n" % child)
        _, status = os.waitpid(child, 0)
        os.write(1, b"gone %d\n" % os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()

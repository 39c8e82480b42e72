"""How the played agent behaves badly when a test wants it to. Nothing here outlives fifteen minutes."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Mapping

Say = Callable[[str], None]

LIMIT = 900
"""Seconds after which the worst of them gives up, should nobody have ended it."""
FAILED = 1
UNANSWERED = 5


def error(say: Say) -> int:
    """It fails, as a CLI does whose service is down."""
    say("API Error: 529 overloaded. I give up.")
    return FAILED


def silent(say: Say) -> int:
    """It claims success by its exit code, and has done nothing."""
    return 0


def hang(say: Say) -> int:
    """It goes on for ever."""
    say("Thinking…")
    time.sleep(LIMIT)
    return FAILED


def stubborn(say: Say) -> int:
    """It will not be ended by SIGTERM, nor will a child of it that has a session of its own."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # children inherit what is ignored
    child = subprocess.Popen(["sleep", str(LIMIT)], start_new_session=True)
    say(f"I will not go. My child is process {child.pid}.")
    child.wait()
    return FAILED


def blocked(say: Say) -> int | None:
    """It asks, and waits for a person. None: it may go on."""
    say("Do you want to make this edit?")
    say("❯ 1. Yes")
    say("  2. No, and tell me what to do differently")
    try:
        answer = input("> ").strip().lower()
    except EOFError:
        answer = ""
    if answer in ("1", "y", "yes"):
        return None
    say("Nobody said yes, so I stop here.")
    return UNANSWERED


TROUBLES: Mapping[str, Callable[[Say], int | None]] = {
    "error": error,
    "silent": silent,
    "hang": hang,
    "stubborn": stubborn,
    "blocked": blocked,
}

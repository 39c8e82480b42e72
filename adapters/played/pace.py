"""How fast the played agent works: a pause after every step, or none of them before a file is there.

A test that needs agents at work holds them by such a file, and lets them go on once it has seen what it came for.
"""

from __future__ import annotations

import time
from pathlib import Path

from adapters.played.trouble import LIMIT

HELD = "until:"
"""`GWT_BOT_PACE=until:/tmp/go`: it waits at its first step for that file."""
_LOOK_EVERY = 0.05


class Pace:
    """Read from words, as the environment has them."""

    def __init__(self, told: str) -> None:
        held = told.startswith(HELD)
        self._until = Path(told.removeprefix(HELD)) if held else None
        self._seconds = 0.0 if held else float(told)

    def step(self) -> None:
        """Wait as long as a step is to take."""
        deadline = time.monotonic() + LIMIT
        while self._until and not self._until.exists() and time.monotonic() < deadline:
            time.sleep(_LOOK_EVERY)
        time.sleep(self._seconds)

"""How much the bot says in a thread."""

from __future__ import annotations

from enum import StrEnum


class Verbosity(StrEnum):
    """How much is said in a thread, besides what waits for somebody and how it ends."""

    QUIET = "quiet"
    """Nothing but that. The live status is still edited in place."""
    NORMAL = "normal"
    FULL = "full"
    """A line of its own whenever a task is in another state."""

"""The tree of errors: what went wrong, and who may do something about it.

BotError
├── SettingsError      at start; lists every problem; exit 1
├── IllegalMoveError   a bug in the rules: a state was asked to become one it cannot become
├── BrokenStateError   a saved file cannot be read; it was put aside, nothing else is affected
└── PortError          raised by adapters only; library errors are translated at the edge
    ├── Unavailable    worth trying again (429, 5xx, time-out, disk full): the action is retried with back-off
    └── Refused        not worth it (401, 404, conflict): becomes OrderFailed, and the rules decide
        ├── Lost       a worktree or branch was taken away by hand: it may be made again, or done without
        └── Away       the repository itself is not where it was: somebody says where it is now

Anything else is a bug: it is logged with its traceback, that session fails and says so, the others live on.
"""

from __future__ import annotations


class BotError(Exception):
    """Every error that the bot raises on purpose."""


class SettingsError(BotError):
    """The settings do not allow a start. The message lists every problem, one per line."""


class IllegalMoveError(BotError):
    """The rules asked for a state change that is not allowed."""


class BrokenStateError(BotError):
    """A saved file cannot be read. The message says where it was moved to."""


class PortError(BotError):
    """Something outside the bot failed. `remedy` says what a person can do about it."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


class Unavailable(PortError):  # noqa: N818 - read as a sentence: raise Unavailable("…")
    """It may work later."""

    def __init__(self, reason: str, remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(reason, remedy)
        self.retry_after = retry_after


class Refused(PortError):  # noqa: N818
    """It will not work until somebody changes something."""


class Lost(Refused):
    """The worktree or branch of a task is gone, or was changed by hand."""


class Away(Refused):
    """The repository was moved, or another one has taken its place."""

"""What looks at one screen add up to: a dialog that two of them agree on, news only when it is another one.

Pure but for the monotonic clock that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adapters.tmux.dialogs import unseen
from adapters.tmux.dialogs.hints import Hint
from bot.domain.dialogs import Dialog

STALE = 6
"""How many times the wait for options a hook is remembered whose question is never seen."""


@dataclass(frozen=True)
class Pace:
    """How soon and how long is looked, in seconds."""

    again: float = 0.25
    """Between two looks that should agree."""
    apart: float = 0.7
    """Between other looks: a program that prints all the time is not read all the time."""
    settled: float = 0.8
    """tmux tells of output by the second: what followed in the same one is seen by a last look after it."""
    no_options: float = 5.0
    """For so long a screen is looked at for what a hook has announced; then the hook's words have to do."""
    moves_on: float = 5.0
    """For so long an answer may take to have an effect."""


@dataclass(frozen=True)
class Look:
    """A screen as it was read. Without a pane there is none."""

    pane_id: str = ""
    text: str = ""
    dialog: Dialog | None = None
    hint: Hint | None = None

    @property
    def announced(self) -> Dialog | None:
        """What a hook says is asked, where the screen does not show it."""
        return unseen(self.hint) if self.hint is not None and self.dialog is None else None


class Follower:
    """What the looks at one screen add up to."""

    def __init__(self, pace: Pace, clock: Callable[[], float]) -> None:
        self._pace = pace
        self._clock = clock
        self._before = Look()
        self._since = self._announced = clock()
        self._told: Dialog | None = None
        self._stands: Dialog | None = None
        self.hurries = True

    def sees(self, look: Look) -> bool:
        """Take in a look. Whether its hook has served: its question is on the screen, or the screen has gone on."""
        before, self._before = self._before, look
        changed = (before.hint, before.text) != (look.hint, look.text)
        self._since = self._clock() if changed else self._since
        agreed = _id(before.dialog) == _id(look.dialog)
        told = look.announced is not None and _id(look.announced) == _id(self._told)
        over = told and before.text != look.text
        waited = self._clock() - self._since >= self._pace.no_options
        stale = look.announced is not None and not told and self._is_stale(look, before)
        if over:
            self._stands = None
        elif agreed:
            self._stands = look.dialog or (look.announced if told or waited else None)
        self.hurries = not agreed or (look.announced is not None and not told)
        return over or stale or (agreed and look.dialog is not None)

    def _is_stale(self, look: Look, before: Look) -> bool:
        """Announced long ago, and the program has gone on drawing: somebody has answered it there."""
        if before.hint != look.hint:
            self._announced = self._clock()
        return self._clock() - self._announced > STALE * self._pace.no_options

    @property
    def has_news(self) -> bool:
        return _id(self._stands) != _id(self._told)

    def news(self) -> Dialog | None:
        self._told = self._stands
        return self._told


def _id(dialog: Dialog | None) -> str:
    return dialog.id if dialog else ""

"""Keeps the console's repl.json up to date with the tasks of its sessions, in the background."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime

from pydantic import JsonValue

from bot.core.errors import PortError
from bot.core.projections.records import ReplState, repl_after_decision, repl_after_restart
from bot.core.session import Session
from bot.ports import ReplStates

log = logging.getLogger("bot.recall")

CONSOLE = "console"
"""The platform whose sessions are recorded."""
SelectedModel = Callable[[], dict[str, JsonValue]]
"""Returns the current selection: `selected_provider` and `selected_model`."""


class ConsoleState:
    """Without a file nothing is recorded. A broken file is left untouched; whoever starts the console is told."""

    def __init__(self, states: ReplStates | None = None, selected: SelectedModel = dict) -> None:
        self._states = states
        self._selected = selected
        self._state: ReplState | None = None

    def begin(self, live_sessions: Iterable[Session], now: datetime) -> None:
        """Load the file at the start, when all sessions are restored."""
        if self._states is None:
            return
        try:
            state = self._states.load()
        except PortError as broken:
            log.warning("nothing is recalled", extra={"data": {"why": broken.reason}})
            return
        self._state = state
        ours = [one for one in live_sessions if one.thread.platform == CONSOLE]
        self._update(repl_after_restart(state, ours), now)

    def note(self, before: Session, after: Session, at: datetime) -> None:
        """Record a saved decision."""
        if self._state is None or after.thread.platform != CONSOLE:
            return
        try:
            self._update(repl_after_decision(self._state, before, after), at)
        except Exception:
            # the work goes on, whatever is wrong with this record
            log.exception("not recalled", extra={"data": {"id": after.id}})

    def _update(self, state: ReplState, at: datetime) -> None:
        # Memory is updated even if the file cannot be written; then the next change writes it.
        old, states = self._state, self._states
        if states is None or old is None:
            return
        try:
            told = state.model_dump() | self._selected()
            state = ReplState.model_validate(told)
            if state.model_copy(update={"updated_at": old.updated_at}) != old:
                self._state = state = state.model_copy(update={"updated_at": at})
                states.save(state)
        except PortError as trouble:
            log.warning("not recalled", extra={"data": {"why": trouble.reason}})

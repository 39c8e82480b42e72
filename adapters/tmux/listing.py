"""Which runs have a pane: one question for all of them, answered anew when a pane closed or some time has passed."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass

from adapters.tmux.server import TmuxServer
from bot.errors import Refused

_RUN = re.compile(r"run-[a-z0-9][a-z0-9-]{0,63}", re.ASCII)
_FIELDS = "#{session_name} #{pane_id} #{pane_dead} #{pane_pid}"


def run_name(name: str) -> str:
    """The name, if it is one of a run: it becomes part of paths and of tmux targets."""
    if not _RUN.fullmatch(name):
        raise Refused(f"{name!r} is not the name of a run.")
    return name


@dataclass(frozen=True)
class Listed:
    """A run's pane as tmux knows it. `pid` is 0 when only its screen is left."""

    pane_id: str
    pid: int


class Listing:
    """The panes of all runs."""

    def __init__(self, server: TmuxServer, lasts: float) -> None:
        self._server = server
        self._lasts = lasts
        self._asking = asyncio.Lock()
        self._panes: dict[str, Listed] = {}
        self._valid_until = 0.0

    async def now(self) -> dict[str, Listed]:
        """Asked for just now."""
        self._valid_until = (
            time.monotonic() + self._lasts
        )  # what closes while tmux answers makes it invalid again
        lines = await self._server.ask("list-panes", "-a", "-F", _FIELDS)
        self._panes = _read(lines)
        return self._panes

    async def lately(self) -> dict[str, Listed]:
        """Not older than a sweep; many may want it at once, one of them asks."""
        async with self._asking:
            return self._panes if time.monotonic() < self._valid_until else await self.now()

    def forget(self) -> None:
        self._valid_until = 0.0


def _read(lines: list[str]) -> dict[str, Listed]:
    """The run's own pane is the first of its session: a person may have opened more beside it."""
    panes: dict[str, Listed] = {}
    for line in lines:
        name, pane_id, dead, pid = line.rsplit(" ", 3)
        first = panes.get(name)
        if _RUN.fullmatch(name) and (first is None or int(pane_id[1:]) < int(first.pane_id[1:])):
            panes[name] = Listed(pane_id, 0 if dead == "1" else int(pid))
    return panes

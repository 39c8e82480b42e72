"""People who look at a pane from a terminal of their own: whoever types there is not interrupted."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping

from adapters.tmux.server import Rejected, TmuxServer

AT_THE_KEYS = 10.0
"""Seconds after a key for which somebody is taken to be typing."""


def attach_command(socket_name: str, environment: Mapping[str, str]) -> str:
    """What a person types to come to a session, all but its name."""
    folder = environment.get("TMUX_TMPDIR", "")
    where = f"TMUX_TMPDIR={shlex.quote(folder)} " if folder else ""
    return f"{where}tmux -L {shlex.quote(socket_name)} attach -t "


class People:
    """All clients but the bot's own, which is a control client."""

    def __init__(self, server: TmuxServer) -> None:
        self._server = server

    async def watching(self, run: str) -> bool:
        """Is somebody attached to the run's session?"""
        return bool(await self._last_keys(run))

    async def typing(self, run: str) -> bool:
        """Has somebody attached pressed a key just now?"""
        return any(time.time() - when < AT_THE_KEYS for when in await self._last_keys(run))

    async def _last_keys(self, run: str) -> list[int]:
        listing = (
            "list-clients",
            "-t",
            f"={run}",
            "-F",
            "#{client_control_mode} #{client_activity}",
        )
        try:
            lines = await self._server.ask(*listing)
        except Rejected:
            return []  # there is no such session
        clients = (line.split() for line in lines)
        return [int(when) for control, when in clients if control == "0"]

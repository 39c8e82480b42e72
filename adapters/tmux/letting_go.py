"""The last of a run: its processes are ended, what it has shown is kept, its pane is closed; with or without tmux."""

from __future__ import annotations

import asyncio
import contextlib

from adapters.tmux.listing import Listing
from adapters.tmux.processes import end_processes
from adapters.tmux.screens import Screens
from adapters.tmux.server import TmuxServer
from adapters.tmux.spool import Spool
from bot.errors import Unavailable

TMUX_IS_WAITED_FOR = 1.0
"""Seconds before a stop goes on without it."""


class LettingGo:
    """One for all panes."""

    def __init__(
        self, server: TmuxServer, listing: Listing, screens: Screens, grace: float
    ) -> None:
        self._server = server
        self._listing = listing
        self._screens = screens
        self._grace = grace

    async def let_go(self, spool: Spool) -> tuple[int, ...]:
        """End the processes, keep what was shown before or after (a full-screen program takes its screen with it),
        close the pane. The pids that live on."""
        name, root, before = spool.path.name, 0, ""
        # without tmux its processes are found too, and must be
        with contextlib.suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(TMUX_IS_WAITED_FOR):
                root, before = await self._before_the_end(name)
        left = await end_processes(spool.path, root, self._grace)
        listed = (await self._listing.now()).get(name)
        if listed is not None:
            self._server.reap()
            await self._screens.keep(name, listed.pane_id, before)
            await self._server.close_session(name)
            self._listing.forget()
        elif before:
            # the pane went with its processes: somebody closed it, or tmux died meanwhile
            await asyncio.to_thread(self._screens.write, name, before)
        return left

    async def _before_the_end(self, name: str) -> tuple[int, str]:
        listed = (await self._listing.now()).get(name)
        if listed is None or not listed.pid:
            return 0, ""
        return listed.pid, await self._screens.all_shown(name, listed.pane_id)

"""A pane's output into a file, only as long as somebody needs it: for a marker, or until the program is ready."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from collections.abc import Awaitable

from adapters.tmux.listing import Listed
from adapters.tmux.output import Output
from adapters.tmux.server import Rejected, TmuxServer
from adapters.tmux.spool import Spool, on_disk

ENOUGH = 1 << 18
"""A program that has printed so many bytes without asking for pasted text will not ask."""


class Pipe:
    """Opens pipes with their panes and closes them when they have served."""

    def __init__(self, server: TmuxServer) -> None:
        self._server = server

    async def open_with(self, opened: Awaitable[object], run: str, spool: Spool) -> None:
        """Both questions are on their way before the first answer comes, so no output is missed."""
        if not spool.has("output"):
            await opened
            return
        command = "exec cat >> " + shlex.quote(str(spool.output))
        # tmux expands formats and times in it
        command = command.replace("#", "##").replace("%", "%%")
        pipe = self._server.ask("pipe-pane", "-t", f"={run}:", command)
        first, second = await asyncio.gather(opened, pipe, return_exceptions=True)
        for problem in (first, second):
            # a pane that has died at once cannot be piped any more
            if isinstance(problem, BaseException) and not (
                problem is second and isinstance(problem, Rejected)
            ):
                raise problem

    async def heed(self, spool: Spool, output: Output, pane: Listed | None) -> None:
        """Take in what was printed, and write down what it says."""
        if not spool.has("output"):
            return
        with on_disk("What the agent said cannot be written down"):
            output.read()
            if output.done and not spool.since_paste("done"):
                spool.write("done", "")
            if output.ready and not spool.has("ready"):
                spool.write("ready", "")
            if output.marker:
                output.shorten()
                return
        if pane is not None and (spool.has("ready") or output.position > ENOUGH):
            with contextlib.suppress(Rejected):  # the pane is gone, and its pipe with it
                await self._server.ask("pipe-pane", "-t", pane.pane_id)
            spool.output.unlink(missing_ok=True)

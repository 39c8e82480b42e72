"""Typing into a pane: byte for byte, and not before the program there asks for it.

A program that takes pasted text says so by asking for bracketed paste; what comes earlier is lost in its start. One
that has not asked a while after its start is taken for one that reads lines: it may get a single line, not several.
"""

from __future__ import annotations

import asyncio

from adapters.tmux.output import Output
from adapters.tmux.screen import typeable
from adapters.tmux.server import TmuxServer
from adapters.tmux.spool import Spool, on_disk
from adapters.tmux.watch import Watch
from bot.errors import Refused

ENTER_AFTER = 0.3
"""Seconds: some programs take an Enter that follows a paste at once as a part of it."""


class NotRunning(Refused):
    """Nobody is there to type to."""

    def __init__(self) -> None:
        super().__init__(
            "The agent is not running any more.",
            "Start a new run that goes on with its conversation.",
        )


class Keyboard:
    """One for all panes."""

    def __init__(self, server: TmuxServer, watch: Watch, patience: float) -> None:
        self._server = server
        self._watch = watch
        self._patience = patience

    async def paste(self, run: str, pane_id: str, spool: Spool, text: str) -> None:
        """The text, then Enter."""
        typed = typeable(text)
        await self._until_ready(spool, typed)
        with on_disk("The text cannot be handed to tmux"):
            spool.mark_pasted()
            spool.write("paste", typed)
        try:
            if typed:
                # by file: tmux's own command line would lose a semicolon at the end; relative to the keeper's folder
                await self._server.ask("load-buffer", "-b", run, f"{run}/paste")
                paste = ("paste-buffer", "-p", "-r", "-d", "-b", run, "-t", pane_id)
                if not await self._server.ask_living(pane_id, *paste):
                    raise NotRunning
                await asyncio.sleep(ENTER_AFTER)
            await self._server.ask_living(pane_id, "send-keys", "-t", pane_id, "Enter")
        finally:
            (spool.path / "paste").unlink(missing_ok=True)
        spool.count_paste()

    async def _until_ready(self, spool: Spool, text: str) -> None:
        if spool.kept.stdin != "terminal":
            raise Refused(
                "This agent does not read its terminal.",
                "Start a new run that goes on with its conversation.",
            )
        output = Output(spool.output, "")
        with self._watch.on(spool.path, 0) as wake:
            while not self._is_ready(spool, output, text):
                wake.period = min(wake.period, self._patience / 10)
                await wake.wait()

    def _is_ready(self, spool: Spool, output: Output, text: str) -> bool:
        output.read()
        if output.ready:
            spool.write("ready", "")
        if spool.has("ready"):
            return True
        if spool.age("started") < self._patience:
            return False
        if "\n" in text.rstrip("\n"):
            raise Refused(
                "The program in the pane does not take pasted text, only single lines.",
                "Send it as one line.",
            )
        return True

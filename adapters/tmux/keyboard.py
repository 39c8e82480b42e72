"""Typing into a pane: byte for byte, and not before the program there asks for it.

A program that takes pasted text says so by asking for bracketed paste; what comes earlier is lost in its start. One
that has not asked a while after its start is taken for one that reads lines: it may get a single line, not several.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from adapters.tmux.output import Output
from adapters.tmux.screen import typeable
from adapters.tmux.server import Rejected, TmuxServer
from adapters.tmux.spool import Spool, on_disk
from adapters.tmux.watch import Watch
from bot.errors import Refused

ENTER_AFTER = 0.3
"""Seconds: some programs take an Enter that follows a paste at once as a part of it."""
KEY_AFTER = 0.1


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

    async def paste(self, pane_id: str, spool: Spool, text: str) -> None:
        """The text, then Enter: a turn of its own begins."""
        with on_disk("The text cannot be handed to tmux"):
            spool.mark_pasted()
        await self.enter(pane_id, spool, text)
        spool.count_paste()

    async def enter(self, pane_id: str, spool: Spool, text: str) -> None:
        """The text, then Enter."""
        run, typed = spool.path.name, typeable(text)
        with on_disk("The text cannot be handed to tmux"):
            spool.write("paste", typed)
        try:
            await self._leave_copy_mode(pane_id)
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

    async def press(self, pane_id: str, keys: Sequence[str]) -> None:
        """One key after the other: several at once may be taken for a single one."""
        await self._leave_copy_mode(pane_id)
        for number, key in enumerate(keys):
            if number:
                await asyncio.sleep(KEY_AFTER)
            # a letter is sent as it is: with others like it, it could be the name of a key
            pressed = ("-l", "--", key) if len(key) == 1 else (key,)
            if not await self._server.ask_living(pane_id, "send-keys", "-t", pane_id, *pressed):
                raise NotRunning

    async def _leave_copy_mode(self, pane_id: str) -> None:
        """Whoever has scrolled back in the pane has left it in a mode that takes the keys for itself."""
        with contextlib.suppress(Rejected):
            await self._server.ask("copy-mode", "-q", "-t", pane_id)

    async def until_ready(self, spool: Spool, text: str) -> None:
        """Wait until the program can be typed to."""
        if spool.kept.stdin != "terminal":
            raise Refused(
                "This agent does not read its terminal.",
                "Start a new run that goes on with its conversation.",
            )
        output = Output(spool.output, "")
        with self._watch.on(spool.path, 0) as wake:
            while not self._is_ready(spool, output, typeable(text)):
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

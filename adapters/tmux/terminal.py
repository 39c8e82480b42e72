"""The input and output of a pane: typing into it, and reading what its program prints."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from collections.abc import Awaitable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from adapters.files import plain_file
from adapters.tmux.screens import ListedPane, is_marker, printed_lines, typeable
from adapters.tmux.server import TmuxRejected, TmuxServer
from adapters.tmux.spool import Spool, disk_errors
from adapters.tmux.watch import Watch
from bot.core.errors import Refused

# Typing into a pane: byte for byte, and not before the program there asks for it.
#
# A program that takes pasted text says so by asking for bracketed paste; what comes earlier is
# lost in its start. One that has not asked a while after its start is taken for one that reads
# lines: it may get a single line, not several.

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
        with disk_errors("The text cannot be handed to tmux"):
            spool.mark_pasted()
        await self.enter(pane_id, spool, text)
        spool.count_paste()

    async def enter(self, pane_id: str, spool: Spool, text: str) -> None:
        """The text, then Enter."""
        run, typed = spool.path.name, typeable(text)
        with disk_errors("The text cannot be handed to tmux"):
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
        with contextlib.suppress(TmuxRejected):
            await self._server.ask("copy-mode", "-q", "-t", pane_id)

    async def until_ready(self, spool: Spool, text: str) -> None:
        """Wait until the program can be typed to."""
        if spool.kept.stdin != "terminal":
            raise Refused(
                "This agent does not read its terminal.",
                "Start a new run that goes on with its conversation.",
            )
        output = PaneOutput(spool.output, "")
        with self._watch.on(spool.path, 0) as wake:
            while not self._is_ready(spool, output, typeable(text)):
                wake.period = min(wake.period, self._patience / 10)
                await wake.wait()

    def _is_ready(self, spool: Spool, output: PaneOutput, text: str) -> bool:
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


# What a pane prints, read as it comes: has the program asked for pasted text, has the agent said
# it is done?

WANTS_PASTE = b"\x1b[?2004h"
CHUNK = 1 << 18
CARRIED_BYTES = 1 << 13
"""How much of an unended line is read again with what follows: more than any marker with its colours."""
LARGEST_OUTPUT = 8 << 20
"""What has grown by more than this since the last look is read from there on only."""


class PaneOutput:
    """The file a pane is piped into, read from `start` on."""

    def __init__(self, path: Path, marker: str, start: int = 0) -> None:
        self._path = path
        self.marker = marker
        self._carry = b""
        self.position = start
        self.ready = False
        self.done = False

    def read(self) -> None:
        """Take in what is new."""
        with _open_output(self._path, os.O_RDONLY) as descriptor:
            if descriptor is not None:
                self._read_to(os.fstat(descriptor).st_size, descriptor)

    def _read_to(self, size: int, descriptor: int) -> None:
        if size < self.position:  # it was begun anew
            self.position, self._carry = 0, b""
        if size - self.position > LARGEST_OUTPUT:
            self.position, self._carry = size - LARGEST_OUTPUT, b""
        while chunk := os.pread(descriptor, min(CHUNK, size - self.position), self.position):
            self.position += len(chunk)
            self._take(chunk)

    def shorten(self) -> None:
        """Begin the file anew when it has grown large; its writer appends."""
        if self.position <= LARGEST_OUTPUT:
            return
        with _open_output(self._path, os.O_WRONLY) as descriptor:
            if descriptor is not None:
                os.ftruncate(descriptor, 0)
                self.position = 0

    def _take(self, chunk: bytes) -> None:
        text = self._carry + chunk
        self.ready = self.ready or WANTS_PASTE in text
        *ended, _unended = printed_lines(text.decode(errors="replace"))
        if self.marker:
            self.done = self.done or any(is_marker(line, self.marker) for line in ended)
        # an escape sequence may be cut in two, so the raw bytes are carried, not the text
        cut = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        self._carry = text[cut:][-CARRIED_BYTES:]


@contextmanager
def _open_output(path: Path, how: int) -> Generator[int | None]:
    """None: it is no plain file. The agent can put a link or a pipe in its place, also one that leads out of its sandbox."""
    with contextlib.ExitStack() as opened:
        try:
            descriptor = opened.enter_context(plain_file(path, how))
        except OSError:
            descriptor = None
        yield descriptor


# A pane's output into a file, only as long as somebody needs it: for a marker, or until the
# program is ready.

ENOUGH_OUTPUT = 1 << 18
"""A program that has printed so many bytes without asking for pasted text will not ask."""


class OutputPipes:
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
                problem is second and isinstance(problem, TmuxRejected)
            ):
                raise problem

    async def heed(self, spool: Spool, output: PaneOutput, pane: ListedPane | None) -> None:
        """Take in what was printed, and write down what it says."""
        if not spool.has("output"):
            return
        with disk_errors("What the agent said cannot be written down"):
            output.read()
            if output.done and not spool.since_paste("done"):
                spool.write("done", "")
            if output.ready and not spool.has("ready"):
                spool.write("ready", "")
            if output.marker:
                output.shorten()
                return
        if pane is not None and (spool.has("ready") or output.position > ENOUGH_OUTPUT):
            with contextlib.suppress(TmuxRejected):  # the pane is gone, and its pipe with it
                await self._server.ask("pipe-pane", "-t", pane.pane_id)
            spool.output.unlink(missing_ok=True)

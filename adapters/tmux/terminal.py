"""Input and output of a pane: typing into it, and reading what its program prints."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from collections.abc import Awaitable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from adapters.files import open_regular_file
from adapters.tmux.screens import ListedPane, is_marker, printed_lines, sanitize_input
from adapters.tmux.server import TmuxRejected, TmuxServer
from adapters.tmux.spool import Spool, disk_errors
from adapters.tmux.watch import Watch
from bot.core.errors import Refused

# Typing into a pane: unchanged bytes, and not before its program is ready. A program that accepts pasted text enables
# bracketed paste; earlier input is lost during its start. One that has not enabled it some time after its start counts
# as one that reads lines, and may get a single line only.

ENTER_DELAY = 0.3
"""Seconds: some programs take an Enter that follows a paste at once as part of it."""
KEY_DELAY = 0.1


class NotRunning(Refused):
    """No program runs in the pane."""

    def __init__(self) -> None:
        super().__init__(
            "The agent is not running any more.",
            "Start a new run that goes on with its conversation.",
        )


class Keyboard:
    """Types into panes."""

    def __init__(self, server: TmuxServer, watch: Watch, patience: float) -> None:
        self._server = server
        self._watch = watch
        self._patience = patience

    async def paste(self, pane_id: str, spool: Spool, text: str) -> None:
        """Paste the text and press Enter; this begins a new turn."""
        with disk_errors("The text cannot be handed to tmux"):
            spool.mark_pasting()
        await self.enter(pane_id, spool, text)
        spool.count_paste()

    async def enter(self, pane_id: str, spool: Spool, text: str) -> None:
        """Paste the text and press Enter."""
        run, typed = spool.path.name, sanitize_input(text)
        with disk_errors("The text cannot be handed to tmux"):
            spool.write("paste", typed)
        try:
            await self._leave_copy_mode(pane_id)
            if typed:
                # from a file, because tmux's command line would lose a trailing semicolon; the path is relative to the
                # folder of the bot's session
                await self._server.run("load-buffer", "-b", run, f"{run}/paste")
                paste = ("paste-buffer", "-p", "-r", "-d", "-b", run, "-t", pane_id)
                if not await self._server.run_if_alive(pane_id, *paste):
                    raise NotRunning
                await asyncio.sleep(ENTER_DELAY)
            await self._server.run_if_alive(pane_id, "send-keys", "-t", pane_id, "Enter")
        finally:
            (spool.path / "paste").unlink(missing_ok=True)

    async def press(self, pane_id: str, keys: Sequence[str]) -> None:
        # Keys are sent one at a time, because several at once may be taken for a single one.
        await self._leave_copy_mode(pane_id)
        for number, key in enumerate(keys):
            if number:
                await asyncio.sleep(KEY_DELAY)
            # a letter is sent literally, because with others it could form the name of a key
            pressed = ("-l", "--", key) if len(key) == 1 else (key,)
            if not await self._server.run_if_alive(pane_id, "send-keys", "-t", pane_id, *pressed):
                raise NotRunning

    async def _leave_copy_mode(self, pane_id: str) -> None:
        # Whoever scrolls back in the pane leaves it in copy mode, which would take the keys.
        with contextlib.suppress(TmuxRejected):
            await self._server.run("copy-mode", "-q", "-t", pane_id)

    async def wait_until_ready(self, spool: Spool, text: str) -> None:
        """Wait until the program accepts input."""
        if spool.kept.stdin != "terminal":
            raise Refused(
                "This agent does not read its terminal.",
                "Start a new run that goes on with its conversation.",
            )
        output = PaneOutput(spool.output, "")
        with self._watch.watch_run(spool.path, 0) as wake:
            while not self._is_ready(spool, output, sanitize_input(text)):
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


# What a pane prints, read as it arrives: has the program enabled bracketed paste, has the agent said it is done?

BRACKETED_PASTE_ON = b"\x1b[?2004h"
CHUNK = 1 << 18
MAX_CARRIED_BYTES = 1 << 13
"""How much of an unfinished line is read again with the next part: more than any marker with its colours."""
MAX_OUTPUT_BYTES = 8 << 20
"""If more than this was added since the last reading, only the end of it is read."""


class PaneOutput:
    """Reads the file a pane's output is written to, from `start` on."""

    def __init__(self, path: Path, marker: str, start: int = 0) -> None:
        self._path = path
        self.marker = marker
        self._carry = b""
        self.position = start
        self.ready = False
        self.done = False

    def read(self) -> None:
        """Read what was added."""
        with _open_output(self._path, os.O_RDONLY) as descriptor:
            if descriptor is not None:
                self._read_to(os.fstat(descriptor).st_size, descriptor)

    def _read_to(self, size: int, descriptor: int) -> None:
        if size < self.position:  # the file was truncated
            self.position, self._carry = 0, b""
        if size - self.position > MAX_OUTPUT_BYTES:
            self.position, self._carry = size - MAX_OUTPUT_BYTES, b""
        while chunk := os.pread(descriptor, min(CHUNK, size - self.position), self.position):
            self.position += len(chunk)
            self._take(chunk)

    def truncate(self) -> None:
        """Truncate the file when it has grown large; its writer appends."""
        if self.position <= MAX_OUTPUT_BYTES:
            return
        with _open_output(self._path, os.O_WRONLY) as descriptor:
            if descriptor is not None:
                os.ftruncate(descriptor, 0)
                self.position = 0

    def _take(self, chunk: bytes) -> None:
        text = self._carry + chunk
        self.ready = self.ready or BRACKETED_PASTE_ON in text
        *ended, _unended = printed_lines(text.decode(errors="replace"))
        if self.marker:
            self.done = self.done or any(is_marker(line, self.marker) for line in ended)
        # an escape sequence may be cut in two, so the raw bytes are carried over, not the text
        cut = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        self._carry = text[cut:][-MAX_CARRIED_BYTES:]


@contextmanager
def _open_output(path: Path, how: int) -> Generator[int | None]:
    # None unless it is a regular file: the agent can put a link or pipe in its place, even one that leads out of its
    # sandbox.
    with contextlib.ExitStack() as opened:
        try:
            descriptor = opened.enter_context(open_regular_file(path, how))
        except OSError:
            descriptor = None
        yield descriptor


# Writes a pane's output to a file only as long as it is needed: for a marker, or until the program is ready.

NEVER_READY_BYTES = 1 << 18
"""A program that has printed this many bytes without enabling bracketed paste will not do so."""


class OutputPipes:
    """Opens output pipes together with their panes and closes them when they are no longer needed."""

    def __init__(self, server: TmuxServer) -> None:
        self._server = server

    async def open_with(self, opened: Awaitable[object], run: str, spool: Spool) -> None:
        # Both commands are sent before the first answer arrives, so that no output is missed.
        if not spool.has("output"):
            await opened
            return
        command = "exec cat >> " + shlex.quote(str(spool.output))
        # tmux expands formats and times in it
        command = command.replace("#", "##").replace("%", "%%")
        pipe = self._server.run("pipe-pane", "-t", f"={run}:", command)
        first, second = await asyncio.gather(opened, pipe, return_exceptions=True)
        for problem in (first, second):
            # a pane that has died at once cannot be piped any more
            if isinstance(problem, BaseException) and not (
                problem is second and isinstance(problem, TmuxRejected)
            ):
                raise problem

    async def process_output(
        self, spool: Spool, output: PaneOutput, pane: ListedPane | None
    ) -> None:
        """Read the new output, record what it signals, and close the pipe if it is no longer needed."""
        if not spool.has("output"):
            return
        with disk_errors("What the agent said cannot be written down"):
            output.read()
            if output.done and not spool.is_in_current_turn("done"):
                spool.write("done", "")
            if output.ready and not spool.has("ready"):
                spool.write("ready", "")
            if output.marker:
                output.truncate()
                return
        if pane is not None and (spool.has("ready") or output.position > NEVER_READY_BYTES):
            with contextlib.suppress(TmuxRejected):  # the pane is gone, and its pipe with it
                await self._server.run("pipe-pane", "-t", pane.pane_id)
            spool.output.unlink(missing_ok=True)

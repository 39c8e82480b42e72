"""What panes show: read through a file, because a screen's lines must not be taken for tmux's own answers."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable
from pathlib import Path

from adapters.tmux.dialogs.page import Shown
from adapters.tmux.screen import last_lines, readable
from adapters.tmux.server import Rejected, TmuxServer
from adapters.tmux.spool import on_disk, open_private

TRANSCRIPT = 2_000_000
"""Bytes of one transcript. A longer one keeps its beginning and, most of all, its end."""
_BEGINNING = TRANSCRIPT // 10


class Screens:
    """Screens of living panes, and transcripts of those that were let go."""

    def __init__(self, server: TmuxServer, home: Path, mask: Callable[[str], str]) -> None:
        self._server = server
        self._spool = home / "spool"
        self._runs = home / "runs"
        self._mask = mask
        self._serial = itertools.count()

    async def tail(self, run: str, pane_id: str, lines: int) -> str:
        return last_lines(await self._capture(run, pane_id), lines)

    async def shown(self, run: str, pane_id: str) -> Shown:
        """The screen as it is, masked, with its cursor."""
        text = await self._capture(run, pane_id)
        where = "#{cursor_flag} #{pane_height} #{cursor_y}"
        try:
            (answer,) = await self._server.ask("display-message", "-p", "-t", pane_id, where)
            visible, height, row = (int(number) for number in answer.split())
        except (Rejected, ValueError):
            visible, height, row = 0, 0, 0  # the pane is gone
        return Shown(self._mask(readable(text)), height - 1 - row if visible else None)

    def last_of_transcript(self, run: str, lines: int) -> str:
        path = self.transcript(run)
        return last_lines(path.read_text(encoding="utf-8"), lines) if path.exists() else ""

    def transcript(self, run: str) -> Path:
        return self._runs / f"{run}.log"

    async def all_shown(self, run: str, pane_id: str) -> str:
        """The screen and all that has left it upwards."""
        return readable(await self._capture(run, pane_id, "-S", "-")).strip("\n")

    async def keep(self, run: str, pane_id: str, before: str) -> None:
        """Write down what the pane has shown; what it showed before if that was more."""
        after = await self.all_shown(run, pane_id)
        await asyncio.to_thread(self.write, run, max(before, after, key=len))

    def write(self, run: str, shown: str) -> None:
        """Masked; by another name first, so that there is a whole transcript or none."""
        with on_disk("The transcript cannot be written"):
            self._runs.mkdir(mode=0o700, parents=True, exist_ok=True)
            temporary = self._runs / f".{run}.log.new"
            temporary.unlink(missing_ok=True)
            with open_private(temporary) as file:
                # masked before it is cut: half a secret would not be known any more
                file.write(within((self._mask(shown) + "\n").encode(errors="replace")))
            temporary.replace(self.transcript(run))

    async def _capture(self, run: str, pane_id: str, *extent: str) -> str:
        """The text of the pane; empty where the pane is gone."""
        name = f"{run}.{os.getpid()}.{next(self._serial)}.screen"
        path = self._spool / name
        with on_disk("The screen cannot be read"):
            open_private(path).close()  # tmux would create it for all to read
        try:
            await self._server.ask("capture-pane", "-J", "-b", name, *extent, "-t", pane_id)
            await self._server.ask("save-buffer", "-b", name, name)
            await self._server.ask("delete-buffer", "-b", name)
            return path.read_text(encoding="utf-8", errors="replace")
        except Rejected:
            return ""
        finally:
            path.unlink(missing_ok=True)


def within(text: bytes) -> bytes:
    """What fits into a transcript, in whole lines, and how much is left out."""
    if len(text) <= TRANSCRIPT:
        return text
    beginning = text[: text.rfind(b"\n", 0, _BEGINNING) + 1]
    cut = len(text) - TRANSCRIPT + _BEGINNING + 100
    line = text.find(b"\n", cut, len(text) - 1)
    end = text[line + 1 if line >= 0 else cut :]
    left = len(text) - len(beginning) - len(end)
    return beginning + f"… {left} bytes are left out …\n".encode() + end

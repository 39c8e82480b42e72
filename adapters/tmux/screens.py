"""Which panes exist, what they show, and which people look at them."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from adapters.files import UnsyncedDisk, create_file
from adapters.tmux.screen_lines import ScreenContent
from adapters.tmux.server import TmuxRejected, TmuxServer
from adapters.tmux.spool import disk_errors
from bot.core.errors import Refused
from bot.core.screens import PaneScreen, coloured_rows, row_text

# The contents of panes, read through a file, because lines of a screen could be taken for tmux's own answers.

MAX_TRANSCRIPT_BYTES = 2_000_000
"""Bytes of a transcript. A longer one keeps its beginning and, mostly, its end."""
LAST_LINES = 500
"""How much of a transcript is shown in place of a pane that is gone."""
_BEGINNING = MAX_TRANSCRIPT_BYTES // 10


class PaneScreens:
    """Screens of open panes, and transcripts of closed ones."""

    def __init__(self, server: TmuxServer, home: Path, mask: Callable[[str], str]) -> None:
        self._server = server
        self._spool = home / "spool"
        self._runs = home / "runs"
        self._mask = mask
        self._serial = itertools.count()

    async def tail(self, run: str, pane_id: str, lines: int) -> str:
        return last_lines(await self._capture(run, pane_id), lines)

    async def read_screen(self, run: str, pane_id: str) -> ScreenContent:
        """Return the current screen, masked, with its cursor."""
        text = await self._capture(run, pane_id)
        where = "#{cursor_flag} #{pane_height} #{cursor_y}"
        try:
            (answer,) = await self._server.run("display-message", "-p", "-t", pane_id, where)
            visible, height, row = (int(number) for number in answer.split())
        except (TmuxRejected, ValueError):
            visible, height, row = 0, 0, 0  # the pane is gone
        return ScreenContent(
            self._mask(sanitize_screen(text)), height - 1 - row if visible else None
        )

    async def coloured(self, run: str, pane_id: str) -> PaneScreen:
        """Return the current screen with its colours, masked."""
        text = await self._capture(run, pane_id, "-e")
        try:
            (answer,) = await self._server.run(
                "display-message", "-p", "-t", pane_id, "#{pane_width}"
            )
            width = int(answer)
        except (TmuxRejected, ValueError):
            return PaneScreen()  # the pane is gone
        rows = coloured_rows(text, self._mask)
        rows = tuple(row for row in rows if not _DEAD_PANE_LINE.fullmatch(row_text(row).strip()))
        while rows and not rows[-1]:
            rows = rows[:-1]
        return PaneScreen(rows, width, live=True)

    def end_of_transcript(self, run: str) -> PaneScreen:
        path = self.transcript(run)
        if not path.exists():
            return PaneScreen()
        lines = path.read_text(encoding="utf-8").split("\n")[-LAST_LINES:]
        return PaneScreen(coloured_rows("\n".join(lines), self._mask))

    def last_of_transcript(self, run: str, lines: int) -> str:
        path = self.transcript(run)
        return last_lines(path.read_text(encoding="utf-8"), lines) if path.exists() else ""

    def transcript(self, run: str) -> Path:
        return self._runs / f"{run}.log"

    async def read_scrollback(self, run: str, pane_id: str) -> str:
        """Return the screen and the whole scrollback."""
        return sanitize_screen(await self._capture(run, pane_id, "-S", "-")).strip("\n")

    async def keep(self, run: str, pane_id: str, before: str) -> None:
        """Save what the pane has shown, or what it showed before if that was longer."""
        after = await self.read_scrollback(run, pane_id)
        await asyncio.to_thread(self.write, run, max(before, after, key=len))

    def write(self, run: str, shown: str) -> None:
        # Masked, and renamed from a temporary file, so that the transcript is complete or missing.
        with disk_errors("The transcript cannot be written"):
            self._runs.mkdir(mode=0o700, parents=True, exist_ok=True)
            # masked before it is cut, because half a secret would not be recognised
            content = fit_transcript((self._mask(shown) + "\n").encode(errors="replace"))
            UnsyncedDisk().replace(self.transcript(run), content)

    async def _capture(self, run: str, pane_id: str, *extent: str) -> str:
        """Return the text of the pane; empty if the pane is gone."""
        name = f"{run}.{os.getpid()}.{next(self._serial)}.screen"
        path = self._spool / name
        with disk_errors("The screen cannot be read"):
            create_file(path).close()  # tmux would create it readable for everybody
        try:
            await self._server.run("capture-pane", "-J", "-b", name, *extent, "-t", pane_id)
            await self._server.run("save-buffer", "-b", name, name)
            await self._server.run("delete-buffer", "-b", name)
            return path.read_text(encoding="utf-8", errors="replace")
        except TmuxRejected:
            return ""
        finally:
            path.unlink(missing_ok=True)


def fit_transcript(text: bytes) -> bytes:
    """Return the part that fits into a transcript, in whole lines, with a note of how much is left out."""
    if len(text) <= MAX_TRANSCRIPT_BYTES:
        return text
    beginning = text[: text.rfind(b"\n", 0, _BEGINNING) + 1]
    cut = len(text) - MAX_TRANSCRIPT_BYTES + _BEGINNING + 100
    line = text.find(b"\n", cut, len(text) - 1)
    end = text[line + 1 if line >= 0 else cut :]
    left = len(text) - len(beginning) - len(end)
    return beginning + f"… {left} bytes are left out …\n".encode() + end


# Which runs have a pane: one query for all of them, repeated when a pane was closed or some time has passed.

_RUN = re.compile(r"run-[a-z0-9][a-z0-9-]{0,63}", re.ASCII)
_FIELDS = "#{session_name} #{pane_id} #{pane_dead} #{pane_pid}"


def run_name(name: str) -> str:
    """Return the name if it is that of a run, because it becomes part of paths and tmux targets; raise Refused
    otherwise.
    """
    if not _RUN.fullmatch(name):
        raise Refused(f"{name!r} is not the name of a run.")
    return name


@dataclass(frozen=True)
class ListedPane:
    """A run's pane as listed by tmux. `pid` is 0 if only its screen is left."""

    pane_id: str
    pid: int


class PaneListing:
    """Lists the panes of all runs."""

    def __init__(self, server: TmuxServer, lasts: float) -> None:
        self._server = server
        self._lasts = lasts
        self._asking = asyncio.Lock()
        self._panes: dict[str, ListedPane] = {}
        self._valid_until = 0.0

    async def refresh(self) -> dict[str, ListedPane]:
        """Return the panes, listed just now."""
        self._valid_until = (
            time.monotonic() + self._lasts
        )  # a pane closed while tmux answers makes it invalid again
        lines = await self._server.run("list-panes", "-a", "-F", _FIELDS)
        self._panes = _read_panes(lines)
        return self._panes

    async def recent(self) -> dict[str, ListedPane]:
        """Return the panes, listed at most one sweep ago. Concurrent callers share one query."""
        async with self._asking:
            return self._panes if time.monotonic() < self._valid_until else await self.refresh()

    def forget(self) -> None:
        self._valid_until = 0.0


def _read_panes(lines: list[str]) -> dict[str, ListedPane]:
    # The run's own pane is the first of its session, because a person may have opened others.
    panes: dict[str, ListedPane] = {}
    for line in lines:
        name, pane_id, dead, pid = line.rsplit(" ", 3)
        first = panes.get(name)
        if _RUN.fullmatch(name) and (first is None or int(pane_id[1:]) < int(first.pane_id[1:])):
            panes[name] = ListedPane(pane_id, 0 if dead == "1" else int(pid))
    return panes


# People who look at a pane from a terminal of their own: while somebody types there the bot does not.

TYPING_PERIOD = 10.0
"""Seconds after a key press in which somebody counts as typing."""


def attach_command(socket_name: str, environment: Mapping[str, str]) -> str:
    """Return the command with which a person attaches to a session, without the session's name."""
    folder = environment.get("TMUX_TMPDIR", "")
    where = f"TMUX_TMPDIR={shlex.quote(folder)} " if folder else ""
    return f"{where}tmux -L {shlex.quote(socket_name)} attach -t "


class PaneViewers:
    """All clients except the bot's own, which is a control client."""

    def __init__(self, server: TmuxServer) -> None:
        self._server = server

    async def is_attached(self, run: str) -> bool:
        """Whether somebody is attached to the run's session."""
        return bool(await self._last_keys(run))

    async def is_typing(self, run: str) -> bool:
        """Whether somebody attached has pressed a key recently."""
        return any(time.time() - when < TYPING_PERIOD for when in await self._last_keys(run))

    async def _last_keys(self, run: str) -> list[int]:
        listing = (
            "list-clients",
            "-t",
            f"={run}",
            "-F",
            "#{client_control_mode} #{client_activity}",
        )
        try:
            lines = await self._server.run(*listing)
        except TmuxRejected:
            return []  # there is no such session
        clients = (line.split() for line in lines)
        return [int(when) for control, when in clients if control == "0"]


# Text from screens and for keyboards: it must neither control a terminal nor deceive a reader.

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_DEAD_PANE_LINE = re.compile(r"Pane is dead(?: \(.*\))?")
_TITLE = re.compile(r"\x1b[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)")
_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*([@-~])|\x1b[ -/]*[0-~]")
_DECORATION = " \t│┃|•●⏺∙·*>✦⎿└╰─✔✓"


def sanitize_screen(text: str) -> str:
    """Remove control characters, bidirectional overrides, zero-width characters and tmux's own last line."""
    lines = _INVISIBLE.sub("", _CONTROLS.sub("", text)).splitlines()
    return "\n".join(line.rstrip() for line in lines if not _DEAD_PANE_LINE.fullmatch(line.strip()))


def last_lines(text: str, lines: int) -> str:
    """Return the last lines that are not empty."""
    full = [line for line in sanitize_screen(text).split("\n") if line]
    return "\n".join(full[-lines:]) if lines > 0 else ""


def sanitize_input(text: str) -> str:
    """Return the text that may be pasted; an escape would end the bracketed paste and start to press keys."""
    return _CONTROLS.sub("", text)


def printed_lines(text: str) -> list[str]:
    """Split raw terminal output into lines; the last one is not ended yet.

    Programs that draw their screen move the cursor instead of ending a line, so a cursor movement ends one, too.
    """
    plain = _SEQUENCE.sub(
        lambda found: "" if found[1] in {"m", "K", "h", "l"} else "\n", _TITLE.sub("", text)
    )
    return re.split(r"[\r\n]", plain)


def is_marker(line: str, marker: str) -> bool:
    """Whether the whole line is the marker, apart from bullets and borders a program may draw around it."""
    return _CONTROLS.sub("", line).strip(_DECORATION) == marker

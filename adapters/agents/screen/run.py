"""Runs an agent CLI that prints one JSON event per line, shows the events as readable lines, and writes the report."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock, Thread
from typing import BinaryIO, TextIO

from adapters.agents.screen.claude import Claude
from adapters.agents.screen.events import EventReader, ReportFile, RunReport, parse_event
from adapters.agents.screen.other_clis import Codex, Gemini, OpenCode

WIDTH = 400
"""Characters shown of one line."""
MAX_STRAY_LINES = 6
"""Number of last lines kept that are no events: the only information about a failure that no event reports."""
_CONTROL = re.compile(
    r"\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)"  # titles, links, the clipboard
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    r"|[\x00-\x08\x0a-\x1f\x7f-\x9f]"
)


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; above 128 for a signal, as in shells."""
    events, path, *command = arguments
    report = RunReport()
    screen = PaneScreen(reader_of(events, report, os.environ), sys.stdout)
    kept = ReportFile(Path(path))
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda number, _: child.send_signal(number))
    # the terminal sends the signal to the child, too; its last output should be shown
    signal.signal(signal.SIGINT, lambda *_: None)
    aside = Thread(target=_show_all, args=(child.stderr, screen), daemon=True)
    aside.start()
    for raw in child.stdout or ():
        screen.show(raw.decode("utf-8", "replace"))
        kept.write_if_changed(report)
    code = child.wait()
    aside.join(timeout=5)  # processes it has left running may keep the pipe open
    screen.end()
    if code and not report.error:
        report.error = "\n".join(screen.stray)
    kept.write_if_changed(report)
    if code < 0:
        return 128 - code
    return code or (1 if report.error else 0)


class PaneScreen:
    """Writes to the pane. Lines that are no events are shown unchanged, except for terminal control sequences."""

    def __init__(self, reader: EventReader, out: TextIO) -> None:
        self._reader = reader
        self._out = out
        self._lock = Lock()
        self.stray: deque[str] = deque(maxlen=MAX_STRAY_LINES)

    def show(self, line: str) -> None:
        """Show one line of the stream."""
        event = parse_event(line.strip())
        if event is None:
            self.show_plain(line)
        else:
            self._write(*self._reader.read(event))

    def show_plain(self, line: str) -> None:
        """Show a line that is no event."""
        clean = _CONTROL.sub("", line.strip())
        if clean:
            self.stray.append(clean)
        self._write(line.strip())

    def end(self) -> None:
        self._write(*self._reader.finish())

    def _write(self, *lines: str) -> None:
        with self._lock:
            for line in lines:
                clean = _CONTROL.sub("", line)
                self._out.write(f"{clean[:WIDTH]}…\n" if len(clean) > WIDTH else f"{clean}\n")
            self._out.flush()


def reader_of(events: str, report: RunReport, environ: Mapping[str, str]) -> EventReader:
    match events:
        case "claude":
            return Claude(report)
        case "codex":
            return Codex(report, environ)
        case "gemini":
            return Gemini(report)
        case "opencode":
            return OpenCode(report)
        case _:
            raise SystemExit(f"Nobody here reads the events of {events!r}.")


def _show_all(stream: BinaryIO | None, screen: PaneScreen) -> None:
    for raw in stream or ():
        screen.show_plain(raw.decode("utf-8", "replace"))

"""Where the console writes: as wide and as colourful as the terminal is, and plain text in a pipe."""

from __future__ import annotations

import re
import sys
from io import StringIO
from typing import TextIO

from rich.console import Console, RenderableType
from rich.theme import Theme

from bot.errors import Refused

PIPE_WIDTH = 100
WIDEST = 120
"""Longer lines are hard to read, however wide the window is."""

_THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold cyan",
        "markdown.h3": "bold",
        "markdown.h4": "bold dim",
        "markdown.code": "cyan",
        "markdown.block_quote": "dim",
        "markdown.item.number": "dim",
        "markdown.item.bullet": "dim",
        "markdown.link": "none",
        "markdown.link_url": "underline dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "dim",
    }
)
_TRAILING = re.compile(r"(?<! )[ ]+((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)


class Screen:
    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out
        self.terminal = (out or sys.stdout).isatty()

    @property
    def width(self) -> int:
        return min(Console().size.width, WIDEST) if self.terminal else PIPE_WIDTH

    def rendered(self, *parts: RenderableType) -> str:
        """What would be written, as text."""
        buffer = StringIO()
        console = Console(
            file=buffer,
            force_terminal=self.terminal,
            width=self.width,
            theme=_THEME,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )
        for part in parts:
            console.print(part)
        return _TRAILING.sub(r"\1", buffer.getvalue())

    def write(self, text: str) -> None:
        """Put text out at once."""
        # looked up each time: while a line is being typed, sys.stdout writes above it
        out = self._out or sys.stdout
        encoding = out.encoding or "utf-8"
        try:
            out.write(text.encode(encoding, "replace").decode(encoding))
            out.flush()
        except OSError as error:
            raise Refused(
                f"The console cannot be written to: {error.strerror}.", "Is its reader gone?"
            ) from error

"""Photographs the demo at a real terminal: `python -m tests.looks.terminal [file]`.

A person of its own asks, takes the defaults and approves; the picture is taken when tests have failed and are being mended.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from adapters.demo.texts import REQUEST
from bot.cli import demo
from tests.looks.chromium import tab
from tests.stories.terminal import Terminal

DOCS = Path("docs/pictures/console.png")
PROGRAM = str(Path(sys.executable).with_name("gwt-bot"))
SIZE = (108, 34)
WIDTH, SCALE = 920, 1.25
STEPS = (("Ctrl-D leave", REQUEST), ("Enter Use all defaults", "1"), ("Enter Approve", "1"))
"""What is waited for, and what is then typed."""
MOMENT = re.compile(r"T002 .*running .*│.*\n.*T003 .*running .*│")
"""Both are at work and show how far they are; one of them is mending what had failed."""
_NORMAL = "3f3f46 f87171 86efac fde047 93c5fd d8b4fe 67e8f9 e4e4e7"
_BRIGHT = "71717a fca5a5 bbf7d0 fef08a bfdbfe e9d5ff a5f3fc fafafa"
_BACKGROUND, _FOREGROUND = "18181b", "e4e4e7"
_PAGE = """\
<style>
  body {{ margin: 0; padding: 14px 18px; background: #18181b; color: #e4e4e7 }}
  pre {{ margin: 0; font: 13.5px/1.36 "DejaVu Sans Mono", monospace }}
</style>
<title>gwt-bot</title>
<pre>{code}</pre>"""


def screen(folder: Path) -> str:
    """What stands on the terminal at that moment, with its colours."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "COLORTERM": "truecolor",
    }
    with Terminal(folder, environ, SIZE) as terminal:
        terminal.start(PROGRAM, "demo")
        for seen, typed in STEPS:
            terminal.until_seen(seen)
            terminal.type(typed)
        terminal.until(lambda: bool(MOMENT.search(terminal.screen) and "✗ T002" in terminal.screen))
        painted = terminal.painted
        terminal.kill()
    asyncio.run(demo.end_agents(folder / demo.FOLDER))
    return painted


def page(painted: str) -> str:
    width, _ = SIZE
    console = Console(record=True, width=width, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    console.print(Text.from_ansi(painted.rstrip("\n")), soft_wrap=True)
    theme = TerminalTheme(_rgb(_BACKGROUND), _rgb(_FOREGROUND), *map(_colours, (_NORMAL, _BRIGHT)))
    return console.export_html(theme=theme, inline_styles=True, code_format=_PAGE)


def _colours(words: str) -> list[tuple[int, int, int]]:
    return [_rgb(word) for word in words.split()]


def _rgb(word: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(word)
    return red, green, blue


async def take(file: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="demo-") as place:
        folder = Path(place)
        painted = await asyncio.to_thread(screen, folder)
    async with tab() as browser:
        await browser.size(WIDTH, height=100, scale=SCALE)
        await browser.show(page(painted))
        await browser.picture(file)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("file", nargs="?", type=Path, default=DOCS)
    asyncio.run(take(words.parse_args().file))


if __name__ == "__main__":
    main()

"""Where the person's lines come from, one after the other: a pipe here, the keyboard in `keyboard.py`."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import Protocol, TextIO

from rich.text import Text as Words

from adapters.chat.console.screen import Screen
from bot.domain.cards import Card

PROMPT = "› "
"""What stands before a line that nothing was asked for. Any other prompt is a question."""


SWITCH = "\t"
"""The line that Tab is: to branch mode and back."""
BY_ARROWS = "\x1b["
"""What an arrow key sends begins so."""


class Lines(Protocol):
    by_hand: bool
    """Somebody sits at a terminal."""

    async def next(self, prompt: str) -> str | None:
        """The next line; empty: the person agrees to what is proposed. None: there are no more."""
        ...

    def saw(self, card: Card) -> None:
        """The person has seen a card of the current thread."""
        ...


class PipeLines:
    """Lines of a pipe or a file. Empty ones are skipped: nobody agrees to anything by a blank line in a script."""

    by_hand = False

    def __init__(self, source: TextIO, screen: Screen) -> None:
        self._source = source
        self._screen = screen
        self._pending = b""
        self._ended = False

    async def next(self, prompt: str) -> str | None:
        if prompt != PROMPT:
            self._screen.write(self._screen.rendered(Words(prompt)))
        while (line := await self._line()) is not None:
            if line.strip():
                return line
        return None

    def saw(self, card: Card) -> None:
        """A script does not look."""

    async def _line(self) -> str | None:
        while b"\n" not in self._pending and not self._ended:
            chunk = await self._chunk()
            self._pending += chunk
            self._ended = not chunk
        line, found, self._pending = self._pending.partition(b"\n")
        return line.decode("utf-8", "replace") if found or line else None

    async def _chunk(self) -> bytes:
        """What can be read now. No thread waits for it: it would keep the whole program from ending."""
        try:
            descriptor = self._source.fileno()
        except OSError:  # a text in memory, which has none
            return self._source.readline().encode()
        # a regular file or /dev/null cannot be waited for, and need not
        with suppress(PermissionError):
            await _readable(descriptor)
        return await asyncio.to_thread(os.read, descriptor, 65536)


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)

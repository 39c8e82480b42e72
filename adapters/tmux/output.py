"""What a pane prints, read as it comes: has the program asked for pasted text, has the agent said it is done?"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from adapters.tmux.screen import is_marker, printed_lines

WANTS_PASTE = b"\x1b[?2004h"
CHUNK = 1 << 18
CARRIED = 1 << 13
"""How much of an unended line is read again with what follows: more than any marker with its colours."""
LARGEST = 8 << 20
"""What has grown by more than this since the last look is read from there on only."""
_PLAINLY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Output:
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
        with _opened(self._path, os.O_RDONLY) as descriptor:
            if descriptor is not None:
                self._read_to(os.fstat(descriptor).st_size, descriptor)

    def _read_to(self, size: int, descriptor: int) -> None:
        if size < self.position:  # it was begun anew
            self.position, self._carry = 0, b""
        if size - self.position > LARGEST:
            self.position, self._carry = size - LARGEST, b""
        while chunk := os.pread(descriptor, min(CHUNK, size - self.position), self.position):
            self.position += len(chunk)
            self._take(chunk)

    def shorten(self) -> None:
        """Begin the file anew when it has grown large; its writer appends."""
        if self.position <= LARGEST:
            return
        with _opened(self._path, os.O_WRONLY) as descriptor:
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
        self._carry = text[cut:][-CARRIED:]


@contextmanager
def _opened(path: Path, how: int) -> Generator[int | None]:
    """None: it is no plain file. The agent can put a link or a pipe in its place, also one that leads out of its sandbox."""
    try:
        descriptor = os.open(path, how | _PLAINLY)
    except OSError:
        yield None
        return
    try:
        yield descriptor if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    finally:
        os.close(descriptor)

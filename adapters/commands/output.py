"""What a command says. Its rule: bounded, however much it is, and nobody who keeps it open keeps us waiting."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Callable
from typing import Self

HEAD, TAIL = 256 * 1024, 512 * 1024
LOG_LIMIT = 1024 * 1024
LAST_WORDS_SECONDS = 1.0
OMITTED = "\n[… {} bytes left out …]\n"


class Output:
    """The beginning and the end of what a command says. What is between is counted only, and told to `listen`."""

    def __init__(self, listen: Callable[[bytes], None] | None = None) -> None:
        self._listen = listen
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._kept = 0
        self._omitted = 0

    def add(self, chunk: bytes) -> None:
        if self._listen:
            self._listen(chunk)
        room = HEAD - len(self._head)
        self._head += chunk[:room]
        if rest := chunk[room:]:
            self._tail.append(rest)
            self._kept += len(rest)
        while self._kept > TAIL:
            dropped = len(self._tail.popleft())
            self._kept -= dropped
            self._omitted += dropped

    def text(self) -> str:
        head, tail = bytes(self._head), b"".join(self._tail)
        if not self._omitted:
            return (head + tail).decode("utf-8", "replace")
        # a secret that was cut through is no longer recognised: the cut lines go as a whole
        head, _, lost = head.rpartition(b"\n")
        first, _, tail = tail.partition(b"\n")
        gap = OMITTED.format(self._omitted + len(lost) + len(first))
        return head.decode("utf-8", "replace") + gap + tail.decode("utf-8", "replace")


class Listening:
    """A pipe of our own: that it is still open somewhere must not keep us waiting for the command's end."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._outlet, self.inlet = os.pipe()
        self._closed = asyncio.Event()

    def __enter__(self) -> Self:
        return self

    def begin(self) -> None:
        os.close(self.inlet)
        self.inlet = -1
        os.set_blocking(self._outlet, False)
        asyncio.get_running_loop().add_reader(self._outlet, self._read)

    def _read(self) -> None:
        try:
            chunk = os.read(self._outlet, 65536)
        except BlockingIOError:
            return
        if chunk:
            self._output.add(chunk)
        else:
            self._stop()

    def _stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._outlet)
        self._closed.set()

    async def last_words(self) -> None:
        """What is still in the pipe. Everybody who could write is gone, so its end comes at once."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_SECONDS):
                await self._closed.wait()

    def __exit__(self, *_: object) -> None:
        if self.inlet >= 0:
            os.close(self.inlet)
        elif not self._closed.is_set():
            self._stop()
        os.close(self._outlet)


def bounded(content: bytes, limit: int) -> bytes:
    if len(content) <= limit:
        return content
    half = limit // 2 - len(OMITTED) - 20
    gap = OMITTED.format(len(content) - 2 * half).encode()
    return content[:half] + gap + content[-half:]

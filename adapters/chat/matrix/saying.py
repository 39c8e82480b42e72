"""What is said on the side of what is heard: the room waits a moment for it, and then goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine

log = logging.getLogger(__name__)

A_MOMENT = 1.0
"""Seconds that a room waits for something to be said there, which may take minutes: the next one may want to stop."""
MOST = 20


class Saying:
    """Whoever has one closes it: then nothing more is said."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[None]] = set()

    async def say(self, words: Coroutine[None, None, None]) -> None:
        """Returns when it was said, or is late. What goes wrong at once is the caller's, later the log's."""
        task = asyncio.create_task(words)
        full = len(self._under_way) >= MOST
        try:
            await asyncio.wait({task}, timeout=None if full else A_MOMENT)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            task.result()
            return
        self._under_way.add(task)
        task.add_done_callback(self._said_late)

    def sign(self, sign: Coroutine[None, None, None]) -> None:
        """Nobody waits for it, least of all somebody who wants to stop; and nobody misses it in a flood of words."""
        if len(self._under_way) >= MOST:
            sign.close()
            return
        task = asyncio.create_task(sign)
        self._under_way.add(task)
        task.add_done_callback(self._said_late)

    async def close(self) -> None:
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def _said_late(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("not said", exc_info=error)

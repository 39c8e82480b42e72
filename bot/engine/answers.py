"""What the desk says to one person: waited for only a moment, so that nobody who comes after waits for it.

A chat may have to wait for minutes before it can say it, and the next one in line may want to stop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine

from bot.errors import PortError
from bot.ports import Clock

log = logging.getLogger("bot.desk")

A_MOMENT = 1.0
MOST = 50
"""Answers that are late. Behind so many everybody waits."""


class Answers:
    """Whoever has one closes it: what is late then is not said any more."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._late: set[asyncio.Task[None]] = set()

    async def give(self, answer: Coroutine[None, None, None]) -> None:
        """Returns when it was said, or is late. What goes wrong at once is the caller's, later the log's."""
        giving = asyncio.create_task(answer, name="answer")
        moment = asyncio.create_task(self._clock.sleep(A_MOMENT))
        try:
            waited_for = {giving, moment} if len(self._late) < MOST else {giving}
            await asyncio.wait(waited_for, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            giving.cancel()
            raise
        finally:
            moment.cancel()
        if giving.done():
            giving.result()
            return
        self._late.add(giving)
        giving.add_done_callback(self._said)

    async def close(self) -> None:
        for answer in self._late:
            answer.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)

    def _said(self, answer: asyncio.Task[None]) -> None:
        self._late.discard(answer)
        if answer.cancelled() or not (error := answer.exception()):
            return
        if isinstance(error, PortError):
            log.warning("not answered", extra={"data": {"why": error.reason}})
        else:
            # a task nobody waits for: a bug here must be seen
            log.error("not answered", exc_info=error)

"""What is done beside the cards: it may fail, and neither delays a card nor makes one fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.errors import PortError

log = logging.getLogger("bot.slack")


class Asides:
    """Whoever has one closes it: then nothing of it goes on."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[None]] = set()

    def begin(self, what: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do it in the background. `what` it is stands in the log if it fails."""
        task = asyncio.create_task(_tried(what, work))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def close(self) -> None:
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)


async def _tried(what: str, work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except PortError as problem:
        log.warning("left undone", extra={"data": {"what": what, "why": problem.reason}})
    except Exception:
        # the edge of a task nobody waits for: a bug here must be seen, and stops nothing
        log.exception("left undone", extra={"data": {"what": what}})

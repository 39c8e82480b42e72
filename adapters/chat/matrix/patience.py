"""Trying again what may work later: first soon, then every ten seconds, and never before a named time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from bot.errors import Unavailable

log = logging.getLogger(__name__)

T = TypeVar("T")

_LONGEST_NAMED = 300
"""Seconds. A homeserver that names a day is not believed."""


@dataclass(frozen=True)
class Patience:
    shortest: float = 0.5
    longest: float = 10.0

    async def until_done(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        """Do it, as often as it takes. The log is told when the trouble begins and when it ends."""
        for tries, wait in enumerate(self.waits()):
            try:
                done = await call()
            except Unavailable as error:
                if not tries:
                    log.warning("trouble", extra={"data": {"what": what, "reason": error.reason}})
                await asyncio.sleep(pause(wait, error))
            else:
                if tries:
                    log.info("trouble ended", extra={"data": {"what": what, "tries": tries}})
                return done
        raise AssertionError("there is always another wait")

    def waits(self) -> Iterator[float]:
        """Seconds after each failure, without end."""
        wait = self.shortest
        while True:
            yield wait
            wait = min(wait * 2, self.longest)


def pause(wait: float, error: Unavailable) -> float:
    """How long to wait after a failure: as long as it says, but no shorter than otherwise."""
    return max(wait, min(error.retry_after or 0, _LONGEST_NAMED))

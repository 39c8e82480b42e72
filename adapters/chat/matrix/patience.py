"""Trying again what may work later: first soon, then every ten seconds, and never before a named time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
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
        wait, tries = self.shortest, 0
        while True:
            try:
                done = await call()
            except Unavailable as error:
                tries += 1
                if tries == 1:
                    log.warning("trouble", extra={"data": {"what": what, "reason": error.reason}})
                await asyncio.sleep(max(wait, min(error.retry_after or 0, _LONGEST_NAMED)))
                wait = min(wait * 2, self.longest)
            else:
                if tries:
                    log.info("trouble ended", extra={"data": {"what": what, "tries": tries}})
                return done

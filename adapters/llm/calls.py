"""Every call to a model is one record in the log, whatever comes of it; secrets reach neither the model nor the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.domain.world import Reply
from bot.errors import PortError

LOGGER = "agent.master.llm"

Mask = Callable[[str], str]
Ask = Callable[[str, str], Awaitable[Reply]]
"""From the system text and the data, both presentable, to the answer."""


class Calls:
    """The calls of one model. `mask` covers secrets in what is sent, logged and told."""

    def __init__(self, mask: Mask, log: logging.Logger | None = None) -> None:
        self.mask = mask
        self._log = log or logging.getLogger(LOGGER)

    async def record(self, whom: str, system: str, data: str, ask: Ask) -> Reply:
        """Ask, and write down who was asked, what was asked, what came of it, and how long it took."""
        system, data = await asyncio.to_thread(self._presentable, system, data)
        told: dict[str, object] = {"failed": "it was given up"}
        begun = asyncio.get_running_loop().time()
        try:
            reply = await ask(system, data)
            # in a thread: a long answer takes the mask longer than others should have to wait
            shown = await asyncio.to_thread(self.mask, reply.text)
            told = {**reply.model_dump(), "text": shown}
        except PortError as error:
            told = {"failed": self.mask(error.reason)}
            raise
        finally:
            took = round(asyncio.get_running_loop().time() - begun, 3)
            asked = {"endpoint": self.mask(whom), "system": system, "data": data}
            self._log.info("call", extra={"data": {"seconds": took, **asked, **told}})
        return reply

    def _presentable(self, *texts: str) -> list[str]:
        """Masked, and valid Unicode: a repository may hold file names that are not."""
        return [self.mask(text.encode("utf-8", "replace").decode()) for text in texts]

"""Live messages: of those that wait only the last is shown, and whoever shows one waits for no limit.

Where the homeserver limits the bot, a status comes after everything else that it has to say, and in its own time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from adapters.chat.matrix.line import Bounds, Line
from adapters.posting import Turns, Urgency
from bot.domain.cards import StatusCard
from bot.domain.people import Thread
from bot.errors import PortError, Unavailable

log = logging.getLogger(__name__)

Bring = Callable[[Thread, StatusCard], Awaitable[None]]
"""Puts it where it is to stand. Unavailable with a time: the homeserver limits the bot."""
_Place = tuple[str, str]


class Statuses:
    """Whoever has one closes it."""

    def __init__(self, turns: Turns, line: Line, bring: Bring) -> None:
        self._turns, self._line, self._bring = turns, line, bring
        self._newest: dict[_Place, StatusCard] = {}
        self._later: dict[_Place, asyncio.Task[None]] = {}

    async def show(self, thread: Thread, card: StatusCard) -> None:
        place = (thread.key, card.key)
        self._newest[place] = card
        if place in self._later:
            return
        if not await self._tried(thread, place, card):
            self._later[place] = asyncio.create_task(self._show_later(thread, place))

    async def close(self) -> None:
        """The next life shows them."""
        later = list(self._later.values())
        for task in later:
            task.cancel()
        await asyncio.gather(*later, return_exceptions=True)

    async def _show_later(self, thread: Thread, place: _Place) -> None:
        try:
            while card := self._newest.get(place):
                await self._line.quiet()
                await self._tried(thread, place, card)
        except PortError as error:
            log.warning("no status", extra={"data": {"why": error.reason}})
        finally:
            del self._later[place]

    async def _tried(self, thread: Thread, place: _Place, card: StatusCard) -> bool:
        """Whether it stands there, or another will that says more."""
        if not self._line.is_calm:
            return False
        try:
            async with self._turns.turn(thread.channel, Urgency.STATUS):
                if self._newest.get(place) is not card:
                    return True
                await self._bring(thread, card)
        except Unavailable as error:
            wait = error.retry_after
            if wait is None or wait > Bounds().once:
                self._forget(place, card)
                raise
            self._line.hold(wait)
            return False
        except BaseException:
            self._forget(place, card)
            raise
        self._forget(place, card)
        return True

    def _forget(self, place: _Place, card: StatusCard) -> None:
        if self._newest.get(place) is card:
            del self._newest[place]

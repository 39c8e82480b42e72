"""Who looks at the bot's own page: it is shown again, a moment after something has changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.domain.people import Person, Thread
from bot.errors import PortError
from bot.ports import Clock

log = logging.getLogger("bot.desk")

A_MOMENT = 2.0
"""Seconds in which changes are gathered."""
A_PAGE = 0.6
"""Seconds for each page: a chat takes about a hundred a minute, and the cards of sessions come first."""
MOST = 100
"""People whose page is kept up to date; who came longest ago is forgotten first."""
ShowHome = Callable[[Thread, Person], Awaitable[None]]


@dataclass
class Visits:
    _there: dict[str, tuple[Thread, Person]] = field(
        default_factory=dict[str, tuple[Thread, Person]]
    )
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def changed(self) -> None:
        """A session has changed. Costs nothing where nobody looks."""
        if self._there:
            self._changed.set()

    def come(self, thread: Thread, person: Person) -> None:
        key = f"{thread.key}:{person.id}"
        self._there.pop(key, None)
        self._there[key] = (thread, person)
        while len(self._there) > MOST:
            del self._there[next(iter(self._there))]

    async def keep_up(self, clock: Clock, show: ShowHome) -> None:
        """Until cancelled."""
        while True:
            await self._changed.wait()
            await clock.sleep(max(A_MOMENT, A_PAGE * len(self._there)))
            self._changed.clear()
            for thread, person in list(self._there.values()):
                await self._show(show, thread, person)

    async def _show(self, show: ShowHome, thread: Thread, person: Person) -> None:
        try:
            await show(thread, person)
        except PortError as problem:
            # it is shown anew with the next change, or when they come again
            log.warning("a page was not renewed", extra={"data": {"why": problem.reason}})

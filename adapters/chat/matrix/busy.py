"""Shows where the bot is at work that it writes: until it waits for a person or is over, renewed before it goes out.

A room is told when that changes and every so often, never once a card: nobody waits for it, and nobody misses it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.domain.cards import Card, ReceivedCard, StatusCard, StoppedCard, SummaryCard
from bot.domain.layout import sheet
from bot.domain.people import Thread
from bot.domain.sheets import Tone
from bot.domain.states import Phase, Status
from bot.errors import PortError

log = logging.getLogger(__name__)

RENEWED = 20.0
"""Seconds. A homeserver lets it go out after thirty."""
LONGEST = 300.0
"""Seconds without any sign of work: a status would have come meanwhile."""
_WAITING = frozenset({Phase.CLARIFYING, Phase.APPROVING, Phase.DONE})

Typing = Callable[[str, bool], Awaitable[None]]


def works(card: Card) -> bool | None:
    """Whether the bot is at work once this is shown. None: that does not tell."""
    match card:
        case ReceivedCard():
            return True
        case StatusCard(status=status, phase=phase):
            return status == Status.ACTIVE and phase not in _WAITING
        case SummaryCard() | StoppedCard():
            return False
        case _:
            pass
    if getattr(card, "decided", None):
        return True
    laid = sheet(card)
    return False if laid.choices and laid.tone in (Tone.NEEDS_YOU, Tone.FAILURE) else None


class Busy:
    """Whoever has one closes it."""

    def __init__(self, typing: Typing, *, renewed: float = RENEWED) -> None:
        self._typing, self._renewed = typing, renewed
        self._at_work: dict[str, dict[str, float]] = {}
        """By room: its threads in which the bot is at work, and when that was last seen."""
        self._shown: set[str] = set()
        self._changed = asyncio.Event()
        self._telling: asyncio.Task[None] | None = None

    def shown(self, thread: Thread, card: Card) -> None:
        """A card stands in a thread."""
        state = works(card)
        threads = self._at_work.setdefault(thread.channel, {})
        if state or (state is None and thread.key in threads):
            threads[thread.key] = asyncio.get_running_loop().time()
        elif state is False:
            threads.pop(thread.key, None)
        if bool(threads) is not (thread.channel in self._shown):
            self._changed.set()
            if self._telling is None or self._telling.done():
                self._telling = asyncio.create_task(self._tell())

    async def close(self) -> None:
        if self._telling:
            self._telling.cancel()
            await asyncio.wait({self._telling})

    async def _tell(self) -> None:
        """As long as there is anything to renew."""
        due = set[str]()
        while self._at_work:
            self._changed.clear()
            for room in list(self._at_work):
                await self._tell_room(room, due)
            if not self._at_work:
                return
            try:
                async with asyncio.timeout(self._renewed):
                    await self._changed.wait()
                due = set()
            except TimeoutError:
                due = set(self._shown)

    async def _tell_room(self, room: str, due: set[str]) -> None:
        oldest = asyncio.get_running_loop().time() - LONGEST
        threads = {key: seen for key, seen in self._at_work[room].items() if seen > oldest}
        self._at_work[room] = threads
        on = bool(threads)
        if on is not (room in self._shown) or (on and room in due):
            (self._shown.add if on else self._shown.discard)(room)
            try:
                await self._typing(room, on)
            except PortError as error:
                log.info("no sign", extra={"data": {"why": error.reason}})
        if not self._at_work[room]:
            del self._at_work[room]
            self._shown.discard(room)

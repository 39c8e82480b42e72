"""Lets one session per repository execute at a time, and keeps the others in a queue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

PositionListener = Callable[[int, int], None]
"""Called with the position (0: holds the slot) and the number of waiting sessions."""


@dataclass(eq=False)
class _Waiter:
    since: datetime
    session: str
    moved: PositionListener
    held: bool
    """It held the slot before a restart: it goes first, whatever the clock says."""
    rework: bool
    """It reworks something that was done before."""
    granted: asyncio.Event = field(default_factory=asyncio.Event)
    told: tuple[int, int] | None = None


class RepositoryQueue:
    """`most`: repositories in which sessions may execute at once; 0 means no limit.

    Nothing is granted before `open()`: after a restart all who held or awaited a slot must be back in the queue first.
    """

    def __init__(self, most: int = 0) -> None:
        self._most = most
        self._queues: dict[str, list[_Waiter]] = {}
        self._open = False

    def open(self) -> None:
        self._open = True
        self._grant_slots()

    async def hold(
        self,
        repository: str,
        session: str,
        since: datetime,
        granted: Callable[[], Awaitable[None]],
        moved: PositionListener,
        *,
        held: bool = False,
        rework: bool = False,
    ) -> None:
        """Wait for the slot, call `granted` once, and keep the slot until this is cancelled."""
        me = _Waiter(since=since, session=session, moved=moved, held=held, rework=rework)
        line = self._queues.setdefault(repository, [])
        line.append(me)
        line.sort(key=_queue_order)
        try:
            self._grant_slots()
            await me.granted.wait()
            await granted()
            await asyncio.Event().wait()
        finally:
            line.remove(me)
            if not line:
                del self._queues[repository]
            self._grant_slots()

    def _grant_slots(self) -> None:
        # A released slot may be the turn of another repository, too, because of the limit.
        if not self._open:
            return
        lines = sorted(self._queues.values(), key=lambda line: _queue_order(line[0]))
        for line in lines:
            busy = sum(_is_held(other) for other in lines)
            if not _is_held(line) and not (self._most and busy >= self._most):
                line[0].granted.set()
        for line in lines:
            _report_positions(line)


def _queue_order(one: _Waiter) -> tuple[bool, bool, datetime, str]:
    return (not one.held, not one.rework, one.since, one.session)


def _is_held(line: list[_Waiter]) -> bool:
    return any(waiting.granted.is_set() for waiting in line)


def _report_positions(line: list[_Waiter]) -> None:
    """Report new positions to those whose position has changed."""
    behind = [waiting for waiting in line if not waiting.granted.is_set()]
    ahead = [waiting for waiting in line if waiting.granted.is_set()]
    for position, one in [*((0, one) for one in ahead), *enumerate(behind, 1)]:
        now = (position, len(behind))
        if one.told != now and (position or one.told or behind):
            one.told = now
            one.moved(*now)

"""One executing session per repository: whoever has waited longest holds the place, rework first; the others know where they
stand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

Moved = Callable[[int, int], None]
"""Told where one stands (0: one holds the place) and how many wait in all."""


@dataclass(eq=False)
class _Waiting:
    since: datetime
    session: str
    moved: Moved
    held: bool
    """It held the place before a restart: nobody goes before it, whatever the clock says."""
    rework: bool
    """Something came back about work of it that was done."""
    granted: asyncio.Event = field(default_factory=asyncio.Event)
    told: tuple[int, int] | None = None


class Places:
    """Nothing is granted before `open()`: after a restart all who held or waited must be back in the line first."""

    def __init__(self) -> None:
        self._lines: dict[str, list[_Waiting]] = {}
        self._open = False

    def open(self) -> None:
        self._open = True
        for repository in list(self._lines):
            self._serve(repository)

    async def hold(
        self,
        repository: str,
        session: str,
        since: datetime,
        granted: Callable[[], Awaitable[None]],
        moved: Moved,
        *,
        held: bool = False,
        rework: bool = False,
    ) -> None:
        """Stand in line; `granted` is called once, and the place kept meanwhile; it is let go when this is cancelled."""
        me = _Waiting(since=since, session=session, moved=moved, held=held, rework=rework)
        line = self._lines.setdefault(repository, [])
        line.append(me)
        line.sort(key=lambda one: (not one.held, not one.rework, one.since, one.session))
        try:
            self._serve(repository)
            await me.granted.wait()
            await granted()
            await asyncio.Event().wait()
        finally:
            line.remove(me)
            self._serve(repository)

    def _serve(self, repository: str) -> None:
        line = self._lines.get(repository, [])
        if not (self._open and line):
            return
        if not any(waiting.granted.is_set() for waiting in line):
            line[0].granted.set()
        behind = [waiting for waiting in line if not waiting.granted.is_set()]
        ahead = [waiting for waiting in line if waiting.granted.is_set()]
        for position, one in [*((0, one) for one in ahead), *enumerate(behind, 1)]:
            now = (position, len(behind))
            if one.told != now and (position or one.told or behind):
                one.told = now
                one.moved(*now)

"""One executing session per repository: whoever has waited longest holds the place, the others know where they stand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

Moved = Callable[[int], None]


@dataclass(eq=False)
class _Waiting:
    since: datetime
    session: str
    moved: Moved
    held: bool
    """It held the place before a restart: nobody goes before it, whatever the clock says."""
    granted: asyncio.Event = field(default_factory=asyncio.Event)
    position: int | None = None


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
        granted: Callable[[], None],
        moved: Moved,
        *,
        held: bool = False,
    ) -> None:
        """Stand in line; `granted` is called once; the place is let go when this is cancelled."""
        me = _Waiting(since=since, session=session, moved=moved, held=held)
        line = self._lines.setdefault(repository, [])
        line.append(me)
        line.sort(key=lambda one: (not one.held, one.since, one.session))
        try:
            self._serve(repository)
            await me.granted.wait()
            granted()
            await asyncio.Event().wait()
        finally:
            line.remove(me)
            self._serve(repository)

    def waiting(self, repository: str) -> int:
        """How many stand behind the one who holds it."""
        return max(0, len(self._lines.get(repository, ())) - 1)

    def _serve(self, repository: str) -> None:
        line = self._lines.get(repository, [])
        if not (self._open and line):
            return
        if not any(waiting.granted.is_set() for waiting in line):
            line[0].granted.set()
        behind = [waiting for waiting in line if not waiting.granted.is_set()]
        for position, waiting in enumerate(behind, 1):
            if waiting.position != position:
                waiting.position = position
                waiting.moved(position)

"""An event loop in virtual time: nobody waits, time leaps to the next timer, and a seed says whose turn it is.

It cannot wait for threads or sockets: whatever runs in it reaches the world through ports alone. Where nothing is ready and
no timer is set nobody would ever wake up again: that is a deadlock, and raised as one.
"""

from __future__ import annotations

import asyncio
import selectors
from collections import deque
from collections.abc import Coroutine
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")


class DeadlockError(Exception):
    """Nothing is ready, and nothing ever will be."""


class _Leap(selectors.SelectSelector):
    """In place of waiting."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise DeadlockError("nothing is ready, and no timer is set")
        self.passed += max(timeout, 0.0)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, chance: Random) -> None:
        self._leap = _Leap()
        self._frozen = 0.0
        self.chance = chance
        super().__init__(self._leap)
        self.turns: deque[asyncio.Handle] = vars(self)["_ready"]
        self._born: dict[asyncio.Task[Any], None] = {}
        self.set_task_factory(self._bear)

    def time(self) -> float:
        return self._leap.passed

    def freeze(self, seconds: float) -> None:
        """The process is stopped for a while: every timer that was due meanwhile is late."""
        self._leap.passed += seconds
        self._frozen += seconds

    def lived(self) -> float:
        """Seconds in which the process was not stopped."""
        return self.time() - self._frozen

    def born(self) -> list[asyncio.Task[Any]]:
        """Every task that is not done, the eldest first."""
        return [*self._born]

    def _bear(self, loop: asyncio.AbstractEventLoop, coro: Any, **kwargs: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(coro, loop=loop, **kwargs)
        self._born[task] = None
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._born.pop(task, None)

    def _run_once(self) -> None:
        if len(self.turns) > 1:
            handles = [*self.turns]
            self.chance.shuffle(handles)
            self.turns.clear()
            self.turns.extend(handles)
        super()._run_once()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

    def _make_self_pipe(self) -> None:
        """No thread ever wakes it."""

    def _close_self_pipe(self) -> None:
        return

    def _write_to_self(self) -> None:
        return


def run(work: Coroutine[Any, Any, T], chance: Random) -> T:
    """Until the work is done; whatever was left behind is let go."""
    loop = VirtualLoop(chance)
    try:
        return loop.run_until_complete(work)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
            loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

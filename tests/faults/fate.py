"""Between the bot and its ports: every call is counted, before it and after it, and one of them may be the last.

A place is the number of such a mark, or the name of a call and which one of them: `panes.start:2` dies in the middle of
the second, `before panes.start:2` before it.
"""

from __future__ import annotations

import inspect
import os
import signal
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.core.world import World

PORTS = (
    *("llm", "agents", "panes", "repository", "worktrees", "commands"),
    *("forge", "archive", "bindings", "store"),
)
PLACE, MARKS, BY = "FATE_PLACE", "FATE_MARKS", "FATE_BY"
"""Variables: where it ends, the folder for what it wrote down, and the signal that it ends by."""
IN_THE_MIDDLE = 0.01
"""Seconds after a call has begun."""


class Fate:
    """Writes down every mark, and ends the program at the one that was chosen."""

    def __init__(self, log: Path, place: str, by: signal.Signals = signal.SIGKILL) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._place, self._by = place, by
        self._marks = 0
        self._named: Counter[str] = Counter()

    @classmethod
    def told_by(cls, environ: Mapping[str, str]) -> Fate:
        log = Path(environ[MARKS]) / f"marks.{os.getpid()}"
        return cls(log, environ.get(PLACE, ""), signal.Signals[environ.get(BY, "SIGKILL")])

    def before(self, name: str) -> None:
        self._mark(f"before {name}")
        self._named[name] += 1
        if self._place == f"before {name}:{self._named[name]}":
            self._end()
        if self._place == f"{name}:{self._named[name]}":
            threading.Timer(IN_THE_MIDDLE, self._end).start()

    def after(self, name: str) -> None:
        self._mark(f"after {name}")

    def through(self, world: World) -> World:
        """The world as the bot has it, where each call may be its last."""
        there = {name: getattr(world, name) for name in PORTS}
        ports: dict[str, Any] = {n: Watched(port, n, self) for n, port in there.items() if port}
        chats: dict[str, Any] = {k: Watched(c, "chat", self) for k, c in world.chats.items()}
        return replace(world, chats=chats, **ports)

    def _mark(self, what: str) -> None:
        self._marks += 1
        os.write(self._log, f"{what}\n".encode())
        if self._place == str(self._marks):
            self._end()

    def _end(self) -> None:
        os.kill(os.getpid(), self._by)


class Watched:
    """A port between the bot and the world: every call may be the last."""

    def __init__(self, port: object, name: str, fate: Fate) -> None:
        self._port, self._name, self._fate = port, name, fate

    def __getattr__(self, method: str) -> Any:
        attribute = getattr(self._port, method)
        if inspect.iscoroutinefunction(attribute):
            return self._awaited(f"{self._name}.{method}", attribute)
        if inspect.ismethod(attribute):
            return self._called(f"{self._name}.{method}", attribute)
        return attribute

    def _awaited(self, name: str, call: Callable[..., Awaitable[object]]) -> Any:
        async def watched(*args: object, **kwargs: object) -> object:
            self._fate.before(name)
            result = await call(*args, **kwargs)
            self._fate.after(name)
            return result

        return watched

    def _called(self, name: str, call: Callable[..., object]) -> Any:
        def watched(*args: object, **kwargs: object) -> object:
            self._fate.before(name)
            result = call(*args, **kwargs)
            self._fate.after(name)
            return result

        return watched

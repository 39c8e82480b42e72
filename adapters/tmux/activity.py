"""Which panes have printed something: tmux tells it by itself, once a second at most, so nobody has to look in between."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from adapters.tmux.server import TmuxServer

_NAME = "printed"
# All windows of a session: a person may have opened one beside the run's own. Its values are seconds, nothing of the
# agent's; a name of a session stands in it, and only those of runs are looked up.
_SUBSCRIBE = (
    "refresh-client",
    "-B",
    f"{_NAME}::#{{S:#{{session_name}}=#{{W:#{{window_activity}}+}} }}",
)


class Activity:
    """Wakes whoever waits for a run's output."""

    def __init__(self, server: TmuxServer) -> None:
        self._server = server
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._last: dict[str, str] = {}

    @contextmanager
    def on(self, run: str, event: asyncio.Event) -> Generator[None]:
        """Set the event whenever the run has printed."""
        waiting = self._waiting.setdefault(run, set())
        waiting.add(event)
        try:
            yield
        finally:
            waiting.discard(event)
            if not waiting:
                self._waiting.pop(run, None)
                self._last.pop(run, None)

    async def begin(self) -> None:
        """Have tmux tell; asked for once, however often."""
        await self._server.ask_always(*_SUBSCRIBE)

    def heard(self, news: str) -> None:
        """A line of tmux's own."""
        if not news.startswith(f"%subscription-changed {_NAME} "):
            return
        for word in news.partition(" : ")[2].split():
            run, _, when = word.partition("=")
            if run in self._waiting and self._last.get(run) != when:
                self._last[run] = when
                for event in self._waiting[run]:
                    event.set()

"""The other way to watch agents, as many tools have it: a `tmux capture-pane` for each pane, twice a second."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

EVERY = 0.5


class Poller:
    """Looks at all panes side by side, then rests; a pane that is dead is told of once."""

    def __init__(self, socket_name: str, environment: Mapping[str, str]) -> None:
        self._tmux = ("tmux", "-L", socket_name)
        self._environment = environment
        self.dead = asyncio.Event()
        self.screens: dict[str, str] = {}

    @asynccontextmanager
    async def on(self, runs: Sequence[str]) -> AsyncGenerator[None]:
        looking = asyncio.create_task(self._look(runs))
        try:
            yield
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking

    async def _look(self, runs: Sequence[str]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            begun = loop.time()
            found = await asyncio.gather(*map(self._screen, runs))
            self.screens = dict(zip(runs, found, strict=True))
            if any(screen.endswith("1\n") for screen in found):
                self.dead.set()
            await asyncio.sleep(max(0.0, begun + EVERY - loop.time()))

    async def _screen(self, run: str) -> str:
        """What it shows, and in a line of its own whether it is dead."""
        target = f"={run}:"
        process = await asyncio.create_subprocess_exec(
            *(*self._tmux, "capture-pane", "-p", "-e", "-J", "-t", target),
            *(";", "display-message", "-p", "-t", target, "#{pane_dead}"),
            env=dict(self._environment),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        output, _ = await process.communicate()
        return output.decode(errors="replace")

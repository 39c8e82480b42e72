"""One life of the bot after the other, each ended at a place that was chosen, while a person goes on with what she wants."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bot.cli.assemble import socket_name
from tests.faults.fate import BY, MARKS, PLACE
from tests.stories.serving import Serving

LOOK_EVERY = 0.05
LONGEST = 900.0
"""Seconds that any step of a story may take, however often the bot dies in it, and whatever else its machine does."""
KILL_SERVER = "+kill-server"
"""Behind a place: its tmux server dies with it, and all its agents."""


@dataclass
class Lives:
    """The bot is started again whenever it has died. When no places are left it lives on."""

    bot: Serving
    places: list[str]
    by: signal.Signals = signal.SIGKILL
    deaths: list[str] = field(default_factory=list[str])
    """The marks at which it died."""
    wrong: list[str] = field(default_factory=list[str])
    _takes_tmux: bool = False

    @asynccontextmanager
    async def going_on(self) -> AsyncGenerator[None, None]:
        self._start()
        reviving = asyncio.create_task(self._revive())
        try:
            yield
        finally:
            reviving.cancel()
            await asyncio.gather(reviving, return_exceptions=True)
            self._note_end()

    async def _revive(self) -> None:
        while True:
            if self.bot.alive:
                await asyncio.sleep(LOOK_EVERY)
                continue
            self._note_end()
            self._start()

    def _start(self) -> None:
        place = self.places.pop(0) if self.places else ""
        self._takes_tmux = place.endswith(KILL_SERVER)
        environ = {PLACE: place.removesuffix(KILL_SERVER), BY: self.by.name}
        self.bot.start(**environ, **{MARKS: str(self.bot.home.parent)})

    def _note_end(self) -> None:
        """How the last life ended."""
        if self.bot.alive:
            return
        code = self.bot.exit_code
        if code != (0 if self.by is signal.SIGTERM else -signal.SIGKILL):
            self.wrong.append(f"it ended by itself with {code}: {self.bot.out[-600:]}")
        elif self._takes_tmux:
            kill_server(self.bot)
        self.deaths.append(self._last_mark())

    def _last_mark(self) -> str:
        path = self.bot.home.parent / f"marks.{self.bot.pid}"
        return path.read_text().splitlines()[-1] if path.exists() else "before the first"


def kill_server(bot: Serving) -> None:
    command = ("tmux", "-L", socket_name(bot.home), "kill-server")
    subprocess.run(command, capture_output=True, check=False)


def marks(bot: Serving) -> list[list[str]]:
    """What was written down in each life."""
    paths = sorted(bot.home.parent.glob("marks.*"), key=lambda path: path.stat().st_mtime)
    return [path.read_text().splitlines() for path in paths]

"""Panes in memory: agents «run» until the test says how they end. No time passes in here."""

from __future__ import annotations

import asyncio
import re

from bot.domain.states import Outcome
from bot.domain.world import CompletionSource, Launch, Pane, RunEnd
from bot.errors import Refused, Unavailable


class FakePanes:
    """It stands for the world, so it outlives a bot that crashed: waiters of an earlier event loop are forgotten."""

    def __init__(self) -> None:
        self.started: list[str] = []
        """Every real start. A name that stands here twice is a fault of the bot."""
        self.launches: dict[str, Launch] = {}
        self.prompts: dict[str, str] = {}
        self.folders: dict[str, str] = {}
        self.screens: dict[str, str] = {}
        self.pasted: list[tuple[str, str]] = []
        self.stopped: list[str] = []
        self.stubborn: dict[str, tuple[int, ...]] = {}
        """What a stop of that run leaves alive."""
        self.missing: str = ""
        """Why there is no usable tmux; empty: there is."""
        self._panes: dict[str, Pane] = {}
        self._ends: dict[str, RunEnd] = {}
        self._waiting: dict[str, list[asyncio.Future[RunEnd]]] = {}

    def finish(self, name: str, exit_code: int = 0, message: str = "") -> None:
        """The agent's process ends by itself."""
        outcome = Outcome.FAILED if exit_code else Outcome.FINISHED
        self.end(
            name,
            RunEnd(
                outcome=outcome,
                source=CompletionSource.PROCESS_EXIT,
                exit_code=exit_code,
                message=message,
            ),
        )

    def vanish(self, name: str) -> None:
        """The pane is gone, and nobody knows how it ended."""
        self._panes.pop(name, None)
        self.end(name, RunEnd(outcome=Outcome.VANISHED, source=CompletionSource.PROCESS_EXIT))

    def lose_server(self) -> None:
        """tmux dies with everything in it."""
        for name in tuple(self._panes):
            self.vanish(name)

    def end(self, name: str, end: RunEnd) -> None:
        """The run ends in exactly this way, unless it has ended already."""
        self._ends.setdefault(name, end)
        if pane := self._panes.get(name):
            self._panes[name] = pane.model_copy(update={"pid": 0})
        for waiting in self._waiting.pop(name, []):
            if not waiting.done() and not waiting.get_loop().is_closed():
                waiting.set_result(self._ends[name])

    def running(self) -> tuple[str, ...]:
        """Runs whose agents are at work."""
        return tuple(name for name in self.started if name not in self._ends)

    async def require(self) -> None:
        if self.missing:
            raise Unavailable(self.missing, "Install tmux 3.2 or newer.")

    async def start(self, name: str, cwd: str, launch: Launch, prompt: str) -> Pane:
        _check(name)
        if name in self._panes:
            return self._panes[name]
        if name in self._ends:
            return Pane(name=name, pane_id="", pid=0)
        self.started.append(name)
        self.launches[name], self.prompts[name], self.folders[name] = launch, prompt, cwd
        number = len(self.started)
        self._panes[name] = Pane(name=name, pane_id=f"%{number}", pid=1_000 + number, boot_time=1.0)
        return self._panes[name]

    async def find(self, name: str) -> Pane | None:
        _check(name)
        return self._panes.get(name)

    async def ended(self, name: str) -> RunEnd:
        _check(name)
        if name in self._ends:
            return self._ends[name]
        if name not in self._panes:
            return RunEnd(outcome=Outcome.VANISHED, source=CompletionSource.STATUS_QUERY)
        waiting: asyncio.Future[RunEnd] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(name, []).append(waiting)
        return await waiting

    async def stop(self, name: str) -> tuple[int, ...]:
        _check(name)
        self.stopped.append(name)
        self._panes.pop(name, None)
        self.end(name, RunEnd(outcome=Outcome.KILLED, source=CompletionSource.STOPPED))
        return self.stubborn.get(name, ())

    async def tail(self, name: str, lines: int) -> str:
        _check(name)
        shown = [line for line in self.screens.get(name, "").splitlines() if line.strip()]
        return "\n".join(shown[-lines:]) if lines > 0 else ""

    async def paste(self, name: str, text: str) -> None:
        _check(name)
        if name not in self._panes or not self._panes[name].pid:
            raise Refused("The agent is not running any more.")
        self.pasted.append((name, text))

    async def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._panes))

    async def keep_transcript(self, name: str) -> str:
        """A run that is let go while its agent works ends by that."""
        _check(name)
        self._panes.pop(name, None)
        if name in self.started:
            self.end(
                name,
                RunEnd(outcome=Outcome.FAILED, source=CompletionSource.PROCESS_EXIT, exit_code=143),
            )
        return f"/home/of/the/bot/runs/{name}.log"


def _check(name: str) -> None:
    if not re.fullmatch(r"run-[a-z0-9][a-z0-9-]{0,63}", name, re.ASCII):
        raise Refused(f"{name!r} is not the name of a run.")

"""Panes in memory: agents «run» until the test says how they end. No time passes in here."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable

from bot.core.errors import Refused, Unavailable
from bot.core.runs import CompletionSource, Dialog, DialogKind, Launch, Pane, RunEnd
from bot.core.screens import PaneScreen, coloured_rows
from bot.core.states import Outcome


class FakePanes:
    """It stands for the world, so it outlives a bot that crashed: waiters of an earlier event loop are forgotten."""

    def __init__(self) -> None:
        self.started: list[str] = []
        """Every real start. A name that stands here twice is a fault of the bot."""
        self.launches: dict[str, Launch] = {}
        self.prompts: dict[str, str] = {}
        self.folders: dict[str, str] = {}
        self.screens: dict[str, str] = {}
        """With the control sequences that the programs have printed."""
        self.mask: Callable[[str], str] = str
        self.pasted: list[tuple[str, str]] = []
        self.stopped: list[str] = []
        self.stubborn: dict[str, tuple[int, ...]] = {}
        """What a stop of that run leaves alive."""
        self.notebooks: dict[str, str] = {}
        self.reports: dict[str, str] = {}
        """What the agent of that run has written down for others."""
        self.missing: str = ""
        self.unreadable: set[str] = set()
        """Why there is no usable tmux; empty: there is."""
        self.asked: dict[str, Dialog] = {}
        """What the program of that run asks now."""
        self.answered: list[tuple[str, str, str]] = []
        """Run, title of the dialog, option or words."""
        self.deaf: set[str] = set()
        """Runs whose programs do not heed the keys they get."""
        self._listening: dict[str, list[asyncio.Future[None]]] = {}
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
        self.asks(name, None)
        for waiting in self._waiting.pop(name, []):
            if not waiting.done() and not waiting.get_loop().is_closed():
                waiting.set_result(self._ends[name])

    def asks(self, name: str, dialog: Dialog | None) -> None:
        """The program asks a person, or (None) no longer does."""
        if dialog is None:
            self.asked.pop(name, None)
        else:
            self.asked[name] = dialog
        for listening in self._listening.pop(name, []):
            if not listening.done() and not listening.get_loop().is_closed():
                listening.set_result(None)

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
        if name in self.unreadable:
            raise Unavailable("tmux does not answer")
        shown = [line for line in self.screens.get(name, "").splitlines() if line.strip()]
        return "\n".join(shown[-lines:]) if lines > 0 else ""

    async def screen(self, name: str) -> PaneScreen:
        _check(name)
        rows = coloured_rows(self.screens.get(name, ""), self.mask)
        return PaneScreen(rows, 80, live=True) if name in self._panes else PaneScreen(rows)

    async def paste(self, name: str, text: str) -> None:
        _check(name)
        if name not in self._panes or not self._panes[name].pid:
            raise Refused("The agent is not running any more.")
        if name in self.asked:
            raise Refused("The program in the pane asks something.", "Answer it first.")
        self.pasted.append((name, text))

    def dialogs(self, name: str) -> AsyncGenerator[Dialog | None]:
        _check(name)
        return self._changes(name)

    async def answer(self, name: str, dialog: Dialog, option: str) -> bool:
        _check(name)
        if name not in self._panes or not self._panes[name].pid:
            raise Refused("The agent is not running any more.")
        standing = self.asked.get(name)
        if standing is None or standing.id != dialog.id:
            raise Refused("It is not asked any more.")
        if standing.kind is not DialogKind.WORDS and standing.option(option) is None:
            raise Refused("That is none of the options.")
        self.answered.append((name, standing.title, option))
        if name in self.deaf:
            return False
        self.asks(name, None)
        return True

    def attach(self, name: str) -> str:
        _check(name)
        return f"tmux -L gwt-fake attach -t '={name}'"

    async def _changes(self, name: str) -> AsyncGenerator[Dialog | None]:
        told: Dialog | None = None
        while True:
            if (now := self.asked.get(name)) != told:
                told = now
                yield told
                continue
            listening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._listening.setdefault(name, []).append(listening)
            await listening

    async def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._panes))

    def notebook(self, name: str) -> str:
        _check(name)
        return f"/home/of/the/bot/spool/{name}/observations.jsonl"

    def report(self, name: str) -> str:
        _check(name)
        return f"/home/of/the/bot/spool/{name}/report.md"

    async def read_report(self, name: str) -> str:
        _check(name)
        return self.reports.get(name, "")

    async def noticed(self, name: str) -> str:
        _check(name)
        return self.notebooks.get(name, "")

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

"""One agent CLI in a real pane, started and stopped as the bot does it."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from adapters.agents.launch import AgentClis
from adapters.tmux import TmuxPanes
from bot.core.runs import Launch, RunEnd
from bot.ports import Sandbox
from tests.adapters.tmux.own_server import Tmux
from tests.clis import place
from tests.clis.place import QUIET, Place

PATIENCE = 90.0
"""Seconds for what takes one or two."""


def programs() -> Path:
    """The folder `fetch` puts them into."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("GWT_BOT_TEST_CLIS") or f"{cache}/gwt-bot/clis")


def missing(agent: str) -> str:
    """Why this agent cannot be driven; empty: it can."""
    name = agent.removesuffix("-print")
    if shutil.which(name, path=str(programs())):
        return ""
    return f"{name} is not in {programs()}: tests/clis/fetch {name}"


def prepare(folder: Path, url: str) -> Place:
    return place.prepare(folder, url, programs())


@dataclass
class Run:
    name: str
    conversation: str
    launch: Launch
    began: float = field(default_factory=time.monotonic)


class Bench:
    def __init__(
        self, agent: str, place: Place, server: Tmux, sandbox: Sandbox | None = None
    ) -> None:
        self.agent = agent
        self.place = place
        self.server = server
        self.clis = AgentClis(place.bot, extra_variables=tuple(QUIET), sandbox=sandbox)
        self.panes: TmuxPanes = server.panes(environment=place.pane, grace=5.0)

    async def start(
        self,
        prompt: str,
        *,
        conversation: str = "",
        changed: Callable[[Launch], Launch] = lambda launch: launch,
    ) -> Run:
        """With a conversation: to go on with it. `changed`: what shall be different about the launch."""
        name = f"run-{uuid.uuid4().hex[:8]}"
        known = conversation or str(uuid.uuid4())
        launch = await self.clis.launch(
            self.agent,
            cwd=str(self.place.worktree),
            prompt=prompt,
            conversation=known,
            resume=bool(conversation),
            nonce="0f0f",
            spool=str(self.spool(name)),
        )
        run = Run(name, known, changed(launch))
        await self.panes.start(name, str(self.place.worktree), run.launch, prompt)
        return run

    async def end(self, run: Run) -> RunEnd:
        try:
            return await asyncio.wait_for(self.panes.ended(run.name), PATIENCE)
        except TimeoutError:
            screen = await self.panes.tail(run.name, 60)
            raise AssertionError(f"{self.agent} has not ended:\n{screen}") from None

    async def shows(self, run: Run, *words: str) -> str:
        """The screen, once it has them all: it is painted a little later than things happen."""
        deadline = time.monotonic() + PATIENCE
        while True:
            screen = await self.panes.tail(run.name, 60)
            if all(word in screen for word in words):
                return screen
            assert time.monotonic() < deadline, screen
            await asyncio.sleep(0.05)

    async def run(self, prompt: str, *, conversation: str = "") -> tuple[Run, RunEnd]:
        """From the start to the end, and nothing is left of it."""
        run = await self.start(prompt, conversation=conversation)
        end = await self.end(run)
        assert await self.panes.stop(run.name) == ()
        return run, end

    def goes_on_as(self, run: Run, end: RunEnd) -> str:
        """The id to go on with: the CLI's own where it chose one."""
        return end.conversation or run.conversation

    def spool(self, run: str) -> Path:
        return self.server.spool(run)

    def commits(self) -> list[str]:
        done = subprocess.run(
            ["git", "log", "--format=%s", "main..HEAD"],
            cwd=self.place.worktree,
            env=self.place.pane,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    def alive(self, run: Run) -> list[str]:
        """Every process that belongs to the run, wherever it has hidden."""
        spool = str(self.spool(run.name))
        return [str(process) for process in psutil.process_iter() if _carries(process, spool)]


def _carries(process: psutil.Process, spool: str) -> bool:
    try:
        gone = process.status() == psutil.STATUS_ZOMBIE
        return not gone and process.environ().get("GWT_SPOOL") == spool
    except (psutil.Error, OSError):
        return False


async def appears(path: Path) -> None:
    await until(path.exists, f"{path} never appeared")


async def until(true: Callable[[], bool], else_say: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, else_say
        await asyncio.sleep(0.05)

"""A real tmux server of the test's own, gone at its end with everything that ran in it."""

from __future__ import annotations

import asyncio
import json
import os
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.tmux import TmuxPanes
from adapters.tmux.dialog_watcher import ScreenTiming
from adapters.tmux.watch import Watch
from bot.core.runs import Launch

QUICK = ScreenTiming(again=0.1, apart=0.1)
"""Two looks still have to agree, and what takes its time still may."""


class Tmux:
    """Makes bots' views of one server: each `panes()` is a bot started anew on the same home."""

    def __init__(self, folder: Path) -> None:
        self.socket_name = f"gwt-test-{uuid.uuid4().hex[:12]}"
        self.home = folder / "home"
        self.worktree = folder / "worktree"
        self.worktree.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "TERM": "xterm",
        }
        self._made: list[TmuxPanes] = []

    def panes(
        self,
        *,
        mask: Callable[[str], str] = str,
        environment: Mapping[str, str] | None = None,
        grace: float = 0.4,
        patience: float = 1.0,
        watch: Watch | None = None,
        pace: ScreenTiming = QUICK,
    ) -> TmuxPanes:
        made = TmuxPanes(
            self.socket_name,
            self.home,
            mask=mask,
            environment=environment or self.environment,
            grace=grace,
            patience=patience,
            watch=watch,
            pace=pace,
        )
        self._made.append(made)
        return made

    async def begun(self, launch: Launch, panes: TmuxPanes | None = None) -> TmuxPanes:
        """A bot that has started run-1 there."""
        panes = panes or self.panes()
        await panes.start("run-1", str(self.worktree), launch, "")
        return panes

    def spool(self, run: str) -> Path:
        return self.home / "spool" / run

    async def tmux(self, *command: str) -> str:
        """Ask the server as a person at a terminal would."""
        process = await asyncio.create_subprocess_exec(
            *("tmux", "-L", self.socket_name, "-f", "/dev/null", *command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self.environment,
        )
        output, _ = await process.communicate()
        return output.decode()

    async def clean(self) -> None:
        """Stop every run that ever was, then the server."""
        if not self.home.exists():
            return  # nobody has asked for a server
        last = self._made[-1] if self._made else self.panes()
        runs = sorted(path.name for path in (self.home / "spool").glob("run-*") if path.is_dir())
        try:
            await asyncio.gather(*(last.stop(run) for run in runs))
        finally:
            await last.names()  # so that there is a server, and its socket goes with it
            await last.kill_server()
            for made in self._made:
                await made.close()


@asynccontextmanager
async def own_server(folder: Path) -> AsyncGenerator[Tmux]:
    server = Tmux(folder)
    try:
        yield server
    finally:
        await server.clean()


async def until(true: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until it is so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.01)


SLEEPS = Launch(argv=("sleep", "300"), stdin="nothing")


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


async def pid_in(file: Path) -> int:
    """What a process has written down of itself."""
    told = ""

    def complete() -> bool:
        nonlocal told
        told = file.read_text() if file.exists() else ""
        return told.endswith("\n")

    await until(complete)
    return int(told)


def leave(spool: Path, name: str, **hook: object) -> None:
    """As a hook does: written elsewhere, then renamed."""
    temporary = spool / f".{name}"
    temporary.write_text(json.dumps(hook))
    temporary.rename(spool / name)


async def shows(panes: TmuxPanes, text: str) -> None:
    """Wait until it stands on the screen."""
    async with asyncio.timeout(120):
        while text not in await panes.tail("run-1", 30):
            continue

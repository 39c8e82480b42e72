"""What benchmarks stand on: a folder on this disk, a tmux server of their own, repositories; gone at the end of each."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from adapters.tmux import TmuxPanes
from bot.core.runs import Launch

ROOT = Path(__file__).parents[1]
LOOK = 0.002
"""Seconds between two looks at what another process does."""
PATIENCE = 60.0
GIT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


@contextmanager
def on_this_disk() -> Generator[Path]:
    """A folder beside the program: a temporary one may lie in memory, where a sync costs nothing."""
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".bench-") as folder:
        yield Path(folder)


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}


def socket_name() -> str:
    return f"gwt-bench-{os.getpid()}"


@asynccontextmanager
async def own_panes(home: Path) -> AsyncGenerator[TmuxPanes]:
    """Our panes on a server of the benchmark's own."""
    panes = TmuxPanes(socket_name(), home, mask=str, environment=environment(home))
    try:
        yield panes
    finally:
        await panes.kill_server()
        await panes.close()


@asynccontextmanager
async def idle(panes: TmuxPanes, home: Path, number: int) -> AsyncGenerator[list[str]]:
    """So many agents that do nothing, each awaited as the bot awaits them. The names of their runs."""
    runs = [f"run-idle-{index}" for index in range(number)]
    for run in runs:
        launch = Launch(argv=("sleep", "100000"), stdin="nothing")
        await panes.start(run, str(home), launch, "")
    waiting = [asyncio.create_task(panes.ended(run)) for run in runs]
    try:
        yield runs
        assert not any(task.done() for task in waiting)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def until(seen: Callable[[], bool], look: float = LOOK) -> None:
    async with asyncio.timeout(PATIENCE):
        while not seen():  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(look)


def git(top: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=top, env=GIT, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def late(seconds: list[float], share: float = 0.99) -> float:
    """What all but the slowest keep to."""
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * share))]

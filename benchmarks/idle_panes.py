"""What do silent agents cost while nothing happens, beside a poller of their screens: processes, tmux commands, processor?

python -m benchmarks.idle_panes [seconds]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psutil

from adapters.tmux import TmuxPanes
from benchmarks.ground import environment, idle, own_panes, socket_name
from benchmarks.poller import Poller
from benchmarks.table import Unit, at_most, beside, hand_in

PANES, MANY = 50, 200
SHORT = 10.0
"""Seconds that are enough where there is much to see."""
SETTLED = 6.0
"""Seconds after which the starts are over."""
FORKS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"}
CHILDREN_FAULTS = 10
"""Where /proc/<pid>/stat counts the page faults of children that were waited for: it moves when one has ended."""
AUDITED = list[str]()
"""Processes begun here, by how."""


@dataclass(frozen=True)
class Spent:
    """Of the bot, the tmux server and whatever they began."""

    cpu: float
    """Percent of one core."""
    forks: int
    commands: int
    """What the control client was given to read, at most."""


class Meter:
    def __init__(self, server: int) -> None:
        self._server = psutil.Process(server)
        self._bot = psutil.Process()
        self._client = _client(self._bot)
        AUDITED.clear()
        self._began = self._look()

    def spent(self, seconds: float) -> Spent:
        cpu, faults, reads = (
            now - before for now, before in zip(self._look(), self._began, strict=True)
        )
        return Spent(100 * cpu / seconds, len(AUDITED) + bool(faults), int(reads))

    def _look(self) -> tuple[float, float, float]:
        both = (self._bot, self._server)
        cpu = sum(sum(process.cpu_times()[:4]) for process in both)
        faults = sum(_children_faults(process.pid) for process in both)
        return cpu, faults, self._client.io_counters().read_count if self._client else 0


def _client(bot: psutil.Process) -> psutil.Process | None:
    return next((child for child in bot.children() if "-C" in child.cmdline()), None)


def _children_faults(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return int(fields[CHILDREN_FAULTS - 2])


async def main(seconds: float) -> None:
    sys.addaudithook(lambda event, _: AUDITED.append(event) if event in FORKS else None)
    few, poller = await measured(PANES, seconds)
    many, _ = await measured(MANY, SHORT)
    minutes = seconds / 60
    hand_in(
        at_most("1", f"{PANES} idle panes: processes", few.forks, 0, unit=Unit.COUNT),
        at_most(
            "1",
            f"{PANES} idle panes: tmux commands a minute",
            few.commands / minutes,
            2,
            unit=Unit.COUNT,
        ),
        beside(
            "1",
            f"{PANES} idle panes: processor",
            few.cpu,
            poller.cpu,
            of="poller",
            most=1 / 100,
            unit=Unit.PERCENT,
        ),
        at_most(
            "1",
            f"{MANY} idle panes: processor",
            many.cpu,
            0.5,
            floor=few.cpu,
            of=f"with {PANES}",
            unit=Unit.PERCENT,
        ),
    )


async def measured(number: int, seconds: float) -> tuple[Spent, Spent]:
    """We, and then a poller of the same panes."""
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
        home = Path(folder)
        async with own_panes(home) as panes, idle(panes, home, number) as runs:
            server = await server_of(panes, runs[0])
            await asyncio.sleep(SETTLED)
            ours = await over(Meter(server), seconds)
            async with Poller(socket_name(), environment(home)).on(runs):
                return ours, await over(Meter(server), SHORT)


async def over(meter: Meter, seconds: float) -> Spent:
    await asyncio.sleep(seconds)
    return meter.spent(seconds)


async def server_of(panes: TmuxPanes, run: str) -> int:
    pane = await panes.find(run)
    assert pane is not None
    return psutil.Process(pane.pid).ppid()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 61.0))

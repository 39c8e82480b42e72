"""What do silent agents cost while nothing happens: processor time and processes started, with 20 and 200 of them?

python -m benchmarks.idle_panes [seconds]
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import psutil

from adapters.tmux import TmuxPanes
from bot.domain.world import Launch

FORKS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"}
CHILDREN_FAULTS = 10
"""Where /proc/<pid>/stat counts the page faults of children that were waited for: it moves when one has ended."""


class Costs:
    """Processor seconds, and signs of processes having been started."""

    def __init__(self, server: int) -> None:
        self._processes = [psutil.Process(), psutil.Process(server)]
        self._began = self._look()
        self.started = 0

    def count(self, event: str, _arguments: tuple[object, ...]) -> None:
        self.started += event in FORKS

    def spent(self, seconds: float) -> str:
        (bot, tmux), (bot_faults, tmux_faults), clients = self._look()
        (bot_0, tmux_0), (bot_faults_0, tmux_faults_0), _ = self._began
        forks = self.started + (bot_faults != bot_faults_0) + (tmux_faults != tmux_faults_0)
        return (
            f"{100 * (bot - bot_0) / seconds:8.3f} % {100 * (tmux - tmux_0) / seconds:8.3f} %"
            f" {forks:8d} {clients:9d}"
        )

    def _look(self) -> tuple[list[float], list[int], int]:
        cpu = [process.cpu_times().user + process.cpu_times().system for process in self._processes]
        faults = [_children_faults(process.pid) for process in self._processes]
        return cpu, faults, len(self._processes[0].children(recursive=True))


def _children_faults(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return int(fields[CHILDREN_FAULTS - 2])


async def main(seconds: float) -> None:
    print(f"{seconds:.0f} s idle      bot       tmux     forks   clients")
    for number in (20, 200):
        with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
            print(f"{number:4d} panes  {await idle(Path(folder), number, seconds)}")


async def idle(home: Path, number: int, seconds: float) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    panes = TmuxPanes(f"gwt-bench-{os.getpid()}", home, mask=str, environment=environment)
    waiting: list[asyncio.Task[object]] = []
    try:
        for run in (f"run-{index}" for index in range(number)):
            launch = Launch(argv=("sleep", "100000"), stdin="nothing")
            await panes.start(run, str(home), launch, "")
            waiting.append(asyncio.create_task(panes.ended(run)))
        pane = await panes.find("run-0")
        assert pane is not None
        await asyncio.sleep(1.0)  # the starts are over
        costs = Costs(psutil.Process(pane.pid).ppid())
        sys.addaudithook(costs.count)
        await asyncio.sleep(seconds)
        result = costs.spent(seconds)
        assert not any(task.done() for task in waiting)
        return result
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await panes.kill_server()
        await panes.close()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0))

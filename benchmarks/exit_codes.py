"""Are all exit codes right when agents die in bursts, half of them killed, and how soon against a bare pidfd?

python -m benchmarks.exit_codes [agents]
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from adapters.tmux import TmuxPanes
from benchmarks.exit_noticed import SHELL
from benchmarks.ground import own_panes
from benchmarks.table import all_of, beside, hand_in
from bot.core.runs import Launch

BURST = 20
AGENT = (
    "import os, signal, sys\n"
    "signal.signal(signal.SIGUSR1, lambda *_: os._exit(int(sys.argv[2])))\n"
    "open(sys.argv[1] + '.new', 'w').write(str(os.getpid()))\n"
    "os.rename(sys.argv[1] + '.new', sys.argv[1])\n"
    "while True: signal.pause()\n"
)
KILLED = 137


async def main(agents: int) -> None:
    right, ours, bare = 0, list[float](), list[float]()
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
        home = Path(folder)
        async with own_panes(home) as panes:
            for first in range(0, agents, BURST):
                numbers = range(first, min(agents, first + BURST))
                codes, seconds = await burst(panes, home, numbers)
                right += sum(code == expected(n) for n, code in zip(numbers, codes, strict=True))
                ours += seconds
                bare += await bare_burst(home, numbers)
    what = f"{BURST} ends at once, half of them SIGKILL"
    hand_in(
        all_of("3", f"exit codes right, {what}", right, agents),
        beside(
            "3",
            f"{what}: noticed",
            median(ours),
            median(bare),
            of="bare pidfd",
            most=3,
            because=SHELL,
        ),
    )


def expected(number: int) -> int:
    return KILLED if number % 2 else number % 125


async def burst(
    panes: TmuxPanes, home: Path, numbers: Sequence[int]
) -> tuple[list[int | None], list[float]]:
    """From each signal to the answer with the exit code."""
    for number in numbers:
        argv = (sys.executable, "-S", "-c", AGENT, str(home / f"pid-{number}"), str(number % 125))
        await panes.start(f"run-{number}", str(home), Launch(argv=argv, stdin="nothing"), "")
    pids = [await pid_in(home / f"pid-{number}") for number in numbers]
    sent: dict[int, float] = {}

    async def noticed(number: int) -> tuple[int | None, float]:
        end = await panes.ended(f"run-{number}")
        return end.exit_code, time.perf_counter() - sent[number]

    waiting = [asyncio.create_task(noticed(number)) for number in numbers]
    await asyncio.sleep(0.3)  # they all sit and wait
    for number, pid in zip(numbers, pids, strict=True):
        sent[number] = time.perf_counter()
        os.kill(pid, signal_for(number))
    ends = await asyncio.gather(*waiting)
    await asyncio.gather(*(panes.keep_transcript(f"run-{number}") for number in numbers))
    return [code for code, _ in ends], [seconds for _, seconds in ends]


async def bare_burst(home: Path, numbers: Sequence[int]) -> list[float]:
    """The nearest there is: the kernel tells of children of ours that die in the same way."""
    loop = asyncio.get_running_loop()
    children = spawn(home, numbers)
    for number in numbers:
        await pid_in(home / f"bare-{number}")
    gone: list[asyncio.Future[float]] = []
    descriptors: list[int] = []
    for child in children:
        future: asyncio.Future[float] = loop.create_future()
        descriptor = os.pidfd_open(child.pid)
        loop.add_reader(descriptor, tell, future)
        gone.append(future)
        descriptors.append(descriptor)
    sent: list[float] = []
    for number, child in zip(numbers, children, strict=True):
        sent.append(time.perf_counter())
        os.kill(child.pid, signal_for(number))
    ends = await asyncio.gather(*gone)
    for descriptor, child in zip(descriptors, children, strict=True):
        loop.remove_reader(descriptor)
        os.close(descriptor)
        child.wait()
    return [end - start for end, start in zip(ends, sent, strict=True)]


def spawn(home: Path, numbers: Sequence[int]) -> list[subprocess.Popen[bytes]]:
    agent = (sys.executable, "-S", "-c", AGENT)
    return [
        subprocess.Popen((*agent, str(home / f"bare-{number}"), str(number % 125)))
        for number in numbers
    ]


def tell(gone: asyncio.Future[float]) -> None:
    if not gone.done():
        gone.set_result(time.perf_counter())


def signal_for(number: int) -> signal.Signals:
    return signal.SIGKILL if number % 2 else signal.SIGUSR1


async def pid_in(file: Path) -> int:
    while True:
        if pid := written(file):
            return pid
        await asyncio.sleep(0.005)


def written(file: Path) -> int:
    return int(file.read_text()) if file.exists() else 0


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))

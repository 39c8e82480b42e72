"""How soon is the end of an agent noticed, with its exit code, beside a bare pidfd and beside a poller of its screen?

python -m benchmarks.exit_noticed [trials]
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from adapters.tmux import TmuxPanes
from benchmarks.ground import environment, idle, late, own_panes, socket_name, until
from benchmarks.poller import Poller
from benchmarks.table import Unit, beside, hand_in, told
from bot.core.runs import Launch

FEW, MANY = 10, 200
"""Panes in all."""
POLLED = 12
"""Trials of the poller: each takes it about a second."""
STAMPS = "import os, sys, time; sys.stdin.read(1); open(sys.argv[1], 'w').write(repr(time.time())); os._exit(7)"
SHELL = (
    "a shell outlives the agent to leave the exit code on disk, where it is right in every case and there after a crash:"
    " one process more, which on a busy machine waits for its turn"
)
AGENT = 'exec "$0" -S -c "$1" "$2" < '


async def main(trials: int) -> None:
    few, bare, polled = await among(FEW, trials, polled=POLLED)
    many, _, _ = await among(MANY, trials)
    for name, seconds in (("ours", few), ("a bare pidfd", bare), ("the poller", polled)):
        worst = told(late(seconds), Unit.SECONDS)
        print(f"{name}: median {told(median(seconds), Unit.SECONDS)}, p99 {worst}")
    ours, what = median(few), "end of an agent, noticed with its exit code"
    hand_in(
        beside("2", what, ours, median(bare), of="bare pidfd", most=3, because=SHELL),
        beside("2", what, ours, median(polled), of="poller", most=1 / 50),
        beside("2", f"the same among {MANY} panes", median(many), ours, of=f"among {FEW}", most=2),
    )


async def among(
    number: int, trials: int, polled: int = 0
) -> tuple[list[float], list[float], list[float]]:
    """Ours and the kernel's in turns, then the poller's."""
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
        home = Path(folder)
        async with own_panes(home) as panes, idle(panes, home, number - 1) as runs:
            ours, bare, others = list[float](), list[float](), list[float]()
            for trial in range(trials):
                ours.append(await through_tmux(panes, home, f"run-{trial}"))
                bare.append(await bare_pidfd(home, trial))
            for trial in range(polled):
                others.append(await by_polling(panes, home, f"run-polled-{trial}", runs))
            return ours, bare, others


async def through_tmux(panes: TmuxPanes, home: Path, run: str) -> float:
    """From the last thing an agent does to the answer with its exit code."""
    stamp, pipe = await started(panes, home, run)
    waiting = asyncio.create_task(panes.ended(run))
    await begin(pipe)
    end = await waiting
    noticed = time.time()
    assert end.exit_code == 7
    await panes.keep_transcript(run)
    return noticed - float(stamp.read_text())


async def by_polling(panes: TmuxPanes, home: Path, run: str, others: list[str]) -> float:
    stamp, pipe = await started(panes, home, run)
    poller = Poller(socket_name(), environment(home))
    async with poller.on([*others, run]):
        await until(lambda: run in poller.screens)
        await begin(pipe)
        await poller.dead.wait()
        noticed = time.time()
    await panes.keep_transcript(run)
    return noticed - float(stamp.read_text())


async def started(panes: TmuxPanes, home: Path, run: str) -> tuple[Path, Path]:
    """Where it will leave the time of its end, and what it waits for."""
    stamp, pipe = home / f"{run}.stamp", home / f"{run}.pipe"
    os.mkfifo(pipe)
    argv = ("sh", "-c", f"{AGENT}{pipe}", sys.executable, STAMPS, str(stamp))
    await panes.start(run, str(home), Launch(argv=argv, stdin="nothing"), "")
    return stamp, pipe


async def bare_pidfd(home: Path, trial: int) -> float:
    """The nearest there is: the kernel tells that a child of ours, which does the same, is gone."""
    stamp, pipe = home / f"bare-{trial}", home / f"bare-pipe-{trial}"
    os.mkfifo(pipe)
    pid = spawn(stamp, pipe)
    loop = asyncio.get_running_loop()
    gone: asyncio.Future[float] = loop.create_future()
    descriptor = os.pidfd_open(pid)
    loop.add_reader(descriptor, lambda: gone.done() or gone.set_result(time.time()))
    await begin(pipe)
    noticed = await gone
    loop.remove_reader(descriptor)
    os.close(descriptor)
    reap(pid)
    return noticed - float(stamp.read_text())


def spawn(stamp: Path, pipe: Path) -> int:
    words = ["sh", "-c", f"{AGENT}{pipe}", sys.executable, STAMPS, str(stamp)]
    return os.posix_spawn("/bin/sh", words, os.environ)


def reap(pid: int) -> None:
    os.waitpid(pid, 0)


async def begin(pipe: Path) -> None:
    """Open the agent's input once the agent is there, give it a moment to sit still, then let it end."""
    while True:
        try:
            writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:
            await asyncio.sleep(0.005)
    await asyncio.sleep(0.1)
    os.close(writer)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 40))

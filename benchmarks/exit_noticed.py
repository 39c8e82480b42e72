"""How soon is the end of an agent noticed, against a bare pidfd in the same run?

python -m benchmarks.exit_noticed [trials]
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from adapters.tmux import TmuxPanes
from bot.domain.world import Launch

STAMPS = "import os, sys, time; sys.stdin.read(1); open(sys.argv[1], 'w').write(repr(time.time())); os._exit(7)"


async def main(trials: int) -> None:
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
        home = Path(folder)
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8"}
        panes = TmuxPanes(f"gwt-bench-{os.getpid()}", home, mask=str, environment=environment)
        try:
            ours = [await through_tmux(panes, home, trial) for trial in range(trials)]
            bare = [await bare_pidfd(home, trial) for trial in range(trials)]
        finally:
            await panes.kill_server()
            await panes.close()
    print(f"{trials} ends         median      p99")
    show("run ended", ours)
    show("bare pidfd", bare)
    print(f"ratio of the medians  {statistics.median(ours) / statistics.median(bare):.2f}")


async def through_tmux(panes: TmuxPanes, home: Path, trial: int) -> float:
    """From the last thing an agent does to the answer with its exit code."""
    stamp, pipe, run = home / f"ours-{trial}", home / f"pipe-{trial}", f"run-{trial}"
    os.mkfifo(pipe)
    agent = f'exec "$0" -S -c "$1" "$2" < {pipe}'
    argv = ("sh", "-c", agent, sys.executable, STAMPS, str(stamp))
    await panes.start(run, str(home), Launch(argv=argv, stdin="nothing"), "")
    waiting = asyncio.create_task(panes.ended(run))
    await begin(pipe)
    end = await waiting
    noticed = time.time()
    assert end.exit_code == 7
    await panes.keep_transcript(run)
    return noticed - float(stamp.read_text())


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
    agent = f'exec "$0" -S -c "$1" "$2" < {pipe}'
    words = ["sh", "-c", agent, sys.executable, STAMPS, str(stamp)]
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


def show(name: str, seconds: list[float]) -> None:
    last = sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * 0.99))]
    print(f"{name:<16} {statistics.median(seconds) * 1000:8.2f} ms {last * 1000:8.2f} ms")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60))

"""What does a question to tmux cost us, beside the same question through libtmux, with few panes and with many?

python -m benchmarks.tmux_commands [questions]
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import libtmux

from adapters.tmux.server import TmuxServer
from benchmarks.ground import environment, seconds_of, socket_name
from benchmarks.table import Row, Unit, at_most, beside, hand_in

SIZES = (10, 200)
FORKS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"}
QUESTION = ("display-message", "-p", "-t", "=pane-0:", "#{pane_id} #{pane_pid}")


class Forks:
    """Counts the processes that are begun here."""

    def __init__(self) -> None:
        self.number = 0
        sys.addaudithook(self._count)

    def _count(self, event: str, _arguments: tuple[object, ...]) -> None:
        self.number += event in FORKS


async def main(questions: int) -> None:
    forks, begun, rows = Forks(), 0, list[Row]()
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
            home = Path(folder)
            server = TmuxServer(
                socket_name(),
                home,
                environment(home),
                on_notification=lambda _: None,
                on_lost=lambda: None,
            )
            try:
                for number in range(size):
                    pane = ("new-session", "-d", "-s", f"pane-{number}", "sleep", "100000")
                    await server.run(*pane)
                before = forks.number
                ours = [await asked(server) for _ in range(questions)]
                begun += forks.number - before
                theirs = through_libtmux(questions // 4)
            finally:
                await server.kill()
        what = f"a question to tmux, {size} panes"
        rows.append(beside("14", what, median(ours), median(theirs), of="libtmux", most=1 / 10))
    what = f"processes begun for {len(SIZES) * questions} questions"
    hand_in(*rows, at_most("14", what, begun, 0, unit=Unit.COUNT))


async def asked(server: TmuxServer) -> float:
    begun = time.perf_counter()
    assert await server.run(*QUESTION)
    return time.perf_counter() - begun


def through_libtmux(questions: int) -> list[float]:
    server = libtmux.Server(socket_name=socket_name(), config_file=os.devnull)
    return [seconds_of(lambda: server.cmd(*QUESTION)) for _ in range(questions)]


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 400))

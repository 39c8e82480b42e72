"""Is a word seen that a program shows for a tenth of a second on a screen it draws all the time, and how soon?

    python -m benchmarks.pattern [words]

Beside it reads, from the same kind of panes, whoever has nothing else to do: `pipe-pane` into a pipe, and a look at its bytes.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from adapters.tmux import TmuxPanes
from benchmarks.ground import environment, own_panes, socket_name, until
from benchmarks.table import all_of, beside, hand_in
from bot.core.runs import CompletionSource, Launch

AT_ONCE = 20
SEEN = 5.0
"""Seconds after which a word is taken for missed."""
TUI = r"""
import os, sys, time
folder, word = sys.argv[1], ''.join(sys.argv[2:])
open(folder + '/up', 'w').close()
shown = False
while True:
    top = word if os.path.exists(folder + '/go') and not shown else '-' * 60
    if top == word:
        shown = True
        open(folder + '/shown.new', 'w').write(repr(time.time()))
        os.rename(folder + '/shown.new', folder + '/shown')
    rows = [f'| {n:2} {time.time():.6f} ' + '.' * 40 for n in range(20)]
    os.write(1, ('\x1b[H' + '\x1b[K\r\n'.join([top, *rows]) + '\x1b[K').encode())
    time.sleep(0.1)
"""
"""It draws twenty lines ten times a second. What it is started with is not the word: that would be on the screen."""


class Screen:
    """One pane with such a program in it."""

    def __init__(self, home: Path, number: int) -> None:
        self.run = f"run-{number}"
        self.word = f"DONE-{number}-{os.getpid()}"
        self.folder = home / self.run
        self.folder.mkdir()

    def launch(self, *, marked: bool) -> Launch:
        argv = (sys.executable, "-S", "-c", TUI, str(self.folder), *self.word)
        return Launch(argv=argv, stdin="nothing", marker=self.word if marked else "")

    async def up(self) -> None:
        await until((self.folder / "up").exists)

    def go(self) -> None:
        (self.folder / "go").touch()

    def since(self, noticed: float) -> float:
        return noticed - float((self.folder / "shown").read_text())


async def main(words: int) -> None:
    ours, bare = list[float](), list[float]()
    for first in range(0, words, AT_ONCE):
        numbers = range(first, min(words, first + AT_ONCE))
        ours += await seen(numbers, marked=True)
        bare += await seen(numbers, marked=False)
    what = f"a word in {AT_ONCE} screens drawn ten times a second"
    hand_in(
        all_of("4", f"{what}: seen", len(ours), words),
        beside("4", f"{what}: noticed", median(ours), median(bare), of="bare pipe-pane", most=2),
    )


async def seen(numbers: range, *, marked: bool) -> list[float]:
    """By us, or by the bare reader; one word after the other, while all of them draw."""
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
        home = Path(folder)
        screens = [Screen(home, number) for number in numbers]
        async with own_panes(home) as panes:
            for screen in screens:
                await panes.start(screen.run, str(screen.folder), screen.launch(marked=marked), "")
                await screen.up()
            look = ours if marked else bare
            found = [await look(panes, home, screen) for screen in screens]
            await asyncio.gather(*(panes.stop(screen.run) for screen in screens))
    return [seconds for seconds in found if seconds is not None]


async def ours(panes: TmuxPanes, _home: Path, screen: Screen) -> float | None:
    waiting = asyncio.create_task(panes.ended(screen.run))
    await asyncio.sleep(0.05)
    screen.go()
    try:
        async with asyncio.timeout(SEEN):
            end = await waiting
    except TimeoutError:
        return None
    noticed = time.time()
    assert end.source is CompletionSource.OUTPUT_PATTERN
    return screen.since(noticed)


async def bare(_panes: TmuxPanes, home: Path, screen: Screen) -> float | None:
    reader = piped(screen, home)
    noticed: asyncio.Future[float] = asyncio.get_running_loop().create_future()
    kept = b""

    def more() -> None:
        nonlocal kept
        kept = (kept + os.read(reader, 65536))[-65536:]
        if screen.word.encode() in kept and not noticed.done():
            noticed.set_result(time.time())

    asyncio.get_running_loop().add_reader(reader, more)
    try:
        await asyncio.sleep(0.05)
        screen.go()
        async with asyncio.timeout(SEEN):
            return screen.since(await noticed)
    except TimeoutError:
        return None
    finally:
        asyncio.get_running_loop().remove_reader(reader)
        os.close(reader)


def piped(screen: Screen, home: Path) -> int:
    """What the pane prints, to be read."""
    pipe = screen.folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    subprocess.run(
        ["tmux", "-L", socket_name(), "pipe-pane", "-t", f"={screen.run}:", f"exec cat > {pipe}"],
        env=environment(home),
        check=True,
    )
    return reader


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60))

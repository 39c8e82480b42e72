"""How long until twenty agents work side by side in one repository, each with its prompt?

    python -m benchmarks.twenty_agents [agents] [rounds]

Beside it the least that git and the kernel need for it (one worktree after the other, as git wants it, and children without
a terminal), and how it is done with libtmux alone: one agent after the other, looked at until it is ready, then typed to.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

import libtmux

from adapters.demo.sample import make_sample
from adapters.git.worktrees import GitWorktrees
from benchmarks.ground import environment, git, own_panes, socket_name, until
from benchmarks.table import all_of, beside, hand_in
from bot.core.runs import Launch

ADDS = 200
PROMPT = "Say hello to whoever opens the shop. " * 20
CLAIMS = (
    "each agent is claimed on disk before it begins, so that none begins twice, and leaves its exit code: a shell and three"
    " short programs more for each, which cost most where the processor is what lacks"
)
AGENT = r"""
import os, sys, time, tty
if os.isatty(0): tty.setraw(0)
os.write(1, b'\x1b[?2004h> ')
got = b''
while not got.endswith(b'\r'):
    got += os.read(0, 65536) or b'\r'
open(sys.argv[1], 'w').close()
time.sleep(600)
"""
"""It reads its prompt, says that it has it, and waits."""
Way = Callable[[Path, int], Awaitable[float]]
"""The seconds until all have their prompts."""


async def main(agents: int, rounds: int) -> None:
    seconds = {way: list[float]() for way in (by_the_bot, bare, by_libtmux)}
    for _ in range(rounds):
        for way, times in seconds.items():
            times.append(await timed(way, agents))
    ours, floor, theirs = (median(times) for times in seconds.values())
    what = f"{agents} agents at work with their prompts"
    hand_in(
        beside("12", what, ours, floor, of="git + spawn", most=3),
        beside("12", what, ours, theirs, of="libtmux, in turn", most=0.6, because=CLAIMS),
        all_of("12", "worktrees added at once", await added(ADDS), ADDS),
    )


async def timed(way: Way, agents: int) -> float:
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as name:
        folder = Path(name)
        make_sample(folder / "shop")
        return await way(folder, agents)


async def by_the_bot(folder: Path, agents: int) -> float:
    """All at once, as the desk does it."""
    worktrees, base = prepared(folder)
    begun = time.perf_counter()
    async with own_panes(folder) as panes:

        async def starts(number: int) -> None:
            path = where(folder, number)
            await worktrees.prepare(str(folder / "shop"), f"agent/t{number}", str(path), base)
            launch = Launch(argv=argv(folder, number), stdin="prompt")
            await panes.start(f"run-{number}", str(path), launch, PROMPT + "\r")
            await until((folder / f"up-{number}").exists)

        await asyncio.gather(*map(starts, range(agents)))
        return time.perf_counter() - begun


async def bare(folder: Path, agents: int) -> float:
    children, begun = list[subprocess.Popen[bytes]](), time.perf_counter()
    try:
        for number in range(agents):
            add(folder, number)
            children.append(spawn(folder, number))
        for number in range(agents):
            await until((folder / f"up-{number}").exists)
        return time.perf_counter() - begun
    finally:
        for child in children:
            child.kill()
            child.wait()


async def by_libtmux(folder: Path, agents: int) -> float:
    begun = time.perf_counter()
    server = libtmux.Server(socket_name=f"{socket_name()}-theirs", config_file=os.devnull)
    session = server.new_session("agents", x=200, y=50)
    try:
        for number in range(agents):
            add(folder, number)
            command = " ".join(f"'{word}'" for word in argv(folder, number, quoted=True))
            window = session.new_window(
                start_directory=str(where(folder, number)), window_shell=f"exec {command}"
            )
            pane = window.panes[0]
            await until(lambda pane=pane: ">" in "\n".join(pane.capture_pane()), look=0.05)
            pane.send_keys(PROMPT, enter=True)
        for number in range(agents):
            await until((folder / f"up-{number}").exists)
        return time.perf_counter() - begun
    finally:
        server.kill()


async def added(number: int) -> int:
    """How many of so many that were wanted at the same time are there."""
    with tempfile.TemporaryDirectory(prefix="gwt-bench-") as name:
        folder = Path(name)
        make_sample(folder / "shop")
        worktrees, base = prepared(folder)
        shop = str(folder / "shop")
        adds = (
            worktrees.prepare(shop, f"agent/t{n}", str(where(folder, n)), base)
            for n in range(number)
        )
        done = await asyncio.gather(*adds, return_exceptions=True)
    return sum(one == base for one in done)


def prepared(folder: Path) -> tuple[GitWorktrees, str]:
    base = git(folder / "shop", "rev-parse", "HEAD")
    return GitWorktrees(folder, environment(folder)), base


def where(folder: Path, number: int) -> Path:
    return folder / "shop" / ".worktrees" / f"agent-t{number}"


def argv(folder: Path, number: int, *, quoted: bool = False) -> tuple[str, ...]:
    """`quoted`: from a file, where the program would need quotes."""
    if not quoted:
        return (sys.executable, "-S", "-c", AGENT, str(folder / f"up-{number}"))
    (folder / "agent.py").write_text(AGENT)
    return (sys.executable, "-S", str(folder / "agent.py"), str(folder / f"up-{number}"))


def add(folder: Path, number: int) -> None:
    path = str(where(folder, number))
    git(folder / "shop", "worktree", "add", "-q", "-b", f"agent/t{number}", path)


def spawn(folder: Path, number: int) -> subprocess.Popen[bytes]:
    (folder / "prompt").write_text(PROMPT + "\r")
    with (folder / "prompt").open() as prompt:
        return subprocess.Popen(
            argv(folder, number),
            cwd=where(folder, number),
            stdin=prompt,
            stdout=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asyncio.run(main(*numbers, *(20, 3)[len(numbers) :]))

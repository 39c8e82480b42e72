"""How long until twenty agents work side by side in one repository, against the least that git and the kernel need for it?

python -m benchmarks.twenty_agents [agents] [rounds]
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from adapters.git.worktrees import GitWorktrees
from adapters.played.sample import make_sample
from adapters.tmux import TmuxPanes
from bot.domain.world import Launch

AGENT = "import sys, time; open(sys.argv[1], 'w').close(); time.sleep(600)"
"""It says that it is there, and waits."""


async def main(agents: int, rounds: int) -> None:
    ours, floor = list[float](), list[float]()
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
            ours.append(await by_the_bot(Path(folder), agents))
        with tempfile.TemporaryDirectory(prefix="gwt-bench-") as folder:
            floor.append(await bare(Path(folder), agents))
    print(f"{agents} agents at work, {rounds} rounds     median      slowest")
    for name, seconds in (("worktree, pane, start", ours), ("git worktree add + spawn", floor)):
        print(f"{name:<28} {statistics.median(seconds):8.2f} s {max(seconds):8.2f} s")
    print(f"ratio of the medians         {statistics.median(ours) / statistics.median(floor):8.2f}")


async def by_the_bot(folder: Path, agents: int) -> float:
    """All at once, as the desk does it."""
    shop = folder / "shop"
    make_sample(shop)
    base = git(shop, "rev-parse", "HEAD")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    worktrees = GitWorktrees(folder, environment)
    panes = TmuxPanes(f"gwt-bench-{os.getpid()}", folder, mask=str, environment=environment)

    async def starts(number: int) -> None:
        path = shop / ".worktrees" / f"agent-t{number}"
        await worktrees.prepare(str(shop), f"agent/t{number}", str(path), base)
        argv = (sys.executable, "-S", "-c", AGENT, str(folder / f"up-{number}"))
        await panes.start(f"run-{number}", str(path), Launch(argv=argv, stdin="nothing"), "")
        await up(folder / f"up-{number}")

    begun = time.perf_counter()
    try:
        await asyncio.gather(*map(starts, range(agents)))
        return time.perf_counter() - begun
    finally:
        await panes.kill_server()
        await panes.close()


async def bare(folder: Path, agents: int) -> float:
    """One worktree after the other, as git wants it, and children without a terminal."""
    shop, children = folder / "shop", list[subprocess.Popen[bytes]]()
    make_sample(shop)
    begun = time.perf_counter()
    try:
        for number in range(agents):
            path = shop / ".worktrees" / f"agent-t{number}"
            git(shop, "worktree", "add", "-q", "-b", f"agent/t{number}", str(path))
            children.append(spawn(path, folder / f"up-{number}"))
        for number in range(agents):
            await up(folder / f"up-{number}")
        return time.perf_counter() - begun
    finally:
        for child in children:
            child.kill()
            child.wait()


def spawn(path: Path, sign: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen((sys.executable, "-S", "-c", AGENT, str(sign)), cwd=path)


async def up(sign: Path) -> None:
    while not there(sign):  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.002)


def there(sign: Path) -> bool:
    return sign.exists()


def git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asyncio.run(main(*numbers, *(20, 3)[len(numbers) :]))
